"""Pieces of a session: what was agreed, one step's outcome, its record, and how a score joins the last result."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass

from pydantic_core import PydanticSerializationError

from envhub.sdk.errors import EnvironmentFailed
from envhub.sdk.messages import Action, StepResult, WireModel
from envhub.sdk.rubric import Score
from envhub.sdk.wire import Driver
from envhub.server.recording import Recorder


@dataclass(frozen=True, slots=True)
class Terms:
    """What was agreed at open. Times in seconds."""

    driver: Driver
    max_turns: int
    lease_s: float
    step_s: float
    grade_s: float
    episode_s: float


@dataclass(slots=True)
class Outcome:
    """The last step: its action, and its result once it has one."""

    index: int
    action: Action
    future: asyncio.Future[bytes]
    """The reply (`Stepped` as JSON), or the typed error."""

    def answer(self, result: StepResult) -> None:
        """Resolve it with a result; too late is no error."""
        if not self.future.done():
            self.future.set_result(b'{"index":%d,"result":%b}' % (self.index, to_json(result)))

    def refuse(self, error: Exception) -> None:
        """Resolve it with an error; nobody waiting for it is no error."""
        if not self.future.done():
            self.future.set_exception(error)
            self.future.exception()  # marks it as seen


def to_json(model: WireModel) -> bytes:
    """A model's JSON.

    Raises:
        EnvironmentFailed: the environment put something into it that JSON has no form for.
    """
    try:
        return model.__pydantic_serializer__.to_json(model)
    except PydanticSerializationError as error:
        raise EnvironmentFailed(f"the environment's result has no JSON form: {error}") from error


def step_line(session: str, outcome: Outcome, result: StepResult, duration_s: float, recorder: Recorder) -> bytes:
    """The `StepRecord` of a step as JSON, put together by hand: this runs once a step."""
    seen = recorder.stored(result.observation)
    kept = result if seen is result.observation else result.model_copy(update={"observation": seen})
    return (
        b'{"record":"step","session":"%b","index":%d,"action":%b,"result":%b,"started_s":%.6f,"duration_s":%.6f}'
    ) % (
        session.encode(),
        outcome.index,
        to_json(outcome.action),
        to_json(kept),
        time.time() - duration_s,
        duration_s,
    )


def add_score(result: StepResult, score: Score | None) -> StepResult:
    """The last step's result with the rubric's part: rewards by name, which sum to the reward."""
    if score is None:
        return result
    parts = dict(result.rewards)
    if result.reward is not None and not parts:
        parts["step"] = result.reward
    for name, value in score.rewards.items():
        parts[name] = parts.get(name, 0.0) + value
    info = {**result.info, "metrics": score.metrics} if score.metrics else result.info
    return result.model_copy(update={"reward": math.fsum(parts.values()), "rewards": parts, "info": info})


__all__ = ["Outcome", "Terms", "add_score", "step_line", "to_json"]
