"""protocol.websocket_*: the same operations over one connection, in any order, whatever else is sent on it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from envhub.sdk.messages import JsonObject
from envhub.validate.bench import Bench
from envhub.validate.protocol.expect import same, session, step_body
from envhub.validate.report import CheckFailed, NotChecked

REPLY_DEADLINE_S = 60.0
JSON, MSGPACK = Subprotocol("envhub.v1.json"), Subprotocol("envhub.v1.msgpack")


class Connection:
    """One WebSocket, frame by frame."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._early: dict[Any, JsonObject] = {}

    async def send(self, frame: Any) -> None:
        """Send a frame; a str or bytes goes out as it is."""
        await self._socket.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))

    async def receive(self) -> JsonObject:
        """The next reply, whatever it answers."""
        async with asyncio.timeout(REPLY_DEADLINE_S):
            reply: JsonObject = json.loads(await self._socket.recv())
        return reply

    async def reply_to(self, id_: Any) -> JsonObject:
        """The reply of that id; others that come first are kept."""
        while id_ not in self._early:
            reply = await self.receive()
            self._early[reply.get("id")] = reply
        return self._early.pop(id_)

    async def ask(self, frame: JsonObject) -> Any:
        """Send a request that has to succeed; what it replied."""
        await self.send(frame)
        reply = await self.reply_to(frame["id"])
        if "ok" not in reply:
            raise CheckFailed(f"{frame['op']} over WebSocket was refused: {reply}")
        return reply["ok"]

    async def refused(self, frame: Any, id_: Any, code: str) -> None:
        """Send what has to be refused with that code, under that id.

        Raises:
            CheckFailed: it was not.
        """
        await self.send(frame)
        reply = await self.receive()
        if reply.get("id") != id_ or reply.get("error", {}).get("code") != code:
            raise CheckFailed(f"the frame {str(frame)[:80]!r} should be refused with {code} under id {id_!r}: {reply}")


@asynccontextmanager
async def _socket(bench: Bench, protocol: Subprotocol, *, with_token: bool = True) -> AsyncIterator[ClientConnection]:
    url = bench.api.url.replace("http", "ws", 1) + "/v1/ws"
    headers = {"Authorization": f"Bearer {bench.api.token}"} if with_token else {}
    async with connect(url, subprotocols=[protocol], additional_headers=headers, max_size=None) as socket:
        same(socket.subprotocol, protocol, "the server chose another subprotocol")
        yield socket


@asynccontextmanager
async def connected(bench: Bench, *, with_token: bool = True) -> AsyncIterator[Connection]:
    """A WebSocket connection to the server, for JSON frames."""
    async with _socket(bench, JSON, with_token=with_token) as socket:
        yield Connection(socket)


def _open(bench: Bench, id_: int) -> JsonObject:
    return {"id": id_, "op": "open", "environment": bench.name, "task": bench.tasks[0].id, "wait_s": 60}


async def check_frames(bench: Bench) -> None:
    """Garbage is answered with an error, and the connection and its session go on."""
    async with connected(bench) as connection:
        opened = await connection.ask(_open(bench, 1))
        step = {"op": "step", "session": opened["session"], **step_body(0)}
        await connection.refused("not json", None, "invalid_request")
        await connection.refused("[1, 2]", None, "invalid_request")
        await connection.refused("[" * 50_000, None, "invalid_request")
        await connection.refused({"op": "info"}, None, "invalid_request")
        await connection.refused({"id": 2}, 2, "invalid_request")
        await connection.refused({"id": 3, "op": "nothing"}, 3, "invalid_request")
        await connection.refused({"id": "four", "op": "info", "unknown": 1}, "four", "invalid_request")
        await connection.refused({"id": 5, **step, "unknown": 1}, 5, "invalid_request")
        await connection.refused({"id": 6, **step, "index": 3}, 6, "conflict")
        first = await connection.ask({"id": 7, **step})
        same(first, await connection.ask({"id": 8, **step}), "the last step again must give its stored result")
        await connection.ask({"id": 9, "op": "close", "session": opened["session"]})


