"""The WebSocket transport: many sessions a connection, replies in any order, batch frames; JSON text or msgpack.

Written on bare ASGI messages: this is the hot path, and a framework's wrapper costs as much as a step.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from envhub.sdk.errors import AtCapacity, EnvhubError, InvalidRequest, ServerError, Unauthorized
from envhub.sdk.wire import SUBPROTOCOLS
from envhub.server.dispatch import Dispatcher, Frame, failure
from envhub.server.operations import Operations, require_json
from envhub.server.tokens import bearer

_JSON_GROWTH = 6
"""Bytes of JSON that one character of a text frame, or one byte of a binary one, can be at most."""


class Connection:
    """One WebSocket."""

    def __init__(self, operations: Operations, send: Any, *, binary: bool, may_open: bool) -> None:
        self._dispatcher = Dispatcher(operations, may_open=may_open)
        self._limit = operations.registry.limits.in_flight
        self._send = send
        self._binary = binary
        self._outbox: list[str | bytes] = []
        self._outbox_ready = asyncio.Event()
        self._room = asyncio.Event()
        self._in_flight = 0

    def received(self, data: bytes | str) -> None:
        """Take one frame; its reply will be queued, at once or later."""
        id_: int | str | None = None
        self._in_flight += 1
        try:
            frame = self._decode(data)
            id_ = _id_of(frame)
            if self._in_flight > self._limit:
                raise AtCapacity(f"{self._limit} requests are unanswered on this connection", retry_after_s=1.0)
        except EnvhubError as error:
            self._queue(id_, failure(error))
            return
        self._dispatcher.dispatch(frame, _JSON_GROWTH * len(data), partial(self._queue, id_))

    def _decode(self, data: bytes | str) -> Frame:
        if isinstance(data, str) == self._binary:
            raise InvalidRequest(
                f"this connection speaks {'msgpack in binary' if self._binary else 'JSON in text'} frames"
            )
        try:
            frame: Any = msgspec.msgpack.decode(data) if isinstance(data, bytes) else msgspec.json.decode(data)
            if self._binary:
                require_json(frame)
        except (msgspec.DecodeError, UnicodeError, TypeError, RecursionError) as error:
            raise InvalidRequest(f"the frame is not {'msgpack' if self._binary else 'JSON'}: {error}") from error
        if not isinstance(frame, dict):
            raise InvalidRequest("a frame is an object")
        return frame

    def _queue(self, id_: int | str | None, payload: bytes) -> None:
        self._outbox.append(self._encode(id_, payload))
        self._outbox_ready.set()

    def _encode(self, id_: int | str | None, payload: bytes) -> str | bytes:
        head = b"%d" % id_ if type(id_) is int else msgspec.json.encode(id_)
        frame = b'{"id":%b,%b}' % (head, payload)
        if not self._binary:
            return frame.decode()
        try:
            return msgspec.msgpack.encode(msgspec.json.decode(frame))
        except (msgspec.DecodeError, OverflowError) as error:
            text = f"the reply has no msgpack form ({error}); it has one as JSON: connect with {SUBPROTOCOLS[0]}"
            return self._encode(id_, failure(ServerError(text)))

    async def room(self) -> None:
        """Wait while the peer does not read its replies: its own sending then backs up, not our memory."""
        while len(self._outbox) > 2 * self._limit:
            self._room.clear()
            await self._room.wait()

    async def pump(self) -> None:
        """Send queued replies until cancelled."""
        while True:
            await self._outbox_ready.wait()
            self._outbox_ready.clear()
            while self._outbox:
                frames, self._outbox = self._outbox, []
                kind = "bytes" if self._binary else "text"
                for frame in frames:
                    await self._send({"type": "websocket.send", kind: frame})
                    self._in_flight -= 1
                self._room.set()

    def stop(self) -> None:
        """Drop what this connection waits for. Sessions and their steps go on."""
        self._dispatcher.stop()


def _id_of(frame: Frame) -> int | str:
    id_ = frame.pop("id", None)
    if type(id_) is not int and type(id_) is not str:
        raise InvalidRequest("a frame needs an `id`, a number or a string")
    return id_


class WebSocketEndpoint:
    """The ASGI application at /v1/ws."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()  # websocket.connect
        offered = scope.get("subprotocols") or []
        chosen = next((name for name in offered if name in SUBPROTOCOLS), None)
        may_open = self._may_open(scope)
        if may_open is None or (offered and chosen is None):
            await send({"type": "websocket.close", "code": 1008})
            return
        await send({"type": "websocket.accept", "subprotocol": chosen})
        binary = chosen == "envhub.v1.msgpack"
        connection = Connection(self._operations, send, binary=binary, may_open=may_open)
        self._operations.registry.metrics.connections += 1
        loop = asyncio.get_running_loop()
        both = loop.create_task(connection.pump()), loop.create_task(self._receive(receive, connection))
        try:
            # Either's end is the connection's: a peer that left without reading makes the pump fail first.
            ended, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            with suppress(OSError):  # what the pump meets then
                ended.pop().result()
        finally:
            self._operations.registry.metrics.connections -= 1
            connection.stop()
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)

    def _may_open(self, scope: Any) -> bool | None:
        """True with the server token, False without any, None with one that is not valid."""
        header = next((value for name, value in scope["headers"] if name == b"authorization"), None)
        if header is None:
            return False
        try:
            caller = self._operations.registry.tokens.verify(bearer(header.decode("latin-1")))
        except Unauthorized:
            return None
        return caller.principal == "server"

    async def _receive(self, receive: Any, connection: Connection) -> None:
        while True:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            connection.received(message["bytes"] if text is None else text)
            await connection.room()


__all__ = ["Connection", "WebSocketEndpoint"]
