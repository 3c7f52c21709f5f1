"""Channel: frames between the server and a worker process, over one socket of a pair.

A frame is a four-byte big-endian length and then that many bytes: a word, a newline, and a JSON body that may be empty.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from typing import cast

_HEADER = 4


class ChannelClosed(Exception):
    """The other side is gone, or sent what is no frame."""


class FrameTooLarge(ChannelClosed):
    """The other side sent a frame over the limit; the channel is closed."""


class Channel(asyncio.Protocol):
    """One end. `receive` is for one caller at a time."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._buffer = bytearray()
        self._frames: deque[tuple[str, bytes]] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._closed: ChannelClosed | None = None
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def open(cls, end: socket.socket, limit_bytes: int) -> Channel:
        """A channel over a connected socket, which it owns from now on."""
        end.setblocking(False)
        _, channel = await asyncio.get_running_loop().create_connection(lambda: cls(limit_bytes), sock=end)
        return channel

    def send(self, word: str, body: bytes = b"") -> None:
        """Send a frame; nothing happens where the other side is gone, which `receive` tells."""
        if self._transport is None or self._transport.is_closing():
            return
        head = word.encode() + b"\n"
        self._transport.write((len(head) + len(body)).to_bytes(_HEADER, "big") + head + body)

    async def receive(self) -> tuple[str, bytes]:
        """The next frame's word and body.

        Raises:
            ChannelClosed: there will be none; says why.
        """
        while not self._frames:
            if self._closed is not None:
                raise self._closed
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        return self._frames.popleft()

    def close(self) -> None:
        """Send what is still to be sent, and close this end."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is no subclass of it

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= _HEADER and self._closed is None:
            size = int.from_bytes(self._buffer[:_HEADER], "big")
            if size > self._limit_bytes:
                return self._stop(FrameTooLarge(f"{size} bytes, where at most {self._limit_bytes} are allowed"))
            if len(self._buffer) < _HEADER + size:
                return None
            word, _, body = bytes(self._buffer[_HEADER : _HEADER + size]).partition(b"\n")
            del self._buffer[: _HEADER + size]
            self._frames.append((word.decode(errors="replace"), body))
        return self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop(ChannelClosed("the other side closed the channel"))

    def _stop(self, reason: ChannelClosed) -> None:
        self._closed = self._closed or reason
        self._buffer.clear()
        if self._transport is not None:
            self._transport.abort()
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


__all__ = ["Channel", "ChannelClosed", "FrameTooLarge"]
