"""Junk policies: what they send."""

from __future__ import annotations

import random
from typing import Any

from jsonschema import validate as validate_schema  # type: ignore[import-untyped]

from envhub.sdk import Observation, Task
from envhub.sdk.task import prompt_of
from envhub.sdk.wire import Opened
from envhub.validate.junk import Scene, copied_prompt, empty, random_calls

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer", "minimum": 3, "maximum": 5},
        "share": {"type": "number"},
        "sure": {"type": "boolean"},
        "words": {"type": "array", "items": {"type": "string"}},
        "kind": {"enum": ["a", "b"]},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["text", "count", "share", "sure", "words", "kind", "maybe"],
    "additionalProperties": False,
}
TOOLS: tuple[dict[str, Any], ...] = ({"name": "fill", "parameters": SCHEMA}, {"name": "stop", "parameters": {}})


def scene(*tools: dict[str, Any], turn: int = 0, seed: int = 0) -> Scene:
    opened = Opened(
        session="s", session_token="t", agent_token="a", environment="e", task_digest="d", driver="control",
        task=Task(id="one", prompt=prompt_of("Do it.")), observation=Observation.of("Here."), max_turns=4,
        lease_s=60, mcp_path="/mcp",
    )  # fmt: skip
    return Scene(opened, tools, random.Random(seed), turn)


def test_random_calls_fit_their_schema() -> None:
    for seed in range(50):
        (call,) = random_calls(scene(TOOLS[0], seed=seed)).tool_calls
        validate_schema(call.arguments, SCHEMA)


def test_random_calls_are_the_same_for_the_same_seed() -> None:
    assert random_calls(scene(*TOOLS, seed=3)) == random_calls(scene(*TOOLS, seed=3))


def test_empty_goes_through_all_tools() -> None:
    sent = [empty(scene(*TOOLS, turn=turn)) for turn in range(4)]
    assert sent[0].message == ""
    assert [action.tool_calls[0].name for action in sent[1:]] == ["fill", "stop", "fill"]


def test_copied_prompt_has_prompt_and_observation() -> None:
    assert copied_prompt(scene()).message == "Do it.\nHere."
