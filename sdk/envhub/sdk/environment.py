"""Environment: what an author writes. One instance lives through one episode.

Give it `reset` and either `step`, or methods marked `@tool`, from which step, schemas and the MCP surface follow.
Every method may be plain or async; plain ones must not block unless the manifest says `isolation = "process"`.
"""

from __future__ import annotations

import asyncio
import inspect
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from envhub.sdk.manifest import Manifest
from envhub.sdk.messages import Action, JsonObject, Observation, StepResult, TextPart, ToolCall, ToolResultPart
from envhub.sdk.rubric import Rubric
from envhub.sdk.task import Task, TaskSource, read_tasks
from envhub.sdk.tools import Tool, call_tool, collect_tools


def _quiet(_: str) -> None:
    """Progress nobody asked to see."""


@dataclass(frozen=True)
class HostContext:
    """What the host gives an environment class for its lifetime in a process."""

    cache_dir: Path
    """Kept between runs; for what is slow to build. Key its contents by what they were made from."""
    run_dir: Path
    """Private to this process and removed when it ends."""
    config: JsonObject = field(default_factory=dict)
    """The manifest's [config] table with the user's overrides."""
    progress: Callable[[str], None] = _quiet
    """Told what is going on during a slow start, one line a call."""


class Environment:
    """Base class of every environment."""

    manifest: ClassVar[Manifest]
    """Set by the loader."""
    folder: ClassVar[Path]
    """The environment's folder; set by the loader."""
    tools: ClassVar[dict[str, Tool]] = {}
    """Methods marked @tool, by name; collected when the class is made."""
    rubric: Rubric | None = None
    """Grades the episode at its end. None: the rewards given by the steps are all there is."""

    shared: Any = None
    """What `lifespan` yielded; the same object for all sessions of a process."""
    config: JsonObject
    """The manifest's [config] table with the user's overrides."""
    task: Task
    """The task of this episode; `task.seed` is the episode's seed. Set by the host before reset."""
    random: random.Random
    """Seeded by the host with the episode's seed: the only randomness an environment needs."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.tools = collect_tools(cls)

    @classmethod
    def tasks(cls) -> TaskSource:
        """Where tasks come from. Default: the *.jsonl files in the folder's tasks/."""
        return read_tasks(cls.folder / "tasks")

    @classmethod
    @asynccontextmanager
    async def lifespan(cls, context: HostContext) -> AsyncIterator[Any]:
        """Open what all sessions of a process share (a browser, a database server); yields `self.shared`."""
        yield None

    def reset(self, task: Task) -> Observation | str | Awaitable[Observation | str]:
        """Begin the episode and return what the policy sees first, beside the task's prompt."""
        raise NotImplementedError(f"{type(self).__name__} needs reset(task)")

    async def step(self, action: Action) -> StepResult:
        """Apply one action. Override it, or mark methods with @tool and leave this as it is."""
        self._episode = _Episode()
        if action.message is not None:
            reply = self.message(action.message)
            return self._result(_observation(await reply if inspect.isawaitable(reply) else reply))
        parts = await self._call_all(action.tool_calls)
        return self._result(Observation(parts=parts))

    def message(self, text: str) -> Observation | str | Awaitable[Observation | str]:
        """Answer a message where step is not overridden. Default: say that this environment wants tool calls."""
        return f"This environment is driven by tool calls. The tools are: {', '.join(self.tools)}."

    def close(self) -> Awaitable[None] | None:
        """Free what the episode holds. Called exactly once, also after errors and cancellation."""
        return None

    def begin(self, task: Task, shared: Any, config: JsonObject) -> None:
        """Called by the host before reset: sets task, random, shared and config."""
        self.task, self.shared, self.config = task, shared, config
        self.random = random.Random(task.seed)
        self._episode = _Episode()

    def finish(self) -> None:
        """Call within a tool or `message`: this step ends the episode."""
        self._episode.finished = True

    def add_reward(self, name: str, value: float) -> None:
        """Call within a tool or `message`: a named part of this step's reward (process reward)."""
        self._episode.rewards[name] = self._episode.rewards.get(name, 0.0) + value

    @classmethod
    def accepts_messages(cls) -> bool:
        """True where the environment does something with a message (so MCP clients get the tool `act`)."""
        return cls.step is not Environment.step or cls.message is not Environment.message

    async def _call_all(self, calls: Sequence[ToolCall]) -> tuple[ToolResultPart, ...]:
        """Results in the order of the calls. Exclusive and terminal tools run alone; the others between them
        run together; after the end nothing more is executed."""
        results: list[ToolResultPart] = []
        for batch in self._batches(calls):
            if self._episode.finished:
                results += [_not_run(call) for call in batch]
                continue
            done = await self._call_together(batch)
            results += done
            last = self.tools.get(batch[-1].name)
            if last is not None and last.terminal and not done[-1].is_error:
                self._episode.finished = True
        return tuple(results)

    async def _call_together(self, batch: Sequence[ToolCall]) -> list[ToolResultPart]:
        if len(batch) == 1:
            return [await call_tool(self, self.tools, batch[0])]
        try:
            async with asyncio.TaskGroup() as group:
                running = [group.create_task(call_tool(self, self.tools, call)) for call in batch]
        except BaseExceptionGroup as failures:
            # As a single call would: the host assigns the failure to a boundary by its type.
            raise failures.exceptions[0] from failures
        return [task.result() for task in running]

    def _batches(self, calls: Sequence[ToolCall]) -> list[list[ToolCall]]:
        batches: list[list[ToolCall]] = []
        alone = True
        for call in calls:
            known = self.tools.get(call.name)
            now_alone = known is not None and (known.exclusive or known.terminal)
            if alone or now_alone:
                batches.append([call])
            else:
                batches[-1].append(call)
            alone = now_alone
        return batches

    def _result(self, observation: Observation) -> StepResult:
        episode = self._episode
        return StepResult(
            observation=observation,
            reward=sum(episode.rewards.values()) if episode.rewards else None,
            rewards=episode.rewards,
            terminated=episode.finished,
        )


@dataclass
class _Episode:
    """What tools said during the running step."""

    finished: bool = False
    rewards: dict[str, float] = field(default_factory=dict)


def _not_run(call: ToolCall) -> ToolResultPart:
    text = "not run: the episode has ended"
    return ToolResultPart(name=call.name, call_id=call.id, content=(TextPart(text=text),), is_error=True)


def _observation(value: Observation | str) -> Observation:
    return Observation.of(value) if isinstance(value, str) else value


__all__ = ["Environment", "HostContext"]
