"""Frames, bodies and headers that are wrong in every way: a typed refusal, and nothing else happens."""

from __future__ import annotations

import asyncio
import datetime
import json
from typing import Any

import httpx
import msgspec
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from envhub.sdk.errors import Conflict, InvalidRequest, TooLarge

AUTHORIZED = {"Authorization": "Bearer server-token-of-the-tests"}


def _connect(running: Any, encoding: str) -> Any:
    protocol = Subprotocol(f"envhub.v1.{encoding}")
    url = f"ws://127.0.0.1:{running.port}/v1/ws"
    return connect(url, additional_headers=AUTHORIZED, subprotocols=[protocol], max_size=None)


async def _answer(socket: ClientConnection, data: str | bytes) -> Any:
    await socket.send(data)
    reply = await socket.recv()
    return msgspec.msgpack.decode(reply) if isinstance(reply, bytes) else json.loads(reply)


HUGE = "1" * 5000
NO_FRAMES = [
    f'{{"id": 1, "op": "step", "session": "x", "index": {HUGE}}}',
    f'{{"id": {HUGE}, "op": "info"}}',
    '{"id": 1e999, "op": "info"}',
    '{"id": NaN, "op": "info"}',
    '{"id": true, "op": "info"}',
    '{"id": null, "op": "info"}',
    '{"id": "\\ud800", "op": "info"}',
    '{"id": 1, "op": "\\ud800"}',
    '{"id": 1, "op": ' + "[" * 100_000,
    '{"id": 1, "op": {}}',
    '{"id": 1, "op": "step", "session": [], "token": {}}',
    '{"id": 1, "op": "batch", "items": {}}',
    "\ufeff{}",
    "[]",
    "",
]


async def test_no_frame_breaks_the_connection(probe: Any) -> None:
    async with _connect(probe, "json") as socket:
        for frame in NO_FRAMES:
            reply = await _answer(socket, frame)
            assert reply["error"]["code"] == "invalid_request", frame
            assert reply["id"] in (None, 1)
        large = await _answer(socket, '{"id": %s, "op": "info"}' % ("1" * 300))
        assert large["id"] == int("1" * 300)
        assert "ok" in large


@pytest.mark.parametrize(
    "value",
    [b"bytes", float("nan"), float("inf"), {1: 2}, msgspec.msgpack.Ext(5, b"x"), datetime.datetime.now(datetime.UTC)],
)
async def test_msgpack_may_hold_what_json_may(probe: Any, value: Any) -> None:
    async with _connect(probe, "msgpack") as socket:
        opened = (await _answer(socket, msgspec.msgpack.encode({"id": 1, "op": "open", "task": "plain"})))["ok"]
        action = {"tool_calls": [{"name": "add", "arguments": {"first": [value]}}]}
        step = {"id": 2, "op": "step", "session": opened["session"], "index": 0, "action": action}
        assert (await _answer(socket, msgspec.msgpack.encode(step)))["error"]["code"] == "invalid_request"
        step["action"] = {"message": "win"}
        assert (await _answer(socket, msgspec.msgpack.encode(step)))["ok"]["result"]["reward"] == 1.0
        assert (await _answer(socket, b"\x81\x80\x01"))["error"]["code"] == "invalid_request"


async def test_an_action_too_deep_to_record_is_refused_before_it_runs(probe: Any, drive: Any) -> None:
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    async with drive(probe) as driver:
        opened = await driver.open(task="plain")
        with pytest.raises(InvalidRequest, match="JSON form"):
            await driver.step(opened, 0, {"tool_calls": [{"name": "add", "arguments": {"first": deep}}]})
        assert (await driver.get(opened))["steps"] == 0
        assert (await driver.step(opened, 0, {"message": "win"}))["result"]["reward"] == 1.0


async def test_the_action_limit_counts_bytes_on_every_transport(serve: Any, drive: Any) -> None:
    async with serve("probe", limits={"action_bytes": 1000}) as running, drive(running) as driver:
        opened = await driver.open(task="plain")
        for text in ("é" * 600, "\x01" * 200):
            with pytest.raises(TooLarge):
                await driver.step(opened, 0, {"message": text})
        await driver.step(opened, 0, {"message": "x" * 900})


