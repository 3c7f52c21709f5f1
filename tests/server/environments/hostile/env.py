"""Hostile: ends its process, is deaf to cancellation, and gives what cannot be sent."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, ClassVar

from envhub.sdk import Action, Criterion, Environment, Observation, Rubric, StepResult, Task, tool


async def _grade(hostile: Hostile) -> float:
    await hostile.misbehave("grade")
    return 1e308 if hostile.task.private.get("grade") == "overflow" else 0.5


class Hostile(Environment):
    """Every message is a way to misbehave."""

    rubric = Rubric(Criterion("first", _grade), Criterion("second", _grade))
    deaf: ClassVar[bool] = True
    """Tests set it to False once they have seen enough."""

    async def reset(self, task: Task) -> str:
        self.kept: dict[str, Any] = {}
        await self.misbehave("reset")
        return "ready"

    async def misbehave(self, where: str, how: str | None = None) -> None:
        how = how or self.task.private.get(where)
        if how == "exit":
            sys.exit("away")
        if how == "interrupt":
            raise KeyboardInterrupt
        if how == "cancel":
            raise asyncio.CancelledError
        if how == "surrogate":
            raise RuntimeError("what was read: \ud800")
        while how == "deaf" and Hostile.deaf:
            try:
                await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                continue

    async def step(self, action: Action) -> StepResult:
        text = action.message
        if text is None:
            return await super().step(action)
        await self.misbehave("step", text)
        self.kept["text"] = text
        how: dict[str, dict[str, Any]] = {
            "end": {"terminated": True},
            "big": {"info": {"number": 2**70}},
            "parts": {"reward": 1.0, "rewards": {"part": 0.25}},
            "orphan": {"rewards": {"part": 0.25}},
            "surrogate text": {"observation": Observation.of("\ud800")},
        }
        given: dict[str, Any] = {"observation": Observation.of(text), "info": self.kept, **how.get(text, {})}
        return StepResult(**given)

    @tool
    async def leave(self) -> str:
        """End the process."""
        sys.exit("away")

    @tool
    async def echo(self, text: str) -> str:
        """Say it again."""
        return text

    async def close(self) -> None:
        await self.misbehave("close")
