"""Rubrics: composition, reporting and failure."""

from __future__ import annotations

import math
from typing import Any

import pytest

from envhub.sdk import Criterion, GradingFailed, Rubric


def always(value: Any) -> Any:
    return lambda _: value


async def half(_: object) -> float:
    return 0.5


async def test_every_part_is_reported_weighted_and_they_sum_to_the_reward() -> None:
    rubric = Rubric(Criterion("solved", always(1.0), weight=2.0), Criterion("short", half, weight=-1.0))
    score = await rubric.score(None)
    assert score.rewards == {"solved": 2.0, "short": -0.5}
    assert score.reward == 1.5


async def test_weight_zero_is_a_metric_and_earns_nothing() -> None:
    score = await Rubric(Criterion("length", always(12)), Criterion("turns", always(3), weight=0)).score(None)
    assert score.metrics == {"turns": 3.0}
    assert score.rewards == {"length": 12.0}


async def test_rubrics_compose() -> None:
    both = Rubric(Criterion("a", always(1))) + Rubric(Criterion("a", always(1))).named("style.").scaled(0.5)
    assert (await both.score(None)).rewards == {"a": 1.0, "style.a": 0.5}


def test_names_must_differ() -> None:
    with pytest.raises(ValueError, match="different names"):
        Rubric(Criterion("a", half)) + Rubric(Criterion("a", half))


async def test_grader_sees_the_environment() -> None:
    score = await Rubric(Criterion("given", lambda environment: environment["value"])).score({"value": 0.25})
    assert score.reward == 0.25


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, "high", [1.0]])
async def test_what_is_not_a_finite_number_is_a_failed_grading_and_never_zero(value: Any) -> None:
    with pytest.raises(GradingFailed, match="'solved'"):
        await Rubric(Criterion("solved", always(value))).score(None)


async def test_a_weight_that_makes_the_reward_infinite_fails() -> None:
    with pytest.raises(GradingFailed, match="'solved'"):
        await Rubric(Criterion("solved", always(1e308), weight=100.0)).score(None)
    with pytest.raises(GradingFailed, match="'solved'"):
        await Rubric(Criterion("solved", always(1.0), weight=math.nan)).score(None)


async def test_a_grader_that_raises_is_named_with_its_cause() -> None:
    def broken(_: object) -> float:
        raise KeyError("page")

    with pytest.raises(GradingFailed, match=r"criterion 'solved' raised KeyError: 'page'") as failure:
        await Rubric(Criterion("solved", broken)).score(None)
    assert isinstance(failure.value.__cause__, KeyError)
