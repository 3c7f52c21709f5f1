"""What a broken connection may cost: nothing that was acknowledged, and never a silent new episode."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from envhub.clients import ConnectOptions, OpenOptions, RandomPolicy, Session, connect, rollouts
from envhub.clients.codec import JsonCodec
from envhub.clients.transport import patience_s
from envhub.clients.websocket import WebSocketTransport
from envhub.sdk import ConnectionLost, LeaseLost, NotFound, SessionEnded, StepResult, TooLarge

Through = AbstractAsyncContextManager[tuple[Any, str]]


async def test_a_step_survives_its_connection(through_proxy: Through, server: Any, options: ConnectOptions) -> None:
    async with through_proxy as (proxy, url), connect(url, server.token, **options) as client:
        s = await client.open(task="train-1")
        await s.call("add", value=2)
        step = asyncio.create_task(s.call("wait", seconds=0.3))
        await asyncio.sleep(0.1)
        proxy.cut()
        assert (await step).observation.text == "run 1"
        assert (await s.call("finish_now")).reward == 2.0


async def test_a_step_whose_reply_was_lost_is_taken_once(
    through_proxy: Through, server: Any, options: ConnectOptions
) -> None:
    async with through_proxy as (proxy, url), connect(url, server.token, **options) as client:
        s = await client.open()
        proxy.mute = True
        step = asyncio.create_task(s.step("hello"))
        await asyncio.sleep(0.1)
        proxy.mute = False
        proxy.cut()
        assert (await step).observation.text == "1: hello"
        assert (await s.step("again")).observation.text == "2: again"
        await s.close()


async def test_an_open_whose_reply_was_lost_leaves_one_session(
    start_server: Any, open_proxy: Any, options: ConnectOptions
) -> None:
    server = start_server().start()
    async with open_proxy(server.port) as (proxy, url), connect(url, server.token, **options) as client:
        await client.info()
        proxy.mute = True
        opening = asyncio.create_task(client.open())
        await asyncio.sleep(0.1)
        proxy.mute = False
        proxy.cut()
        s = await opening
        assert (await client.info()).sessions == 1
        await s.close()


async def test_many_sessions_go_on_over_one_new_connection(through_proxy: Through, server: Any) -> None:
    async with through_proxy as (proxy, url), connect(url, server.token) as client:
        async with contextlib.AsyncExitStack() as stack:
            sessions = [await stack.enter_async_context(client.session()) for _ in range(40)]
            for number in range(3):
                steps = [asyncio.create_task(s.call("wait", seconds=0.1)) for s in sessions]
                await asyncio.sleep(0.03)
                proxy.cut()
                assert {(await step).observation.text for step in steps} == {f"run {number + 1}"}
        assert proxy.connections == 4


async def test_an_idle_client_reconnects_at_its_next_call(
    through_proxy: Through, server: Any, options: ConnectOptions
) -> None:
    async with through_proxy as (proxy, url), connect(url, server.token, **options) as client:
        await client.info()
        proxy.cut()
        await asyncio.sleep(0.05)
        assert (await client.info()).max_sessions == 500


async def test_a_session_lost_with_its_server_is_said_so_and_the_next_one_works(
    start_server: Any, options: ConnectOptions
) -> None:
    """A client must not keep a dead socket: a step says the session is lost, a new session works again."""
    first = start_server().start()
    async with connect(first.url, first.token, **options) as client:
        s = await client.open(lease_s=5)
        await s.step("before")
        first.stop()
        start_server(port=first.port).start()
        with pytest.raises((ConnectionLost, NotFound)):
            await s.step("after")
        async with client.session() as fresh:
            assert (await fresh.step("new")).observation.text == "1: new"
        with pytest.raises((ConnectionLost, NotFound)):
            await s.step("still lost")


async def test_a_server_that_stays_away_is_given_up_after_the_lease(start_server: Any, options: ConnectOptions) -> None:
    server = start_server().start()
    async with connect(server.url, server.token, **options) as client:
        s = await client.open(lease_s=0.6)
        server.stop()
        with pytest.raises(ConnectionLost, match="is it running"):
            await s.step("anyone?")


async def test_a_lease_that_ended_during_the_outage_is_lease_lost(
    through_proxy: Through, server: Any, options: ConnectOptions
) -> None:
    async with through_proxy as (proxy, url), connect(url, server.token, **options) as client:
        s = await client.open(lease_s=0.5)
        kept = await client.open(lease_s=30)
        proxy.refuse = True
        proxy.cut()
        await asyncio.sleep(1.0)
        proxy.refuse = False
        with pytest.raises((LeaseLost, SessionEnded)):
            await s.step("late")
        assert (await kept.step("in time")).observation.text == "1: in time"
        await kept.close()


async def test_leases_are_renewed_while_nobody_steps(server: Any, options: ConnectOptions) -> None:
    async with connect(server.url, server.token, **options) as client:
        sessions = [await client.open(lease_s=lease_s) for lease_s in (0.6, 0.9, None)]
        await asyncio.sleep(1.5)
        for s in sessions:
            assert (await s.status()).state == "open"
            await s.close()


async def test_nobody_renews_once_the_client_is_gone(server: Any, options: ConnectOptions) -> None:
    async with connect(server.url, server.token, **options) as client:
        left: Session = await client.open(lease_s=0.4)
    async with connect(server.url, server.token, **options) as client:
        await asyncio.sleep(0.8)
        with pytest.raises((LeaseLost, SessionEnded)):
            await (await client.resume(left.id, left.tokens.session)).step("late")


async def test_a_frame_over_the_limit_is_refused_before_it_is_sent(through_proxy: Through, server: Any) -> None:
    async with through_proxy as (proxy, url), connect(url, server.token) as client, client.session() as s:
        with pytest.raises(TooLarge, match="Nothing was executed"):
            await s.step("x" * (17 * 2**20))
        assert (await s.step("small")).observation.text == "1: small"
        assert proxy.connections == 1


async def test_a_frame_that_breaks_every_connection_is_given_up(through_proxy: Through, server: Any) -> None:
    """Without the server token the limit cannot be known; the frame must not be sent for ever."""
    async with (
        connect(server.url, server.token) as opener,
        opener.session() as s,
        through_proxy as (_, url),
        connect(url, sessions_only=True) as client,
    ):
        again = await client.resume(s.id, s.tokens.session)
        with pytest.raises((TooLarge, ConnectionLost)):
            await again.step("x" * (17 * 2**20))
        assert (await again.step("small")).observation.text == "1: small"


async def test_an_action_over_the_limit_is_too_large(server: Any, options: ConnectOptions) -> None:
    async with connect(server.url, server.token, **options) as client, client.session() as s:
        with pytest.raises(TooLarge):
            await s.step("x" * 1_100_000)
        assert (await s.step("small")).observation.text == "1: small"


async def test_a_request_unanswered_in_time_is_connection_lost(through_proxy: Through, server: Any) -> None:
    async with through_proxy as (proxy, url):
        transport = WebSocketTransport(url, server.token, JsonCodec())
        await transport.start()
        proxy.mute = True
        with pytest.raises(ConnectionLost, match="did not answer 'info' within"):
            await transport.request("info", {}, 0.1)
        await transport.close()
        proxy.refuse = True
        with pytest.raises(ConnectionLost):
            await transport.request("info", {}, 0.1)
        await transport.close()


def test_a_broken_connection_is_tried_for_as_long_as_the_longest_lease() -> None:
    transport = WebSocketTransport("http://127.0.0.1:1", None, JsonCodec())
    transport.hold("a", "token", 5.0)
    transport.hold("b", "token", 120.0)
    assert patience_s(transport._held) == 120.0
    transport.release("b")
    transport.release("a")
    assert patience_s(transport._held) == 10.0


async def test_a_batch_whose_reply_was_lost_is_executed_once(
    through_proxy: Through, server: Any, options: ConnectOptions
) -> None:
    async with through_proxy as (proxy, url), connect(url, server.token, **options) as client:
        sessions = [await client.open() for _ in range(4)]
        proxy.mute = True
        batch = asyncio.create_task(client.step_batch([(s, "hello") for s in sessions]))
        await asyncio.sleep(0.1)
        proxy.mute = False
        proxy.cut()
        first = await batch
        second = await client.step_batch([(s, "again") for s in sessions])
        texts = [one.observation.text for one in first + second if isinstance(one, StepResult)]
        assert texts == ["1: hello"] * 4 + ["2: again"] * 4
        for s in sessions:
            await s.close()


async def test_rollouts_over_a_connection_that_keeps_breaking_are_the_same(
    through_proxy: Through, server: Any, options: ConnectOptions
) -> None:
    def policy(_: OpenOptions) -> RandomPolicy:
        return RandomPolicy(seed=4, choices=["left", "right", "on", "end"])

    requests: list[OpenOptions] = [{"task": f"train-{number}"} for number in range(240)]
    async with connect(server.url, server.token) as client:
        calm = await rollouts(client, policy, requests)
    async with through_proxy as (proxy, url), connect(url, server.token, **options) as client:
        running = asyncio.create_task(rollouts(client, policy, requests, concurrency=8))
        while not running.done():
            proxy.cut()
            await asyncio.wait([running], timeout=0.1)
        broken = await running
    assert proxy.connections > 3
    assert [one.reward for one in broken] == [one.reward for one in calm]
    assert [[step.result for step in one.steps] for one in broken] == [
        [step.result for step in one.steps] for one in calm
    ]


async def test_a_server_that_accepts_and_hangs_up_is_not_dialled_without_end() -> None:
    dialled: list[ServerConnection] = []

    async def hang_up(connection: ServerConnection) -> None:
        dialled.append(connection)
        await connection.close()

    async with serve(hang_up, "127.0.0.1", 0, subprotocols=[Subprotocol(JsonCodec.subprotocol)]) as listener:
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        transport = WebSocketTransport(url, None, JsonCodec())
        transport.hold("session", "token", lease_s=0.6)
        await transport.start()
        with pytest.raises(ConnectionLost, match="closes them unanswered|unanswered"):
            await transport.request("get", {"session": "session"}, 30)
        assert len(dialled) <= 6  # pauses of 0.05, 0.1, 0.2 s and on fit into the lease
        await transport.close()
