"""Sessions on every transport."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from envhub.clients import Client, ConnectOptions, connect
from envhub.sdk import (
    Action,
    Conflict,
    EnvhubError,
    EnvironmentFailed,
    Forbidden,
    InvalidRequest,
    NotFound,
    RequestError,
    SessionEnded,
    StepResult,
    ToolCall,
)


async def test_messages_and_tool_calls_step_an_episode_to_its_reward(client: Client) -> None:
    async with client.session(task="train-3", seed=7) as s:
        assert s.task.metadata == {"n": 3}
        assert s.prompt[0].content == "play 3"
        assert s.observation.text == "seed 7"
        assert (await s.step("hello")).observation.text == "1: hello"
        assert (await s.call("add", value=2)).observation.text == "2"
        both = await s.step(
            [ToolCall(name="add", arguments={"value": 1}), ToolCall(name="add", arguments={"value": 1})]
        )
        assert both.observation.text == "3\n4"
        assert s.steps == 3
        last = await s.step(Action.call("finish_now"))
        assert (last.end, last.reward, last.rewards) == ("terminated", 4.0, {"total": 4.0})
        assert (s.end, s.reward, s.ended) == ("terminated", 4.0, True)


async def test_what_the_model_did_wrong_is_an_observation(client: Client) -> None:
    async with client.session() as s:
        unknown = await s.step(ToolCall(name="nothing", id="call_1"))
        assert unknown.observation.parts[0].is_error  # type: ignore[union-attr]
        twice = await s.step(ToolCall(name="add", arguments='"{\\"value\\": 1}"', id="call_2"))
        assert twice.observation.parts[0].call_id == "call_2"  # type: ignore[union-attr]
        assert twice.observation.parts[0].is_error  # type: ignore[union-attr]


async def test_steps_after_the_end_are_typed_errors_and_never_results(client: Client) -> None:
    async with client.session() as s:
        await s.step("end")
        with pytest.raises(SessionEnded):
            await s.step("more")
    async with client.session() as s:
        await s.close()
        with pytest.raises(SessionEnded):
            await s.step("more")
        assert s.reward is None


async def test_a_broken_environment_is_an_error_without_a_reward(client: Client) -> None:
    async with client.session() as s:
        with pytest.raises(EnvironmentFailed, match="broken on purpose"):
            await s.call("fail")
        status = await s.status()
        assert (status.end, status.reward) == ("error", None)
        assert (s.end, s.reward) == ("error", None)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"task": "train-999"}, NotFound),
        ({"environment": "arenas"}, NotFound),
        ({"split": "nowhere"}, NotFound),
        ({"seed": -1}, InvalidRequest),
        ({"taks": "train-1"}, InvalidRequest),
        ({"task": "test-2"}, EnvironmentFailed),
    ],
)
async def test_what_cannot_be_opened_is_a_typed_error(client: Client, given: dict[str, object], kind: type) -> None:
    with pytest.raises(kind):
        await client.open(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("action", [None, 3, [], ["text"], {"message": "hi"}])
async def test_what_is_no_action_is_refused_before_it_is_sent(plain_client: Client, action: object) -> None:
    async with plain_client.session() as s:
        with pytest.raises(InvalidRequest, match="an action is a str"):
            await s.step(action)  # type: ignore[arg-type]
        assert (await s.status()).steps == 0


async def test_leaving_the_block_closes_the_session(client: Client) -> None:
    async with client.session() as s:
        pass
    status = await s.status()
    assert (status.end, status.reward) == ("closed", None)


async def test_a_cancelled_block_closes_its_session(plain_client: Client) -> None:
    opened = asyncio.Queue[str]()
    sessions = []

    async def work() -> None:
        async with plain_client.session() as s:
            sessions.append(s)
            opened.put_nowait(s.id)
            await s.call("wait", seconds=60)

    task = asyncio.create_task(work())
    await opened.get()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await sessions[0].status()).end == "closed"


async def test_a_cancelled_step_taken_again_gives_its_result(client: Client) -> None:
    async with client.session() as s:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await s.call("wait", seconds=0.3)
        with pytest.raises(Conflict):
            await s.step("something else")
        assert (await s.call("wait", seconds=0.3)).observation.text == "run 1"
        assert (await s.call("wait", seconds=0)).observation.text == "run 2"


async def test_status_waits_for_the_end(client: Client) -> None:
    async with client.session() as s:
        assert (await s.status()).state == "open"
        waiting = asyncio.create_task(s.status(wait_s=30))
        await s.step("end")
        assert (await waiting).end == "terminated"


async def test_a_session_is_resumed_from_another_connection(
    client: Client, server: Any, options: ConnectOptions
) -> None:
    s = await client.open(task="train-5", seed=1)
    await s.call("add", value=2)
    without_token: ConnectOptions = {**options, "sessions_only": True}
    async with connect(server.url, **without_token) as other:
        again = await other.resume(s.id, s.tokens.session)
        assert (again.task.id, again.steps, again.observation.text) == ("train-5", 1, "2")
        assert abs(again.lease_s - s.lease_s) < 1
        assert (await again.call("finish_now")).reward == 2.0
    assert (await s.status()).end == "terminated"


async def test_resuming_needs_the_sessions_own_token(client: Client) -> None:
    async with client.session() as one, client.session() as two:
        with pytest.raises(Forbidden):
            await client.resume(one.id, two.tokens.session)
        with pytest.raises(RequestError):
            await client.resume(one.id, one.tokens.agent or "")


async def test_the_same_key_opens_the_same_session_once(client: Client) -> None:
    first = await client.open(task="train-1", key="the-same-key")
    second = await client.open(task="train-1", key="the-same-key")
    assert first.id == second.id
    with pytest.raises(Conflict):
        await client.open(task="train-2", key="the-same-key")
    await first.close()


async def test_a_batch_answers_each_step_and_spares_the_others(client: Client) -> None:
    async with client.session() as a, client.session() as b, client.session() as c:
        await c.step("end")
        results = await client.step_batch(
            [(a, "one"), (b, ToolCall(name="fail")), (a, "two"), (c, "late"), (b, "after")]
        )
        assert [one.observation.text if isinstance(one, StepResult) else type(one) for one in results] == [
            "1: one",
            EnvironmentFailed,
            "2: two",
            SessionEnded,
            SessionEnded,
        ]
        assert (a.steps, b.end, c.end) == (2, "error", "terminated")
        assert all(isinstance(one, StepResult | EnvhubError) for one in results)


async def test_the_servers_record_is_read_as_a_trajectory(client: Client) -> None:
    async with client.session(task="train-9") as s:
        await s.step("hi")
        await s.step("end")
        record = await s.trajectory()
    assert [step.result.observation.text for step in record.steps] == ["1: hi", "2: end"]
    assert (record.open.task.id, record.reward, record.end) == ("train-9", 1.0, "terminated")


async def test_the_server_is_described(client: Client) -> None:
    info = await client.info()
    assert [environment.name for environment in info.environments] == ["arena"]
    assert (await client.environment()).version == "1.2.3"
    schema = await client.schema("arena")
    assert {tool["name"] for tool in schema.tools} == {"add", "wait", "paint", "fail", "finish_now"}
    with pytest.raises(NotFound):
        await client.environment("other")


async def test_tasks_come_by_pages_and_as_a_list(client: Client) -> None:
    everything = [task.id async for task in client.iter_tasks("train")]
    assert everything == [f"train-{number}" for number in range(250)]
    assert [task.id for task in await client.tasks("test")] == ["test-0", "test-1", "test-2"]
    assert [task.id for task in await client.tasks("train", offset=90, limit=120)] == everything[90:210]


async def test_numbers_json_does_not_have_are_refused_here(client: Client) -> None:
    async with client.session() as s:
        with pytest.raises(InvalidRequest):
            await s.call("add", value=object())
    async with connect(client.url, "a-token-for-tests-only") as plain, plain.session() as s:
        with pytest.raises(InvalidRequest, match="NaN"):
            await s.call("add", value=float("nan"))
        assert (await s.step("NaN and Infinity are words here")).observation.text.endswith("words here")
