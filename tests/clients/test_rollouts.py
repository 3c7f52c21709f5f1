"""Many rollouts: bounded, in order, written as they finish, resumable."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from envhub.clients import (
    Client,
    Episode,
    OpenOptions,
    RolloutProgress,
    ScriptedPolicy,
    connect,
    rollouts,
    stream_rollouts,
)
from envhub.sdk import InvalidRequest, NotFound, ToolCall, read_trajectories


def _oracle(request: OpenOptions) -> ScriptedPolicy:
    """Earns the task's number."""
    number = int((request.get("task") or "train-1").rpartition("-")[2])
    return ScriptedPolicy([ToolCall(name="add", arguments={"value": number}), ToolCall(name="finish_now")])


async def test_results_come_in_the_order_of_the_requests(client: Client) -> None:
    requests: list[OpenOptions] = [{"task": f"train-{number}", "seed": number} for number in range(64)]
    played = await rollouts(client, _oracle, requests, concurrency=64)
    assert [one.reward for one in played] == [float(number) for number in range(64)]
    assert [one.open.task.seed for one in played] == list(range(64))


async def test_a_small_server_serves_more_rollouts_than_it_has_places(start_server: Any, none_left: Any) -> None:
    server = start_server(max_sessions=4).start()
    async with connect(server.url, server.token) as client:
        requests: list[OpenOptions] = [{"task": f"train-{number}", "wait_s": 0.05} for number in range(24)]
        played = await rollouts(client, _oracle, requests, concurrency=12)
        assert [one.reward for one in played] == [float(number) for number in range(24)]
        await none_left(client)


async def test_nine_clients_of_a_server_for_eight_each_read_back_their_own(start_server: Any) -> None:
    server = start_server(max_sessions=8).start()
    requests: list[OpenOptions] = [{"task": f"train-{number}"} for number in range(1, 10)]
    async with connect(server.url, server.token) as client:
        played = await rollouts(client, _oracle, requests, concurrency=9)
    assert [one.reward for one in played] == [float(number) for number in range(1, 10)]
    assert len({one.session for one in played}) == 9


async def test_failed_rollouts_do_not_disturb_the_others_or_the_mean(plain_client: Client) -> None:
    reports: list[RolloutProgress] = []

    def half(request: OpenOptions) -> ScriptedPolicy:
        return ScriptedPolicy([ToolCall(name="fail")]) if request["seed"] else ScriptedPolicy(["end"])

    played = await rollouts(
        plain_client, half, [{"seed": 0}, {"seed": 0}, {"seed": 1}, {"seed": 1}], progress=reports.append
    )
    assert [one.reward for one in played] == [1.0, 1.0, None, None]
    last = reports[-1]
    assert (last.done, last.total, last.failed, last.mean_reward) == (4, 4, 2, 1.0)


async def test_a_file_is_resumed_without_repeating_what_it_has(plain_client: Client, tmp_path: Path) -> None:
    out, ran = tmp_path / "runs" / "out.jsonl", []

    def counted(request: OpenOptions) -> ScriptedPolicy:
        ran.append(request)
        return _oracle(request)

    first: list[OpenOptions] = [{"task": "train-1"}, {"task": "train-1"}, {"task": "train-2", "seed": 5}]
    await rollouts(plain_client, counted, first, out=out)
    with out.open("a") as file:
        file.write('{"record": "open", "ses')  # What a killed writer leaves.
    ran.clear()
    more: list[OpenOptions] = [{"task": "train-2", "seed": 6}, *first, {"task": "train-1"}, {}]
    played = await rollouts(plain_client, counted, more, out=out)
    assert ran == [{"task": "train-2", "seed": 6}, {"task": "train-1"}, {}]
    assert [one.reward for one in played[:5]] == [2.0, 1.0, 1.0, 2.0, 1.0]
    assert sorted(one.session for one in read_trajectories(out)) == sorted(one.session for one in played)


async def test_failed_ones_in_a_file_are_rolled_out_again(plain_client: Client, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    request: OpenOptions = {"task": "train-3"}
    [failed] = await rollouts(plain_client, lambda _: ScriptedPolicy([ToolCall(name="fail")]), [request], out=out)
    [again] = await rollouts(plain_client, _oracle, [request], out=out)
    assert (failed.reward, again.reward) == (None, 3.0)


async def test_they_stream_as_they_finish_and_stop_when_left(start_server: Any, none_left: Any) -> None:
    server = start_server().start()

    def policy(request: OpenOptions) -> ScriptedPolicy:
        slow = ToolCall(name="wait", arguments={"seconds": 60})
        return ScriptedPolicy([slow if request["seed"] == 0 else "end"])

    async with connect(server.url, server.token) as client:
        requests: list[OpenOptions] = [{"seed": seed} for seed in range(3)]
        found = []
        async with aclosing(stream_rollouts(client, policy, requests)) as stream:
            async for index, trajectory in stream:
                found.append((index, trajectory.reward))
                if len(found) == 2:
                    break
        assert sorted(found) == [(1, 1.0), (2, 1.0)]
        await none_left(client)


async def test_a_bug_in_a_policy_is_raised_and_stops_the_others(start_server: Any, none_left: Any) -> None:
    server = start_server().start()

    def broken(episode: Episode) -> ToolCall:
        if episode.task.seed == 3:
            raise ZeroDivisionError("a bug in the policy")
        return ToolCall(name="wait", arguments={"seconds": 60})

    async with connect(server.url, server.token) as client:
        with pytest.raises(ZeroDivisionError):
            await rollouts(client, lambda _: ScriptedPolicy(broken), [{"seed": seed} for seed in range(5)])
        await none_left(client)


async def test_a_refused_request_is_raised(plain_client: Client) -> None:
    with pytest.raises(NotFound):
        await rollouts(plain_client, _oracle, [{"task": "train-1"}, {"task": "train-12345"}])


async def test_no_concurrency_is_refused(plain_client: Client) -> None:
    with pytest.raises(InvalidRequest, match="at least 1"):
        await rollouts(plain_client, _oracle, [{}], concurrency=0)


async def test_progress_goes_to_stderr(plain_client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    await rollouts(plain_client, _oracle, [{"task": "train-4"}], progress=True)
    assert "rollouts 1/1, mean reward 4.000" in capsys.readouterr().err
