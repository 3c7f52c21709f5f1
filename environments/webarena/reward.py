"""The reward: 1 if every evaluator that the task names is passed, else 0. Each is reported beside it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

from envhub.sdk import Criterion, GradingFailed, Rubric

from .evaluate import EVAL_TYPES, EvalType, Evaluation, Evidence, judge
from .hosting import Visit

log = logging.getLogger(__name__)


class Graded(Protocol):
    """What the rubric needs of the environment."""

    async def verdicts(self) -> dict[EvalType, str]:
        """Verdict by evaluator, empty where it is passed; worked out once."""
        ...

    async def count_requests(self, *, refused: bool) -> int:
        """Requests of the session's browser, or only those for addresses that are none of the sites'."""
        ...


def rubric_of(eval_types: Iterable[EvalType] = EVAL_TYPES) -> Rubric:
    """`success` is the reward; the rest are metrics."""
    return Rubric(
        Criterion("success", _success),
        *(Criterion(kind, _passed(kind), weight=0) for kind in eval_types),
        Criterion("requests", lambda graded: graded.count_requests(refused=False), weight=0),
        Criterion("requests_refused", lambda graded: graded.count_requests(refused=True), weight=0),
    )


async def grade(evaluation: Evaluation, evidence: Evidence, visit: Visit) -> dict[EvalType, str]:
    """Judge what an episode left behind.

    Raises:
        GradingFailed: a page, a query or the sites failed, so that nothing can be said.
    """
    before = len(await visit.requests())
    verdicts = await judge(evaluation, evidence)
    failed = [each for each in (await visit.requests())[before:] if each.status >= 500]
    if failed:
        raise GradingFailed(f"the sites answered {failed[0].url} with status {failed[0].status} while it was graded")
    log.debug("verdicts: %s", verdicts)
    return verdicts


async def _success(graded: Graded) -> float:
    return float(not any((await graded.verdicts()).values()))


def _passed(kind: EvalType) -> Callable[[Graded], Awaitable[float]]:
    async def passed(graded: Graded) -> float:
        return float(not (await graded.verdicts())[kind])

    return passed
