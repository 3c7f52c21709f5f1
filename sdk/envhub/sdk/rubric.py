"""Rubric: named, weighted, composable parts that grade an episode, each reported."""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from envhub.sdk.errors import GradingFailed
from envhub.sdk.origin import told

Grader = Callable[[Any], float | Awaitable[float]]
"""(environment) -> value; plain or async."""


@dataclass(frozen=True)
class Criterion:
    """One named part of a rubric."""

    name: str
    grade: Grader
    weight: float = 1.0
    """Factor of the value in the reward; 0 makes it a metric that is reported and not rewarded."""


@dataclass(frozen=True)
class Score:
    """What a rubric gave."""

    rewards: dict[str, float] = field(default_factory=dict)
    """Weighted value by criterion."""
    metrics: dict[str, float] = field(default_factory=dict)
    """Unweighted value by criterion of weight 0."""

    @property
    def reward(self) -> float:
        """The sum of the weighted values."""
        return math.fsum(self.rewards.values())


@dataclass(frozen=True)
class Rubric:
    """Criteria graded together; `a + b` joins two, `rubric.scaled(0.5)` weighs all, `named("style.")` prefixes."""

    criteria: tuple[Criterion, ...]

    def __init__(self, *criteria: Criterion) -> None:
        names = [criterion.name for criterion in criteria]
        if len(set(names)) != len(names):
            raise ValueError(f"criteria of a rubric need different names, got {names}")
        object.__setattr__(self, "criteria", criteria)

    def __add__(self, other: Rubric) -> Rubric:
        return Rubric(*self.criteria, *other.criteria)

    def scaled(self, factor: float) -> Rubric:
        """The same criteria with every weight multiplied."""
        return Rubric(*(replace(part, weight=part.weight * factor) for part in self.criteria))

    def named(self, prefix: str) -> Rubric:
        """The same criteria with a prefix on every name."""
        return Rubric(*(replace(part, name=prefix + part.name) for part in self.criteria))

    async def score(self, environment: Any) -> Score:
        """Grade an episode.

        Raises:
            GradingFailed: a criterion raised, or gave something that is not a finite number.
        """
        rewards: dict[str, float] = {}
        metrics: dict[str, float] = {}
        for part in self.criteria:
            value = await _graded(part, environment)
            if part.weight == 0:
                metrics[part.name] = value
            else:
                rewards[part.name] = value * part.weight
        return Score(rewards, metrics)


async def _graded(part: Criterion, environment: Any) -> float:
    """One criterion's value; the boundary at which any failure of grading code becomes GradingFailed."""
    try:
        value = part.grade(environment)
        number = float(await value if inspect.isawaitable(value) else value)
    except Exception as error:
        raise GradingFailed(f"criterion {part.name!r} raised {told(error)}") from error
    if not math.isfinite(number * part.weight):
        raise GradingFailed(f"criterion {part.name!r} gave {number} (weight {part.weight}), not a finite number")
    return number


__all__ = ["Criterion", "Grader", "Rubric", "Score"]
