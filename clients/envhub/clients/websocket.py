"""The WebSocket transport: one connection for any number of sessions, replies in any order.

One task owns the connection. It reads replies; when the connection breaks it dials again with growing pauses, attaches
the held sessions, sends again what is unanswered, and gives up when the longest lease must have ended. After that the
next request starts it anew, so a client that lived through an outage is as good as a new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from envhub.clients.backoff import Backoff
from envhub.clients.codec import Codec
from envhub.clients.handshake import dial
from envhub.clients.transport import Held, patience_s
from envhub.sdk.errors import (
    ConnectionLost,
    EnvhubError,
    LeaseLost,
    ServerError,
    TooLarge,
    from_problem,
)
from envhub.sdk.messages import JsonObject

log = logging.getLogger("envhub.clients")

ATTACH_TIMEOUT_S = 30.0
ATTACH_TOGETHER = 32
MAX_SENDS = 8
"""A request that was on its way through so many broken connections may be what breaks them."""
FRAME_TOO_LARGE = 1009
LARGE = 1 << 20
"""Length of a frame from which on the server's limit is looked up."""


@dataclass(slots=True)
class _Pending:
    op: str
    frame: str | bytes
    session: str | None
    reply: asyncio.Future[Any]
    sends: int = field(default=0)


class WebSocketTransport:
    """See `Transport`.

    Args:
        url: http(s) address of the server.
        token: server token; None: only attach and what follows from it.
        codec: how frames are written.
    """

    def __init__(self, url: str, token: str | None, codec: Codec) -> None:
        self._url = url
        self._token = token
        self._codec = codec
        self._numbers = count(1)
        self._pending: dict[int, _Pending] = {}
        self._held: dict[str, Held] = {}
        self._lost: dict[str, EnvhubError] = {}
        self._gone: str | None = None
        self._frame_limit: float | None = None
        self._socket: ClientConnection | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(
            self._run(await dial(self._url, self._token, self._codec)), name="envhub connection"
        )

    async def request(self, op: str, fields: JsonObject, timeout_s: float) -> Any:
        session = fields.get("session")
        if self._lost and session in self._lost:
            raise self._lost[session]
        if self._gone is not None:
            raise ConnectionLost(self._gone)
        number = next(self._numbers)
        frame = self._codec.encode({"id": number, "op": op, **fields})
        if len(frame) >= LARGE:
            await self._check_size(frame, timeout_s)
        reply = asyncio.get_running_loop().create_future()
        pending = self._pending[number] = _Pending(op, frame, session, reply)
        deadline = asyncio.timeout(timeout_s)
        try:
            async with deadline:
                if self._socket is not None:
                    await self._send(self._socket, pending)
                elif self._task is None or self._task.done():
                    self._task = asyncio.create_task(self._run(None), name="envhub connection")
                return await reply
        except TimeoutError:
            if not deadline.expired():
                raise  # StepTimeout, from the server, is one too.
            raise ConnectionLost(f"{self._url} did not answer {op!r} within {timeout_s:g} s") from None
        finally:
            del self._pending[number]

    def hold(self, session: str, token: str, lease_s: float) -> None:
        self._held[session] = Held(token, lease_s)

    def release(self, session: str) -> None:
        self._held.pop(session, None)
        self._lost.pop(session, None)

    def abandon(self, reason: str) -> None:
        self._gone = reason
        if self._task is not None:
            self._task.cancel()
        self._fail(ConnectionLost(reason))

    async def close(self) -> None:
        self._held.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=5)
        self._fail(ConnectionLost("the client was closed"))

    async def _check_size(self, frame: str | bytes, timeout_s: float) -> None:
        """Refuse here what the server would close the connection for: its reason is lost where it arrives while we
        still send. Without the server token the limit cannot be asked for, and only that reason tells."""
        if self._frame_limit is None and self._token is not None:
            limits: dict[str, float] = (await self.request("info", {}, timeout_s))["limits"]
            self._frame_limit = limits.get("frame_bytes")
        size = len(frame.encode() if isinstance(frame, str) else frame)
        if self._frame_limit is not None and size > self._frame_limit:
            raise TooLarge(f"a frame of {size} bytes; {self._url} takes {self._frame_limit:.0f}. Nothing was executed")

    async def _run(self, socket: ClientConnection | None) -> None:
        """Own the connection while anything needs one. The broad except: whatever goes wrong here must reach those
        who wait for replies."""
        backoff: Backoff | None = None
        try:
            while True:
                if socket is None:
                    socket, backoff = await self._redial(backoff)
                if await self._converse(socket):
                    backoff = None
                socket = None
                if not self._pending and not self._held:
                    return
        except Exception as error:
            while isinstance(error, ExceptionGroup):
                error = error.exceptions[0]
            known = error if isinstance(error, EnvhubError) else None
            self._fail(known or ServerError(f"the connection to {self._url} failed: {error!r}"))
            if known is None:
                log.exception("the connection to %s failed", self._url)

    async def _redial(self, backoff: Backoff | None) -> tuple[ClientConnection, Backoff]:
        """A new connection. With the backoff of one on which nothing was heard, after a pause: a peer that accepts and
        hangs up must not be dialled without end."""
        if backoff is not None and not await backoff.wait():
            raise ConnectionLost(f"{self._url} accepts connections and closes them unanswered")
        backoff = backoff or Backoff(patience_s(self._held))
        while True:
            try:
                return await dial(self._url, self._token, self._codec), backoff
            except ConnectionLost as error:
                log.info("no connection to %s: %s", self._url, error)
                if not await backoff.wait():
                    raise

    async def _converse(self, socket: ClientConnection) -> bool:
        """Attach, send what is unanswered, and read replies until the connection ends; True where there were any."""
        attaching: dict[int, _Pending] = {}
        try:
            async with asyncio.TaskGroup() as group:
                resuming = group.create_task(self._resume(socket, attaching))
                heard = await self._read(socket, attaching)
                resuming.cancel()
        finally:
            self._socket = None
            await socket.close()
        if socket.close_code == FRAME_TOO_LARGE:
            self._refuse_largest()
        return heard

    async def _resume(self, socket: ClientConnection, attaching: dict[int, _Pending]) -> None:
        sessions = list(self._held.items())
        try:
            for start in range(0, len(sessions), ATTACH_TOGETHER):
                async with asyncio.timeout(ATTACH_TIMEOUT_S), asyncio.TaskGroup() as group:
                    for session, held in sessions[start : start + ATTACH_TOGETHER]:
                        group.create_task(self._attach(socket, attaching, session, held))
        except TimeoutError:
            await socket.close()  # As good as broken: dial again.
            return
        self._socket = socket
        for pending in list(self._pending.values()):
            await self._send(socket, pending)

    async def _attach(self, socket: ClientConnection, attaching: dict[int, _Pending], session: str, held: Held) -> None:
        number = next(self._numbers)
        frame = self._codec.encode({"id": number, "op": "attach", "session": session, "token": held.token})
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        attaching[number] = _Pending("attach", frame, session, reply)
        await self._send(socket, attaching[number])
        try:
            await reply
        except EnvhubError as error:
            self._lose(session, error)

    def _lose(self, session: str, error: EnvhubError) -> None:
        """A held session that cannot be attached again: tell those who wait for it."""
        if not isinstance(error, LeaseLost):
            error = ConnectionLost(
                f"the connection broke and the session could not be attached again: {error}; "
                "was the server restarted? A new episode needs a new session",
                session=session,
            )
        self._held.pop(session, None)
        self._lost[session] = error
        for pending in self._pending.values():
            if pending.session == session and not pending.reply.done():
                pending.reply.set_exception(error)

    async def _send(self, socket: ClientConnection, pending: _Pending) -> None:
        if pending.reply.done():
            return
        pending.sends += 1
        if pending.sends > MAX_SENDS:
            pending.reply.set_exception(
                ConnectionLost(f"the connection broke {MAX_SENDS} times while {pending.op!r} was unanswered")
            )
            return
        # The reading task sees a broken connection too, and sends again after reconnecting.
        with contextlib.suppress(ConnectionClosed):
            await socket.send(pending.frame)

    async def _read(self, socket: ClientConnection, attaching: dict[int, _Pending]) -> bool:
        """Take replies until the connection ends; True where there were any."""
        decode, waiting, heard = self._codec.decode, self._pending, False
        try:
            while True:
                reply = decode(await socket.recv())
                heard = True
                number = reply.get("id")
                pending = waiting.get(number) or attaching.get(number)
                if pending is None:
                    self._unexpected(reply)
                elif not pending.reply.done():
                    if "ok" in reply:
                        pending.reply.set_result(reply["ok"])
                    else:
                        pending.reply.set_exception(from_problem(reply["error"]))
        except ConnectionClosed as error:
            log.info("the connection to %s broke: %s", self._url, error)
            return heard
        except (ValueError, AttributeError, KeyError, TypeError) as error:
            raise ServerError(f"{self._url} sent a frame that is no reply of the protocol: {error}") from error

    def _unexpected(self, reply: JsonObject) -> None:
        """Late replies to requests nobody waits for are normal; an error without an id is not."""
        if reply.get("id") is None:
            log.warning("%s could not read a frame of ours: %s", self._url, reply.get("error"))

    def _refuse_largest(self) -> None:
        """The server closed since a frame was too large; sending it again would close it again."""
        waiting = [pending for pending in self._pending.values() if not pending.reply.done()]
        if waiting:
            largest = max(waiting, key=lambda pending: len(pending.frame))
            size = len(largest.frame)
            largest.reply.set_exception(TooLarge(f"a frame of {size} bytes is over the limit of {self._url}"))

    def _fail(self, error: EnvhubError) -> None:
        for pending in self._pending.values():
            if not pending.reply.done():
                pending.reply.set_exception(error)


__all__ = ["WebSocketTransport"]
