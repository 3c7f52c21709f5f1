"""connect: reach a server, or start one, and leave nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Literal, NoReturn, TypedDict, Unpack
from urllib.parse import urlsplit

from envhub.clients.channel import Channel, Deadlines
from envhub.clients.client import Client
from envhub.clients.codec import Encoding, choose_codec
from envhub.clients.local import LocalServer
from envhub.clients.transport import Transport
from envhub.sdk.errors import InvalidRequest, Unauthorized
from envhub.sdk.paths import find_server_token, servers_dir

EXIT_TIMEOUT_S = 30.0
"""How long a cancelled exit still waits: sessions are closed and a server of ours is stopped meanwhile."""
USE = "`async with connect(…) as client`; in code without async use `from envhub.clients.sync import connect`"


class ConnectOptions(TypedDict, total=False):
    """How to connect."""

    transport: Literal["websocket", "http"]
    """Default websocket; http where the network lets no WebSocket through."""
    encoding: Encoding
    """Of WebSocket frames; default json. msgpack needs msgspec."""
    deadlines: Deadlines
    """Seconds to wait for answers."""
    sessions_only: bool
    """Use no server token: only `Client.resume` and what follows from it."""
    server_options: Sequence[str]
    """More arguments of `envhub serve` where connect starts the server, e.g. ("--max-sessions", "32")."""
    start_timeout_s: float
    """Seconds until such a server must be ready; default 900, since a first start may build things."""


def connect(url_or_name: str, token: str | None = None, **options: Unpack[ConnectOptions]) -> Connection:
    """Connect to a server: `async with connect(…) as client`.

    Args:
        url_or_name: http(s) address of a server; or an environment's name or folder ("webarena", "./my-env"), for
            which a server is started that ends with the block.
        token: server token; default what a server of this machine and user left for its clients.
        options: see `ConnectOptions`.

    Raises (on entering):
        Unauthorized: no token was found, or it is not valid there.
        ConnectionLost: nothing answers at the address.
        InvalidRequest: no address, or the extra `serve` is missing.
    """
    unknown = set(options) - ConnectOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"connect() has no option {sorted(unknown)[0]!r}; see ConnectOptions")
    return Connection(url_or_name, token, options)


class Connection:
    """What `connect` returns: enter it with `async with`."""

    def __init__(self, url_or_name: str, token: str | None, options: ConnectOptions) -> None:
        self._target = url_or_name
        self._token = token
        self._options = options
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Client:
        async with AsyncExitStack() as stack:
            url, token, server = self._target, self._token, None
            if "://" not in url:
                if token is not None:
                    raise InvalidRequest(f"a token goes with an address; the server for {url!r} makes its own")
                server, url, token = await self._start_server(stack)
            else:
                _check_address(url)
                if token is None and not self._options.get("sessions_only"):
                    token = _find_token(url)
            transport = self._transport(url, token)
            stack.push_async_callback(transport.close)
            await transport.start()
            channel = Channel(url, transport, self._options.get("deadlines") or Deadlines())
            stack.push_async_callback(channel.close)
            if server is not None:
                watch = asyncio.create_task(_watch(server, transport), name="envhub serve watch")
                stack.callback(watch.cancel)
            self._stack = stack.pop_all()
            return Client(channel)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        closing = asyncio.ensure_future(self._stack.aclose())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await asyncio.wait([closing], timeout=EXIT_TIMEOUT_S)
            raise

    async def _start_server(self, stack: AsyncExitStack) -> tuple[LocalServer, str, str]:
        options = self._options
        server = LocalServer(self._target, options.get("server_options", ()), options.get("start_timeout_s", 900.0))
        stack.push_async_callback(server.stop)
        ready = await server.start()
        return server, ready.url, ready.token

    def _transport(self, url: str, token: str | None) -> Transport:
        if "://" in self._target and "server_options" in self._options:
            raise InvalidRequest("server_options are for a server that connect starts; this one runs already")
        token = None if self._options.get("sessions_only") else token
        kind = self._options.get("transport", "websocket")
        # Imported here, since each costs a part of this package's import time and one is enough.
        if kind == "websocket":
            from envhub.clients.websocket import WebSocketTransport

            return WebSocketTransport(url, token, choose_codec(self._options.get("encoding", "json")))
        if kind != "http":
            raise InvalidRequest(f"no transport {kind!r}; there are 'websocket' and 'http'")
        from envhub.clients.http import HttpTransport

        return HttpTransport(url, token)

    def __enter__(self) -> NoReturn:
        raise TypeError(f"connect() is asynchronous: use {USE}")

    def __exit__(self, *_: object) -> None: ...

    def __await__(self) -> NoReturn:
        raise TypeError(f"connect() is not awaited: use {USE}")

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"connect() is not yet a client, so it has no {name!r}: use {USE}")


async def _watch(server: LocalServer, transport: Transport) -> None:
    """A server of ours that has ended does not come back: nobody need wait for it until the leases are over."""
    transport.abandon(await server.wait_ended())


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none, half an IPv6 address
        fits = False
    if not fits:
        raise InvalidRequest(f"{url!r} is no address of a server: use http://HOST:PORT or https://…")


def _find_token(url: str) -> str:
    token = find_server_token(url)
    if token is None:
        raise Unauthorized(
            f"no token for {url}: no server of this user in {servers_dir()} has this address. Start one with "
            "`envhub serve NAME`; for a server of another user or machine pass connect(url, token=…)"
        )
    return token


__all__ = ["ConnectOptions", "Connection", "connect"]
