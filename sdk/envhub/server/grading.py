"""Grading: the rubric's part of the last result, and what becomes of it where grading fails."""

from __future__ import annotations

import math

from envhub.sdk.errors import EnvironmentFailed, GradingFailed
from envhub.sdk.messages import EndReason, StepResult
from envhub.sdk.rubric import Score
from envhub.server.deadline import within
from envhub.server.episode import Episode


def check_parts(result: StepResult) -> None:
    """See to it that named parts of a reward are parts of it.

    Raises:
        EnvironmentFailed: they do not sum to the reward, or there is none.
    """
    total = sum(result.rewards.values())
    if result.reward is None or not math.isclose(total, result.reward, rel_tol=1e-5, abs_tol=1e-9):
        raise EnvironmentFailed(f"the environment gave the reward {result.reward} in parts whose sum is {total}")


async def grade(
    episode: Episode, result: StepResult, end: EndReason, limit_s: float
) -> tuple[StepResult, EndReason, GradingFailed | None]:
    """The last result with the rubric's part.

    Where grading fails or takes longer than `limit_s` seconds: the result without any reward, the end "unresolved",
    and why.
    """
    cut = {"terminated": end == "terminated", "truncated": end != "terminated"}
    try:
        scored = await _scored(episode, result, limit_s)
    except GradingFailed as error:
        nothing: dict[str, object] = {**cut, "end": "unresolved", "reward": None, "rewards": {}}
        return result.model_copy(update=nothing), "unresolved", error
    return scored.model_copy(update={**cut, "end": end}), end, None


async def _scored(episode: Episode, result: StepResult, limit_s: float) -> StepResult:
    """The boundary at which whatever grading code does becomes GradingFailed."""
    late = GradingFailed(f"grading passed its deadline of {limit_s:g} s")
    try:
        return add_score(result, await within(limit_s, episode.grade(), late))
    except GradingFailed:
        raise
    except Exception as error:
        raise GradingFailed(f"grading failed: {error}") from error


def add_score(result: StepResult, score: Score | None) -> StepResult:
    """A result with a score: rewards by name, which sum to the reward; metrics in info."""
    if score is None:
        return result
    parts = dict(result.rewards)
    if result.reward is not None and not parts:
        parts["step"] = result.reward
    for name, value in score.rewards.items():
        parts[name] = parts.get(name, 0.0) + value
    info = {**result.info, "metrics": score.metrics} if score.metrics else result.info
    reward = math.fsum(parts.values()) if parts else None  # metrics alone grant nothing, and no 0 either
    return result.model_copy(update={"reward": reward, "rewards": parts, "info": info})


__all__ = ["add_score", "check_parts", "grade"]
