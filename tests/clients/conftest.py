"""A real server in a thread, and a proxy that cuts connections."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
import uvicorn

from envhub.clients import Client, ConnectOptions, connect
from envhub.sdk import load
from envhub.server.app import open_server
from envhub.server.config import ServeOptions

TOKEN = "a-token-for-tests-only"
ARENA = Path(__file__).parent / "arena"


class ServerThread:
    """A server on a port of its own, with its own event loop."""

    def __init__(self, *, port: int = 0, max_sessions: int | None = None, token: str = TOKEN) -> None:
        self.token = token
        self._options = ServeOptions(environments=(str(ARENA),), max_sessions=max_sessions, token=token)
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    def start(self) -> ServerThread:
        self._thread.start()
        assert self._ready.wait(30)
        return self

    def stop(self) -> None:
        self._uvicorn.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()

    async def _serve(self) -> None:
        async with open_server([load(str(ARENA))], self._options) as server:
            config = uvicorn.Config(
                server, lifespan="off", log_config=None, ws_per_message_deflate=False, timeout_graceful_shutdown=1
            )
            self._uvicorn = uvicorn.Server(config)
            serving = asyncio.create_task(self._uvicorn.serve(sockets=[self._listener]))
            while not self._uvicorn.started:  # uvicorn offers no event
                await asyncio.sleep(0.005)
            self._ready.set()
            await serving


@pytest.fixture(scope="session")
def server() -> Iterator[ServerThread]:
    """A server for all tests that leave it as it was."""
    thread = ServerThread(max_sessions=500).start()
    yield thread
    thread.stop()


@pytest.fixture
def start_server() -> Iterator[type[ServerThread]]:
    """Start servers that this test may fill or stop; `start_server(max_sessions=1)`."""
    started: list[ServerThread] = []

    class Started(ServerThread):
        def start(self) -> ServerThread:
            started.append(self)
            return super().start()

    yield Started
    for thread in started:
        if thread._thread.is_alive():
            thread.stop()


@pytest.fixture(params=["websocket", "msgpack", "http"])
def options(request: pytest.FixtureRequest) -> ConnectOptions:
    """How to connect: every way there is."""
    if request.param == "msgpack":
        return {"encoding": "msgpack"}
    return {"transport": request.param}


@pytest.fixture
async def client(server: ServerThread, options: ConnectOptions) -> AsyncIterator[Client]:
    """A client on every transport."""
    async with connect(server.url, server.token, **options) as connected:
        yield connected


@pytest.fixture
async def plain_client(server: ServerThread) -> AsyncIterator[Client]:
    """A client as most have it."""
    async with connect(server.url, server.token) as connected:
        yield connected


class Proxy:
    """Forwards TCP to a server, until told otherwise."""

    def __init__(self, port: int) -> None:
        self.to_port = port
        self.mute = False
        """Swallow what the server sends."""
        self.refuse = False
        """Close new connections at once."""
        self.connections = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._forwarding: set[asyncio.Task[None]] = set()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self.refuse:
            writer.transport.abort()
            return
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.to_port)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, there_writer}
        async with asyncio.TaskGroup() as group:
            group.create_task(self._forward(reader, there_writer, mutable=False))
            group.create_task(self._forward(there_reader, writer, mutable=True))

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, mutable: bool) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                if not (mutable and self.mute):
                    writer.write(data)
        writer.transport.abort()
        self._writers.discard(writer)

    def cut(self) -> None:
        """Break every connection."""
        for writer in list(self._writers):
            writer.transport.abort()


@asynccontextmanager
async def _open_proxy(port: int) -> AsyncIterator[tuple[Proxy, str]]:
    proxy = Proxy(port)
    listener = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    try:
        yield proxy, f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    finally:
        listener.close()
        proxy.cut()
        await asyncio.sleep(0)
        await listener.wait_closed()


@pytest.fixture
def through_proxy(server: ServerThread) -> AbstractAsyncContextManager[tuple[Proxy, str]]:
    """`async with through_proxy as (proxy, url)`: the shared server behind a proxy that can cut."""
    return _open_proxy(server.port)


@pytest.fixture
def open_proxy() -> Callable[[int], AbstractAsyncContextManager[tuple[Proxy, str]]]:
    """`async with open_proxy(port) as (proxy, url)`: a proxy to a server of the test's own."""
    return _open_proxy


@pytest.fixture
def none_left() -> Callable[[Client], Awaitable[None]]:
    """Waits until no session is left: its place is given back once its environment is closed, after the last reply."""

    async def wait(client: Client) -> None:
        async with asyncio.timeout(10):
            while (await client.info()).sessions:
                await asyncio.sleep(0.01)

    return wait