async def check_binary(bench: Bench) -> None:
    """The msgpack subprotocol says the same in binary frames; garbage and text frames are refused, and it goes on."""
    async with _socket(bench, MSGPACK) as socket:
        for frame in (b"\xc1", b"\x93\x01", '{"id": 1, "op": "info"}'):
            await socket.send(frame)
            reply = await _unpacked(socket)
            same(
                (reply.get("id"), reply.get("error", {}).get("code")), (None, "invalid_request"), f"the frame {frame!r}"
            )
        await socket.send(msgspec.msgpack.encode({"id": 2, "op": "schema", "environment": bench.name}))
        reply = await _unpacked(socket)
        same(reply.get("ok"), bench.schema.model_dump(mode="json"), "the schema in msgpack and over HTTP")


async def check_size(bench: Bench) -> None:
    """A frame over the byte limit closes the connection with 1009, and its session lives on."""
    limit = bench.info.limits.get("frame_bytes")
    if limit is None:
        raise NotChecked("the server names no limit frame_bytes")
    async with session(bench) as opened:
        async with _socket(bench, JSON) as socket:
            with suppress(ConnectionClosed):  # it may be closed before all of it is sent
                await socket.send(json.dumps({"id": 1, "op": "info", "padding": "x" * int(limit)}))
            await asyncio.wait_for(socket.wait_closed(), REPLY_DEADLINE_S)
            same(socket.close_code, 1009, "the code of a connection closed for a frame that was too large")
        same((await bench.api.status(opened)).state, "open", "a session after a frame that was too large")


async def _unpacked(socket: ClientConnection) -> JsonObject:
    async with asyncio.timeout(REPLY_DEADLINE_S):
        frame = await socket.recv()
    if not isinstance(frame, bytes):
        raise CheckFailed(f"the msgpack subprotocol was answered with a text frame: {frame[:80]!r}")
    reply: JsonObject = msgspec.msgpack.decode(frame)
    return reply


async def check_order(bench: Bench) -> None:
    """A request that waits holds up no other; every reply carries the id of its request."""
    async with connected(bench) as connection:
        opened = await connection.ask(_open(bench, 1))
        await connection.send({"id": "wait", "op": "get", "session": opened["session"], "wait_s": 30})
        await connection.send({"id": "info", "op": "info"})
        same((await connection.receive()).get("id"), "info", "a waiting get held up the next request")
        await connection.send({"id": "close", "op": "close", "session": opened["session"]})
        ended = await connection.reply_to("wait")
        same(ended["ok"]["end"], "closed", "a waiting get was not told of the end")
        await connection.reply_to("close")


async def check_resume(bench: Bench) -> None:
    """A session outlives its connection; another takes it up by its token, and by that alone."""
    async with session(bench) as other:
        async with connected(bench) as connection:
            opened = await connection.ask(_open(bench, 1))
            step = {"op": "step", "session": opened["session"], **step_body(0)}
            first = await connection.ask({"id": 2, **step})
        async with connected(bench, with_token=False) as connection:
            attach = {"op": "attach", "session": opened["session"]}
            await connection.refused({"id": 1, **step}, 1, "unauthorized")
            await connection.refused({"id": 2, **attach, "token": other.session_token}, 2, "forbidden")
            status = await connection.ask({"id": 3, **attach, "token": opened["session_token"]})
            same(status["steps"], 1, "the session lost its steps with its connection")
            same(await connection.ask({"id": 4, **step}), first, "the last step over another connection")
            await connection.ask({"id": 5, "op": "close", "session": opened["session"]})
            await connection.send(_open(bench, 6))
            refusal = (await connection.reply_to(6)).get("error", {}).get("code")
            if refusal not in ("unauthorized", "forbidden"):
                raise CheckFailed("a WebSocket without the server token opened a session")


__all__ = ["check_binary", "check_frames", "check_order", "check_resume", "check_size"]
