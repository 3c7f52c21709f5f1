"""One rollout: a trajectory whatever happens, a reward only where the episode gave one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from envhub.clients import Client, Decision, Episode, RandomPolicy, ScriptedPolicy, connect, rollout
from envhub.sdk import Action, NotFound, ToolCall, make_sample, read_trajectories


async def test_an_episode_is_recorded_with_its_samples(client: Client) -> None:
    class Tokens:
        async def act(self, episode: Episode) -> Decision:
            prompt = [1, 2] if episode.turn == 0 else [1, 2, 10, 3]
            sample = make_sample(episode.samples, prompt, [10 + episode.turn], [-0.5], policy_version=4)
            return Decision("end" if episode.turn else "hello", sample)

    played = await rollout(client, Tokens(), task="train-2", seed=11)
    assert (played.reward, played.end, played.rewards) == (1.0, "terminated", {"said": 1.0})
    assert (played.open.task.id, played.open.task.seed, played.open.environment_version) == ("train-2", 11, "1.2.3")
    assert [step.index for step in played.steps] == [0, 1]
    assert played.tokens().ids == (1, 2, 10, 3, 11)
    assert played.tokens().mask == (0, 0, 1, 0, 1)
    assert read_trajectories(played.to_jsonl().splitlines(keepends=True)) == [played]


async def test_the_policy_sees_the_agents_side_only(plain_client: Client) -> None:
    seen: list[Episode] = []

    def look(episode: Episode) -> str:
        seen.append(episode)
        return "end"

    await rollout(plain_client, ScriptedPolicy(look), task="train-2", seed=3)
    [episode] = seen
    assert episode.prompt[0].content == "play 2"
    assert episode.observations[0].text == "seed 3"
    assert {one["name"] for one in episode.tools} == {"add", "wait", "paint", "fail", "finish_now"}
    assert episode.accepts_messages
    assert not hasattr(episode, "reward")


async def test_an_environment_that_breaks_is_a_failed_trajectory_and_never_zero(client: Client) -> None:
    played = await rollout(client, ScriptedPolicy(["fine", ToolCall(name="fail"), "never"]))
    assert (played.reward, played.end, len(played.steps)) == (None, "error", 1)
    assert played.ended is not None
    assert played.ended.error is not None
    assert (played.ended.error["code"], played.ended.action) == ("environment", Action.call("fail"))


async def test_a_reset_that_breaks_is_a_failed_trajectory_and_never_zero(client: Client) -> None:
    played = await rollout(client, ScriptedPolicy(["end"]), task="test-2", seed=5)
    assert (played.reward, played.end, played.steps) == (None, "error", ())
    assert (played.open.task.id, played.open.task.seed) == ("test-2", 5)
    assert played.session.startswith("unopened-")
    assert played.ended is not None
    assert played.ended.error is not None
    assert "cannot be opened" in played.ended.error["detail"]
    assert read_trajectories(played.to_jsonl().splitlines(keepends=True)) == [played]


async def test_a_step_deadline_truncates_without_a_reward(client: Client) -> None:
    played = await rollout(
        client, ScriptedPolicy([ToolCall(name="wait", arguments={"seconds": 60})]), step_deadline_s=0.2
    )
    assert (played.end, played.reward) == ("step_deadline", None)


async def test_a_cut_by_time_keeps_the_reward_at_the_cut(client: Client) -> None:
    class Slow:
        async def act(self, episode: Episode) -> str:
            await asyncio.sleep(0.6 * episode.turn)
            return "hello"

    played = await rollout(client, Slow(), episode_deadline_s=0.4)
    assert (played.end, len(played.steps)) == ("episode_time", 1)


async def test_max_turns_truncates(client: Client) -> None:
    played = await rollout(client, ScriptedPolicy(lambda _: "on"), max_turns=3)
    assert (played.end, len(played.steps)) == ("max_turns", 3)
    assert played.steps[-1].result.truncated


async def test_a_policy_that_stops_early_earns_nothing(client: Client) -> None:
    played = await rollout(client, ScriptedPolicy([ToolCall(name="add", arguments={"value": 1})]))
    assert (played.end, played.reward, len(played.steps)) == ("closed", None, 1)


async def test_an_action_that_is_too_large_fails_the_rollout_only(client: Client) -> None:
    played = await rollout(client, ScriptedPolicy(["x" * 1_100_000]))
    assert (played.end, played.reward) == ("error", None)
    assert played.ended is not None
    assert played.ended.error is not None
    assert played.ended.error["code"] == "too_large"


async def test_random_tools_are_played_to_an_end(client: Client) -> None:
    played = await rollout(client, RandomPolicy(seed=2), max_turns=10, step_deadline_s=0.5)
    assert played.end is not None


async def test_what_the_policy_raises_passes_through_and_closes_the_session(start_server: Any, none_left: Any) -> None:
    server = start_server().start()

    def broken(_: Episode) -> str:
        raise ZeroDivisionError("a bug in the policy")

    async with connect(server.url, server.token) as client:
        with pytest.raises(ZeroDivisionError):
            await rollout(client, ScriptedPolicy(broken))
        await none_left(client)


async def test_a_request_that_will_always_fail_is_raised(client: Client) -> None:
    with pytest.raises(NotFound):
        await rollout(client, ScriptedPolicy(["end"]), task="train-9999")


@pytest.mark.parametrize("pause_s", [0.0, 0.001, 0.05])
async def test_a_cancelled_rollout_leaves_no_session(start_server: Any, pause_s: float, none_left: Any) -> None:
    """Cancelled before, while and after the session is opened."""
    server = start_server().start()
    async with connect(server.url, server.token) as client:
        await client.schema()
        tasks = [
            asyncio.create_task(rollout(client, ScriptedPolicy([ToolCall(name="wait", arguments={"seconds": 60})])))
            for _ in range(20)
        ]
        await asyncio.sleep(pause_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    async with connect(server.url, server.token) as client:
        await none_left(client)


async def test_a_full_server_is_asked_again(start_server: Any) -> None:
    server = start_server(max_sessions=1).start()
    async with connect(server.url, server.token) as client:
        holder = await client.open()
        waiting = asyncio.create_task(rollout(client, ScriptedPolicy(["end"]), wait_s=0))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        await holder.close()
        assert (await waiting).reward == 1.0


async def test_a_server_that_stays_full_fails_the_rollout(start_server: Any) -> None:
    server = start_server(max_sessions=1).start()
    async with connect(server.url, server.token) as client, client.session():
        played = await rollout(client, ScriptedPolicy(["end"]), patience_s=0.1, wait_s=0)
    assert (played.reward, played.end) == (None, "error")
    assert played.ended is not None
    assert played.ended.error is not None
    assert played.ended.error["code"] == "at_capacity"
