"""Probe: wins on "win", and does on demand whatever an environment should not do."""

from __future__ import annotations

import asyncio
from typing import Any

from envhub.sdk import Criterion, Environment, Observation, Rubric, SandboxFailed, StepResult, Task, ToolError, tool

CLOSED: list[int] = []
"""Seeds of the episodes that were closed, for tests that look."""


async def grade(probe: Probe) -> float:
    how = probe.task.private.get("grade")
    if how == "raise":
        raise RuntimeError("the grader is broken")
    if how == "hang":
        await asyncio.sleep(3600)
    return float("nan") if how == "nan" else float(probe.won)


class Probe(Environment):
    """One counter, one word to say."""

    rubric = Rubric(Criterion("won", grade), Criterion("length", lambda probe: probe.count, weight=0))

    async def reset(self, task: Task) -> Observation:
        self.count = 0
        self.won = False
        if task.private.get("reset") == "hang":
            await asyncio.sleep(3600)
        if task.private.get("reset") == "raise":
            raise RuntimeError("reset is broken")
        return Observation.of(f"seed {task.seed}")

    async def message(self, text: str) -> str:
        self.count += 1
        if text == "win":
            self.won = True
            self.finish()
        if text == "part":
            self.add_reward("part", 0.25)
        if text == "raise":
            raise RuntimeError("the environment is broken")
        if text == "sandbox":
            raise SandboxFailed("the sandbox is gone")
        if text.startswith("sleep "):
            await asyncio.sleep(float(text.removeprefix("sleep ")))
        return f"{self.count}: {text[:50]} {self.random.random():.6f}"

    @tool
    async def add(self, first: int, second: int) -> str:
        """Add two numbers."""
        return str(first + second)

    @tool
    async def fail(self) -> str:
        """Fail in a way the model can read."""
        raise ToolError("this always fails")

    @tool
    async def crash(self) -> str:
        """Break the environment."""
        raise RuntimeError("the tool is broken")

    @tool(timeout_s=0.05)
    async def slow(self) -> str:
        """Take longer than it may."""
        await asyncio.sleep(3600)
        return "never"

    @tool(terminal=True)
    async def submit(self, answer: str) -> str:
        """Hand in the answer."""
        self.won = answer == self.task.private["answer"]
        return "submitted"

    def close(self) -> None:
        CLOSED.append(self.task.seed)


class Overriding(Environment):
    """For an environment that writes step by hand and claims what only the host may say."""

    def reset(self, task: Task) -> str:
        return "ready"

    def step(self, action: Any) -> StepResult:
        return StepResult(observation=Observation.of("on"), end="terminated", info={"note": 1})