async def test_a_lane_of_thousands_answered_at_once_is_no_recursion(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain")
        shown = {"session": opened["session"], "token": opened["session_token"]}
        wrong = [{"op": "step", **shown, "index": 7, "action": {"message": "part"}}] * 2000
        right = {"op": "step", **shown, "index": 0, "action": {"message": "win"}}
        replies = await driver.batch([*wrong, right, right, *wrong[:1000]])
        assert [reply["error"]["code"] for reply in replies[:2000]] == ["conflict"] * 2000
        assert replies[2000] == replies[2001]
        assert replies[2000]["ok"]["result"]["reward"] == 1.0
        assert {reply["error"]["code"] for reply in replies[2002:]} == {"session_ended"}


HANDSHAKE = b"\r\n".join(
    (
        b"GET /v1/ws HTTP/1.1",
        b"Host: x",
        b"Upgrade: websocket",
        b"Connection: Upgrade",
        b"Sec-WebSocket-Version: 13",
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        b"Authorization: Bearer server-token-of-the-tests",
        b"",
        b"",
    )
)


async def test_a_peer_that_leaves_without_reading_leaves_nothing(serve: Any) -> None:
    async with serve("probe", limits={"in_flight": 4}) as running:
        reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
        writer.write(HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        asked = b'{"id":1,"op":"info"}'
        writer.write((bytes([0x81, 0x80 | len(asked), 0, 0, 0, 0]) + asked) * 20_000)
        await asyncio.sleep(0.2)  # both sides' buffers are full by now
        writer.transport.abort()
        async with asyncio.timeout(20):
            while running.registry.metrics.connections:
                await asyncio.sleep(0.01)


async def test_a_long_connection_does_not_keep_what_is_forgotten(
    serve: Any, any_drive: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envhub.server.dispatch._ATTACHED_AT_LEAST", 4)
    held: list[set[str]] = []
    monkeypatch.setattr("envhub.server.websocket.Dispatcher", _noting(held))
    async with serve("probe", limits={"retain_sessions": 2}) as running, any_drive(running) as driver:
        for _ in range(50):
            opened = await driver.open(task="plain")
            await driver.close(opened)
        assert len(running.registry.sessions) == 2
        assert len(held[0]) <= 8


def _noting(held: list[set[str]]) -> Any:
    from envhub.server.dispatch import Dispatcher

    class Noted(Dispatcher):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            held.append(self._attached)

    return Noted


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("HEAD", "/v1/info", 405),
        ("OPTIONS", "/v1/sessions", 405),
        ("GET", "/v1/info/", 404),
        ("GET", "/v1/tasks?limit=1&limit=2", 400),
        ("GET", "/v1/tasks?offset=" + "9" * 5000, 400),
        ("GET", "/v1/schema?environment=%ff", 404),
        ("GET", "/v1/sessions/%2e%2e%2finfo", 404),
        ("POST", "/v1/sessions/a/b/mcp", 404),
        ("POST", "/v1/sessions/a%2fb/mcp", 404),
    ],
)
async def test_odd_requests_are_problems_with_their_own_status(probe: Any, method: str, path: str, status: int) -> None:
    async with httpx.AsyncClient(base_url=probe.url) as client:
        reply = await client.request(method, path, headers=AUTHORIZED)
        assert (reply.status_code, reply.headers["content-type"]) == (status, "application/problem+json")
        if method != "HEAD":
            assert reply.json()["status"] == status
        if status == 405:
            assert reply.headers["allow"]


@pytest.mark.parametrize("header", ["Basic é", "Basic %%%", "Basic", "Bearer", "Foo server-token-of-the-tests"])
@pytest.mark.parametrize("path", ["/", "/metrics", "/openapi.json", "/v1/info"])
async def test_odd_authorization_is_unauthorized(probe: Any, header: str, path: str) -> None:
    async with httpx.AsyncClient(base_url=probe.url) as client:
        reply = await client.get(path, headers={b"Authorization": header.encode("latin-1")})
        assert (reply.status_code, reply.json()["code"]) == (401, "unauthorized")


async def test_task_ids_and_bodies_nobody_can_mean(serve: Any) -> None:
    async with serve("frozen-lake") as running, httpx.AsyncClient(base_url=running.url, headers=AUTHORIZED) as client:
        for body, status in (
            (b'{"task": "train-%b"}' % (b"9" * 5000), 404),
            (b'{"seed": %b}' % HUGE.encode(), 400),
            (b'{"seed": 1e400}', 400),
            (b'{"lease_s": NaN}', 400),
            (b'{"key": "\\ud800\\ud800\\ud800\\ud800"}', 400),
            (b"\xff\xfe", 400),
            (b"[" * 100_000, 400),
        ):
            reply = await client.post("/v1/sessions", content=body)
            assert (reply.status_code, reply.json()["status"]) == (status, status), body[:30]
        assert running.registry.sessions == {}


async def test_a_caller_that_leaves_in_the_middle_of_its_body_takes_no_step(probe: Any, any_drive: Any) -> None:
    async with any_drive(probe) as driver:
        opened = await driver.open(task="plain")
        _, writer = await asyncio.open_connection("127.0.0.1", probe.port)
        head = f"POST /v1/sessions/{opened['session']}/step HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
        writer.write((head + f"Authorization: Bearer {opened['session_token']}\r\n\r\n").encode() + b'{"index": 0, ')
        await writer.drain()
        writer.transport.abort()
        with pytest.raises(Conflict):
            await driver.step(opened, 1, {"message": "part"})
        assert (await driver.step(opened, 0, {"message": "win"}))["result"]["reward"] == 1.0
