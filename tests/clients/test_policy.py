"""Policies, without a server."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from envhub.clients import Decision, Episode, RandomPolicy, ScriptedPolicy
from envhub.clients.policy import decision_of
from envhub.sdk import Action, Environment, InvalidRequest, Observation, Sample, Task, ToolCall, tool
from envhub.sdk.tools import read_arguments


def _episode(tools: tuple[dict[str, Any], ...] = ()) -> Episode:
    return Episode(Task(id="t"), tools, accepts_messages=True, observations=[Observation.of("start")])


async def test_a_script_is_played_and_then_stops() -> None:
    policy, episode = ScriptedPolicy(["a", ToolCall(name="b")]), _episode()
    assert await policy.act(episode) == "a"
    episode.actions.append(Action.of("a"))
    assert await policy.act(episode) == ToolCall(name="b")
    episode.actions.append(Action.call("b"))
    assert await policy.act(episode) is None


async def test_a_function_sees_the_episode() -> None:
    policy = ScriptedPolicy(lambda episode: f"{episode.turn} {episode.observation.text}")
    assert await policy.act(_episode()) == "0 start"


def test_every_form_of_a_decision_becomes_one() -> None:
    sample = Sample(completion_ids=(5,), logprobs=(-1.0,), mask=(1,))
    assert decision_of("hi") == (Action(message="hi"), None)
    assert decision_of(Decision([ToolCall(name="x")], sample)) == (Action.call("x"), sample)
    assert decision_of(None) is None
    with pytest.raises(InvalidRequest):
        decision_of(7)  # type: ignore[arg-type]


class Toys(Environment):
    """Tools with every kind of argument."""

    @tool
    def play(
        self,
        count: int,
        size: float | None,
        names: list[str],
        flags: dict[str, bool],
        note: str = "",
        deep: list[list[int]] | None = None,
    ) -> str:
        """Play."""
        return ""


async def test_random_calls_fit_the_schema() -> None:
    schema, policy = Toys.tools["play"].schema, RandomPolicy(seed=3)
    for _ in range(100):
        call = await policy.act(_episode((schema,)))
        assert isinstance(call, ToolCall)
        read_arguments(Toys.tools["play"], call)


async def test_the_same_seed_gives_the_same_actions() -> None:
    schema = Toys.tools["play"].schema

    async def play(seed: int) -> list[Any]:
        policy = RandomPolicy(seed)
        return [await policy.act(_episode((schema,))) for _ in range(5)]

    assert await play(1) == await play(1)
    assert await play(1) != await play(2)


async def test_random_numbers_keep_their_bounds() -> None:
    parameters = {
        "type": "object",
        "properties": {"n": {"type": "integer", "exclusiveMinimum": 3, "maximum": 5}},
        "required": ["n"],
    }
    policy = RandomPolicy(0)
    seen = set()
    for _ in range(50):
        call = await policy.act(_episode(({"name": "x", "parameters": parameters},)))
        seen.add(TypeAdapter(ToolCall).validate_python(call).arguments["n"])  # type: ignore[index]
    assert seen == {4, 5}


async def test_random_texts_come_from_the_choices() -> None:
    policy = RandomPolicy(0, choices=["left", "right"])
    assert {await policy.act(_episode()) for _ in range(20)} == {"left", "right"}


async def test_nothing_to_choose_from_is_said() -> None:
    with pytest.raises(InvalidRequest, match="give RandomPolicy choices"):
        await RandomPolicy(0).act(_episode())
