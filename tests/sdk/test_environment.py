"""Environment: steps made from tools and messages."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from envhub.sdk import Action, Environment, Observation, SandboxFailed, StepResult, Task, ToolCall, tool


class Room(Environment):
    """Notes the order in which its tools run."""

    def reset(self, task: Task) -> str:
        self.log: list[str] = []
        return "a room"

    @tool
    async def look(self, at: str) -> str:
        self.log.append(f"look {at}")
        await asyncio.sleep(0)
        self.log.append(f"seen {at}")
        return f"you see {at}"

    @tool(exclusive=True)
    async def move(self) -> str:
        self.log.append("move")
        await asyncio.sleep(0)
        self.log.append("moved")
        return "moved"

    @tool(terminal=True)
    def answer(self, value: int) -> str:
        self.add_reward("right", float(value == 42))
        self.add_reward("style", 0.25)
        return "noted"

    @tool
    async def smash(self) -> str:
        raise SandboxFailed("the room is gone")

    @tool
    def bill(self) -> str:
        self.add_reward("right", float("nan"))
        return ""


class Talk(Environment):
    """Answers messages."""

    def reset(self, task: Task) -> str:
        return "say bye"

    async def message(self, text: str) -> Observation:
        if text == "bye":
            self.finish()
        return Observation.of(f"you said {text}")


def begun(cls: type[Environment], seed: int = 0) -> Any:
    environment = cls()
    task = Task(id="t", seed=seed)
    environment.begin(task, None, {})
    environment.reset(task)
    return environment


def calls(*named: tuple[str, dict[str, Any]]) -> Action:
    made = (ToolCall(name=name, arguments=arguments, id=str(at)) for at, (name, arguments) in enumerate(named))
    return Action(tool_calls=tuple(made))


async def test_calls_of_one_action_run_together_and_answer_in_order() -> None:
    room = begun(Room)
    result = await room.step(calls(("look", {"at": "a"}), ("look", {"at": "b"})))
    assert room.log == ["look a", "look b", "seen a", "seen b"]
    assert [part.call_id for part in result.observation.parts] == ["0", "1"]
    assert result.observation.text == "you see a\nyou see b"


async def test_exclusive_tool_runs_alone_between_its_neighbours() -> None:
    room = begun(Room)
    await room.step(calls(("look", {"at": "a"}), ("move", {}), ("look", {"at": "b"})))
    assert room.log == ["look a", "seen a", "move", "moved", "look b", "seen b"]


async def test_terminal_tool_ends_the_episode_and_later_calls_are_not_run() -> None:
    room = begun(Room)
    result = await room.step(calls(("answer", {"value": 42}), ("look", {"at": "a"})))
    assert result.terminated
    assert room.log == []
    assert result.observation.parts[1].is_error
    assert "not run" in result.observation.text


async def test_terminal_tool_that_was_refused_does_not_end_the_episode() -> None:
    result = await begun(Room).step(calls(("answer", {"value": "no number"})))
    assert not result.terminated
    assert result.reward is None


async def test_named_rewards_sum_to_the_reward_and_start_anew_each_step() -> None:
    room = begun(Room)
    first = await room.step(calls(("answer", {"value": 42})))
    assert first.rewards == {"right": 1.0, "style": 0.25}
    assert first.reward == 1.25
    second = await room.step(calls(("look", {"at": "a"})))
    assert (second.reward, second.rewards) == (None, {})


async def test_reward_that_is_not_finite_fails_the_step() -> None:
    with pytest.raises(ValueError, match="finite number"):
        await begun(Room).step(calls(("bill", {})))


async def test_failure_among_parallel_calls_keeps_its_type() -> None:
    with pytest.raises(SandboxFailed, match="the room is gone"):
        await begun(Room).step(calls(("look", {"at": "a"}), ("smash", {})))


async def test_message_to_a_tool_environment_is_answered_with_the_tools() -> None:
    result = await begun(Room).step(Action(message="hello"))
    assert "driven by tool calls" in result.observation.text
    assert "answer" in result.observation.text
    assert not result.terminated


async def test_message_method_answers_and_finishes() -> None:
    talk = begun(Talk)
    assert not (await talk.step(Action(message="hi"))).terminated
    last = await talk.step(Action(message="bye"))
    assert (last.terminated, last.observation.text) == (True, "you said bye")


def test_accepts_messages_where_step_or_message_is_overridden() -> None:
    class Steps(Environment):
        async def step(self, action: Action) -> StepResult:
            return StepResult(observation=Observation())

    assert Steps.accepts_messages()
    assert Talk.accepts_messages()
    assert not Room.accepts_messages()


def test_randomness_follows_from_the_seed_alone() -> None:
    draws = [[begun(Room, seed).random.random() for _ in range(2)] for seed in (3, 3, 4)]
    assert draws[0] == draws[1] != draws[2]
