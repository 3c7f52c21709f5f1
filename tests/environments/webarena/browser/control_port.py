"""Listeners that nothing in the browser may reach: they only count who came."""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType


class Listeners:
    """An HTTP server and a UDP socket on loopback, as the control port of the host would be."""

    def __init__(self) -> None:
        self.port = 0
        self.udp_port = 0
        self.hits: list[bytes] = []
        self._servers: list[asyncio.Server] = []
        self._udp: asyncio.DatagramTransport | None = None

    async def __aenter__(self) -> Listeners:
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._servers = [server]
        with contextlib.suppress(OSError):  # There may be no IPv6.
            self._servers.append(await asyncio.start_server(self._connection, "::1", self.port))
        loop = asyncio.get_running_loop()
        self._udp, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(self.hits), ("127.0.0.1", 0))
        self.udp_port = self._udp.get_extra_info("sockname")[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self._servers:
            server.close()
        if self._udp is not None:
            self._udp.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.hits.append(b"a connection")
        self.hits.append(await reader.read(1000))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\nAccess-Control-Allow-Origin: *\r\n\r\nCONTROL-PLANE")
        writer.close()


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, hits: list[bytes]) -> None:
        self._hits = hits

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._hits.append(data)
