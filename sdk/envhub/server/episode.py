"""Episode: one environment instance living through one episode, wherever it runs.

`InlineEpisode` runs it in this process. `envhub.server.process.ProcessEpisode` runs it in a worker of its own.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable
from types import CoroutineType
from typing import Any, Protocol, TypeVar

from envhub.sdk.environment import Environment
from envhub.sdk.errors import EnvhubError, EnvironmentFailed
from envhub.sdk.messages import Action, JsonObject, Observation, StepResult
from envhub.sdk.origin import told
from envhub.sdk.rubric import Score
from envhub.sdk.task import Task

T = TypeVar("T")


class Episode(Protocol):
    """What a session drives. Calls never overlap, but close may come at any time and while another call runs.

    Every method raises EnvhubError only: what the environment's code raised is EnvironmentFailed.
    """

    async def reset(self, task: Task) -> Observation: ...

    async def step(self, action: Action) -> StepResult: ...

    async def grade(self) -> Score | None:
        """The rubric's score; None where the environment has no rubric."""
        ...

    async def close(self) -> None:
        """Free everything. Idempotent."""
        ...


class InlineEpisode:
    """An environment in this process. Each broad except is the boundary at which its code's failures get their type."""

    __slots__ = ("_closed", "_config", "_environment", "_shared")

    def __init__(self, cls: type[Environment], shared: Any, config: JsonObject) -> None:
        self._shared, self._config = shared, config
        self._closed = False
        try:
            self._environment = cls()
        except BaseException as error:
            raise failed(error) from error

    async def reset(self, task: Task) -> Observation:
        try:
            self._environment.begin(task, self._shared, self._config)
            seen = await settled(self._environment.reset(task))
        except BaseException as error:
            raise failed(error) from error
        return Observation.of(seen) if isinstance(seen, str) else checked(seen, Observation)

    async def step(self, action: Action) -> StepResult:
        try:
            result: Any = self._environment.step(action)
            if not isinstance(result, StepResult):
                result = await (result if isinstance(result, CoroutineType) else settled(result))
        except BaseException as error:
            raise failed(error) from error
        return result if type(result) is StepResult else checked(result, StepResult)

    async def grade(self) -> Score | None:
        try:
            rubric = self._environment.rubric
            return None if rubric is None else await rubric.score(self._environment)
        except BaseException as error:
            raise failed(error) from error

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        environment = self._environment
        del self._environment, self._shared  # an ended session can be read for a while, and must not keep them
        try:
            await settled(environment.close())
        except BaseException as error:
            raise failed(error) from error


async def settled(value: T | Awaitable[T]) -> T:
    """The value of a plain or async method's result."""
    if inspect.isawaitable(value):
        return await value
    return value


def checked(value: Any, kind: type[T]) -> T:
    """The value, if it is what the method promises.

    Raises:
        EnvironmentFailed: it is something else.
    """
    if not isinstance(value, kind):
        raise EnvironmentFailed(f"the environment returned {type(value).__name__}, not {kind.__name__}")
    return value


def failed(error: BaseException) -> EnvhubError:
    """The typed error of what environment code raised; envhub's own errors pass through.

    SystemExit and a cancellation of its own making are failures too: they would end this process, or look like ours.

    Raises:
        CancelledError, GeneratorExit: it is ours: this task is being stopped.
    """
    if isinstance(error, GeneratorExit) or (isinstance(error, asyncio.CancelledError) and _being_cancelled()):
        raise error
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, EnvhubError):
        return error
    return EnvironmentFailed(f"the environment raised {told(error)}")


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


__all__ = ["Episode", "InlineEpisode", "checked", "failed", "settled"]
