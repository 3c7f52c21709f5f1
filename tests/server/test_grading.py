"""How a score joins the last result: parts sum to the reward, and none is made up."""

from __future__ import annotations

from envhub.sdk import Score, StepResult
from envhub.server.grading import add_score


def test_parts_of_step_and_score_sum_to_the_reward() -> None:
    scored = add_score(StepResult.of("on", reward=0.25), Score({"won": 1.0, "style": -0.5}, {"length": 3.0}))
    assert scored.rewards == {"step": 0.25, "won": 1.0, "style": -0.5}
    assert scored.reward == 0.75
    assert scored.info == {"metrics": {"length": 3.0}}


def test_metrics_alone_grant_no_reward_and_no_zero() -> None:
    scored = add_score(StepResult.of("on"), Score({}, {"length": 3.0}))
    assert (scored.reward, scored.rewards) == (None, {})
    assert add_score(StepResult.of("on", reward=0.5), Score({}, {"length": 3.0})).reward == 0.5


def test_without_a_rubric_the_steps_reward_stands() -> None:
    result = StepResult.of("on", reward=0.5)
    assert add_score(result, None) is result
