"""A small real forward proxy that serves a few pages: what the sites' server is to the browser, without the sites.

Like the sites' own server it takes requests in absolute form, wants Proxy-Authorization on every one of them
before it looks at anything else, serves the hosts it was given, and answers 403 to the rest.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import urlsplit

MAX_HEAD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the proxy saw it."""

    user: str
    method: str
    url: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The path without its query."""
        return urlsplit(self.url).path


@dataclass(frozen=True, slots=True)
class Reply:
    """What the proxy answers."""

    body: bytes | str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0

    def encode(self) -> bytes:
        """The reply on the wire."""
        body = self.body.encode() if isinstance(self.body, str) else self.body
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), **self.headers}
        head = f"HTTP/1.1 {self.status} Status\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items())
        return head.encode() + b"\r\n" + body


Handler = Callable[[Request], Reply | Awaitable[Reply]]


class SiteProxy:
    """Serves `pages` (url without query -> HTML, Reply or handler) to the users in `users`."""

    def __init__(self, pages: dict[str, str | Reply | Handler]) -> None:
        self.pages = pages
        self.users: dict[str, str] = {}
        self.requests: list[Request] = []
        self.challenges = 0
        self.port = 0
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    @property
    def hosts(self) -> set[str]:
        """Hosts that are served; everything else is 403."""
        return {urlsplit(url).netloc for url in self.pages}

    async def __aenter__(self) -> SiteProxy:
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=MAX_HEAD_BYTES)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Stop listening and cut every open connection."""
        if self._server is not None:
            self._server.close()
            for writer in list(self._open):
                writer.transport.abort()
            self._server = None

    def seen(self, user: str | None = None) -> list[str]:
        """Addresses asked for, in order."""
        return [r.url for r in self.requests if user is None or r.user == user]

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while (request := await _read(reader)) is not None:
                writer.write((await self._answer(request)).encode())
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()

    async def _answer(self, request: Request) -> Reply:
        if not request.user or request.headers.get("proxy-authorization") != _basic(
            request.user, self.users.get(request.user, "")
        ):
            self.challenges += 1
            return Reply("who are you", 407, {"Proxy-Authenticate": 'Basic realm="sites"'})
        self.requests.append(request)
        if request.method == "CONNECT" or urlsplit(request.url).netloc not in self.hosts:
            return Reply("<title>Forbidden</title>only the sites are served here", 403)
        page = self.pages.get(request.url.split("?")[0].split("#")[0], Reply("<title>Not found</title>", 404))
        if callable(page):
            result = page(request)
            page = result if isinstance(result, Reply) else await result
        reply = page if isinstance(page, Reply) else Reply(page)
        await asyncio.sleep(reply.delay_s)
        return reply


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    line, *rows = head.rstrip("\r\n").split("\r\n")
    method, url, _ = line.split(" ", 2)
    headers = {k.lower(): v.strip() for k, _, v in (row.partition(":") for row in rows)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    token = headers.get("proxy-authorization", "").partition(" ")[2]
    user = base64.b64decode(token).decode("latin-1").partition(":")[0] if token else ""
    return Request(user, method, url, headers, body)
