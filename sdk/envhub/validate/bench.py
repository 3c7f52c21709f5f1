"""Bench: what is being checked, and what the checks learn of it and share."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TypeVar

from envhub.sdk.loader import LoadedEnvironment
from envhub.sdk.messages import Action
from envhub.sdk.task import Task
from envhub.sdk.wire import EnvironmentInfo, EnvironmentSchema, ServerInfo
from envhub.validate.api import Api
from envhub.validate.episodes import Recording
from envhub.validate.report import CheckFailed, NotChecked, reason_of

MAX_CONCURRENT = 8
EPISODE_DEADLINE_S = 900.0
"""How long one episode of a check may take."""
Item = TypeVar("Item")
SecondServer = Callable[[], AbstractAsyncContextManager[Api]]


@dataclass
class Bench:
    """An environment on a server."""

    api: Api
    info: ServerInfo
    environment: EnvironmentInfo
    schema: EnvironmentSchema
    tasks: Sequence[Task]
    """The tasks to check; with their private parts where the folder is at hand."""
    loaded: LoadedEnvironment | None
    """The folder's code; None where only a URL is known."""
    second_server: SecondServer | None
    """Starts another server of the same environment, in a process with another hash seed; None for a URL."""
    seed: int
    progress: Callable[[str], None]
    recordings: dict[str, Recording] = field(default_factory=dict)
    """Task id -> what the oracle did, where it solved the task."""
    oracle_rewards: list[float] = field(default_factory=list)
    junk_rewards: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The environment's name on the server."""
        return self.environment.name

    @property
    def concurrency(self) -> int:
        """Episodes at once."""
        return max(1, min(MAX_CONCURRENT, self.info.max_sessions))

    def code(self) -> LoadedEnvironment:
        """The environment's folder.

        Raises:
            NotChecked: there is none here.
        """
        if self.loaded is None:
            raise NotChecked("no folder: a URL shows the protocol, not the oracle or the private parts of tasks")
        return self.loaded

    def random(self, *what: object) -> random.Random:
        """Randomness of a purpose, the same in every run with the same seed."""
        return random.Random(":".join(map(str, (self.seed, *what))))

    def spread(self, count: int) -> list[Task]:
        """At most `count` of the tasks, evenly spread over them."""
        step = max(1, len(self.tasks) / count)
        return [self.tasks[int(index * step)] for index in range(min(count, len(self.tasks)))]

    def actions_for(self, task: Task) -> tuple[Action, ...]:
        """What to replay on a task: the oracle's actions, else a few harmless messages."""
        known = self.recordings.get(task.id)
        return known.actions if known else tuple(Action(message=f"message {number}") for number in range(3))

    async def each(self, items: Sequence[Item], work: Callable[[Item], Awaitable[None]], label: str) -> None:
        """Run `work` on every item, several at once; every item is run, also after failures.

        Raises:
            CheckFailed: the first failures, and how many there were.
        """
        gate = asyncio.Semaphore(self.concurrency)
        failures: list[str] = []
        done = 0

        async def one(item: Item) -> None:
            nonlocal done
            async with gate:
                try:
                    async with asyncio.timeout(EPISODE_DEADLINE_S):
                        await work(item)
                except Exception as error:  # the boundary of one task: whatever broke is this task's failure
                    failures.append(f"{item.id}: {reason_of(error)}" if isinstance(item, Task) else reason_of(error))
            done += 1
            self.progress(f"{label} {done}/{len(items)}")

        async with asyncio.TaskGroup() as group:
            for item in items:
                group.create_task(one(item))
        if failures:
            more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
            raise CheckFailed(f"{len(failures)} of {len(items)} failed: {'; '.join(failures[:3])}{more}")


__all__ = ["EPISODE_DEADLINE_S", "Bench"]
