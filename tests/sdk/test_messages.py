"""Messages: what they accept, refuse and show."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from envhub.sdk import Action, ImagePart, Observation, StepResult, TextPart, ToolCall, ToolResultPart


class FakeScalar:
    """What numpy and torch scalars have in common."""

    def __init__(self, *values: float) -> None:
        self._values = values

    def item(self) -> float:
        if len(self._values) != 1:
            raise RuntimeError("a tensor with 2 elements cannot be converted to a scalar")
        return self._values[0]


def test_action_is_a_message_or_calls_but_not_both_and_not_neither() -> None:
    assert Action(message="").message == ""
    assert Action.of("left").message == "left"
    with pytest.raises(ValidationError, match="either a message or"):
        Action()
    with pytest.raises(ValidationError, match="either a message or"):
        Action(message="left", tool_calls=(ToolCall(name="go"),))


def test_action_of_wraps_calls_and_returns_actions_unchanged() -> None:
    call = ToolCall(name="click", arguments={"id": 3})
    assert Action.of(call) == Action.call("click", id=3)
    assert Action.of(Action.of(call)) == Action.of(call)


@pytest.mark.parametrize(
    "document",
    [
        {"message": "x", "reward": 1},
        {"message": 3},
        {"tool_calls": []},
        {"tool_calls": [{"name": "f", "arguments": None}]},
        {"tool_calls": [{"arguments": {}}]},
    ],
)
def test_action_refuses_unknown_fields_and_wrong_types(document: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Action.model_validate(document)


def test_text_of_an_observation_includes_tool_results_and_leaves_images_out() -> None:
    picture = ImagePart(data="aGk=")
    result = ToolResultPart(name="look", content=(TextPart(text="inner"), picture))
    assert Observation.of("first", picture, result, "last").text == "first\ninner\nlast"


def test_image_part_needs_data_or_digest() -> None:
    assert ImagePart(digest="sha256:00").data is None
    with pytest.raises(ValidationError, match="needs data"):
        ImagePart()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_reward_is_never_nan_or_infinite(value: float) -> None:
    with pytest.raises(ValidationError, match="finite number"):
        StepResult(observation=Observation(), reward=value)
    with pytest.raises(ValidationError, match="finite number"):
        StepResult(observation=Observation(), rewards={"solved": value})


def test_rewards_of_array_libraries_become_plain_numbers() -> None:
    scalar: Any = FakeScalar(0.5)
    result = StepResult(observation=Observation(), reward=scalar, rewards={"solved": scalar})
    assert result.reward == 0.5
    assert type(result.rewards["solved"]) is float


def test_reward_of_several_elements_is_refused() -> None:
    several: Any = FakeScalar(0.5, 0.5)
    with pytest.raises(ValidationError):
        StepResult(observation=Observation(), reward=several)


def test_step_result_has_ended_by_any_of_three_signs() -> None:
    assert not StepResult(observation=Observation()).ended
    assert StepResult(observation=Observation(), terminated=True).ended
    assert StepResult(observation=Observation(), truncated=True).ended
    assert StepResult(observation=Observation(), end="closed").ended


def test_messages_are_immutable() -> None:
    part = TextPart(text="a")
    with pytest.raises(ValidationError, match="frozen"):
        part.text = "b"


def test_a_result_is_made_of_a_text_or_an_observation() -> None:
    plain = StepResult.of("on", reward=0.5, terminated=True)
    assert plain == StepResult(observation=Observation.of("on"), reward=0.5, terminated=True)
    assert StepResult.of(Observation.of("a", "b")).observation.text == "a\nb"
    with pytest.raises(ValueError, match="finite"):
        StepResult.of("on", reward=float("nan"))
