"""A real server on a real port, and one small driver a transport, so that a rule is tested on each."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx
import msgspec
import pytest
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from envhub.sdk import load
from envhub.sdk.errors import from_problem
from envhub.server.app import Server, open_server
from envhub.server.config import ServeOptions

ENVIRONMENTS = Path(__file__).parent / "environments"
TOKEN = "server-token-of-the-tests"
Json = dict[str, Any]


class Running:
    """A server that listens."""

    def __init__(self, server: Server, port: int) -> None:
        self.server, self.port = server, port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def registry(self) -> Any:
        return self.server.registry


@asynccontextmanager
async def serving(*names: str, **options: Any) -> AsyncIterator[Running]:
    """Serve environments of this folder (or bundled ones) on a free port."""
    folders = [str(ENVIRONMENTS / name) if (ENVIRONMENTS / name).is_dir() else name for name in names]
    chosen = ServeOptions(environments=tuple(folders), token=TOKEN, **options)
    listener = socket.create_server(("127.0.0.1", 0))
    async with open_server([load(folder) for folder in folders], chosen) as server:
        config = uvicorn.Config(
            server, lifespan="off", log_config=None, access_log=False, ws_max_size=chosen.limits.frame_bytes
        )
        runner = uvicorn.Server(config)
        work = asyncio.create_task(runner.serve(sockets=[listener]))
        while not runner.started:
            await asyncio.sleep(0.005)
        try:
            yield Running(server, listener.getsockname()[1])
        finally:
            runner.should_exit = True
            await work
            listener.close()


class Driver(Protocol):
    """The operations of the protocol over one transport. A problem document is raised as its typed error."""

    async def open(self, **request: Any) -> Json: ...

    async def step(self, opened: Json, index: Any, action: Any, *, token: str | None = None) -> Json: ...

    async def get(self, opened: Json, *, wait_s: float = 0, token: str | None = None) -> Json: ...

    async def renew(self, opened: Json) -> Json: ...

    async def close(self, opened: Json) -> Json: ...

    async def trajectory(self, opened: Json) -> str: ...

    async def batch(self, items: list[Json]) -> list[Json]: ...

    async def call(self, op: str, **fields: Any) -> Json: ...


class HttpDriver:
    """Over HTTP."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def request(self, method: str, path: str, token: str | None = TOKEN, **rest: Any) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        reply = await self.client.request(method, path, headers=headers, **rest)
        if reply.status_code >= 400:
            assert reply.headers["content-type"] == "application/problem+json"
            problem = reply.json()
            assert problem["status"] == reply.status_code
            raise from_problem(problem)
        return reply

    async def open(self, **request: Any) -> Json:
        return (await self.request("POST", "/v1/sessions", json=request)).json()

    async def step(self, opened: Json, index: Any, action: Any, *, token: str | None = None) -> Json:
        path = f"/v1/sessions/{opened['session']}/step"
        body = {"index": index, "action": action}
        return (await self.request("POST", path, token or opened["session_token"], json=body)).json()

    async def get(self, opened: Json, *, wait_s: float = 0, token: str | None = None) -> Json:
        path = f"/v1/sessions/{opened['session']}?wait_s={wait_s}"
        return (await self.request("GET", path, token or opened["session_token"])).json()

    async def renew(self, opened: Json) -> Json:
        path = f"/v1/sessions/{opened['session']}/renew"
        return (await self.request("POST", path, opened["session_token"])).json()

    async def close(self, opened: Json) -> Json:
        return (await self.request("DELETE", f"/v1/sessions/{opened['session']}", opened["session_token"])).json()

    async def trajectory(self, opened: Json) -> str:
        path = f"/v1/sessions/{opened['session']}/trajectory"
        return (await self.request("GET", path, opened["session_token"])).text

    async def batch(self, items: list[Json]) -> list[Json]:
        return (await self.request("POST", "/v1/batch", json={"items": items})).json()["items"]

    async def call(self, op: str, **fields: Any) -> Json:
        return (await self.request("GET", f"/v1/{op}", params=fields)).json()


class WebSocketDriver:
    """Over a WebSocket."""

    def __init__(self, socket_: ClientConnection, binary: bool) -> None:
        self.socket, self.binary = socket_, binary
        self.waiting: dict[int, asyncio.Future[Json]] = {}
        self.ids = itertools.count()
        self.reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for data in self.socket:
            frame = self.decode(data)
            if frame["id"] is not None:
                self.waiting.pop(frame["id"]).set_result(frame)

    def decode(self, data: str | bytes) -> Json:
        return msgspec.msgpack.decode(data) if isinstance(data, bytes) else json.loads(data)

    async def send(self, frame: Json) -> None:
        await self.socket.send(msgspec.msgpack.encode(frame) if self.binary else json.dumps(frame))

    async def call(self, op: str, **fields: Any) -> Json:
        id_ = next(self.ids)
        reply = self.waiting[id_] = asyncio.get_running_loop().create_future()
        await self.send({"id": id_, "op": op, **fields})
        frame = await asyncio.wait_for(reply, 30)
        if "error" in frame:
            raise from_problem(frame["error"])
        return frame["ok"]

    async def open(self, **request: Any) -> Json:
        return await self.call("open", **request)

    async def step(self, opened: Json, index: Any, action: Any, *, token: str | None = None) -> Json:
        shown = {"token": token} if token else {}
        return await self.call("step", session=opened["session"], index=index, action=action, **shown)

    async def get(self, opened: Json, *, wait_s: float = 0, token: str | None = None) -> Json:
        shown = {"token": token} if token else {}
        return await self.call("get", session=opened["session"], wait_s=wait_s, **shown)

    async def renew(self, opened: Json) -> Json:
        return await self.call("renew", session=opened["session"])

    async def close(self, opened: Json) -> Json:
        return await self.call("close", session=opened["session"])

    async def trajectory(self, opened: Json) -> str:
        return (await self.call("trajectory", session=opened["session"]))["jsonl"]

    async def batch(self, items: list[Json]) -> list[Json]:
        return (await self.call("batch", items=items))["items"]


TRANSPORTS = ("http", "json", "msgpack")


@asynccontextmanager
async def driving(running: Running, transport: str, token: str | None = TOKEN) -> AsyncIterator[Driver]:
    """A driver of a transport."""
    if transport == "http":
        async with httpx.AsyncClient(base_url=running.url, timeout=30) as client:
            yield HttpDriver(client)
        return
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    url = f"ws://127.0.0.1:{running.port}/v1/ws"
    protocol = Subprotocol(f"envhub.v1.{transport}")
    async with connect(url, additional_headers=headers, subprotocols=[protocol], max_size=None) as socket_:
        driver = WebSocketDriver(socket_, transport == "msgpack")
        yield driver
    await driver.reader


Drive = Callable[[Running], AbstractAsyncContextManager[Driver]]


@pytest.fixture(params=TRANSPORTS)
def drive(request: pytest.FixtureRequest) -> Drive:
    """Opens a driver; the test runs once a transport."""
    return lambda running: driving(running, request.param)


@pytest.fixture
def any_drive() -> Drive:
    """For what does not depend on the transport."""
    return lambda running: driving(running, "json")


@pytest.fixture
def serve() -> Callable[..., AbstractAsyncContextManager[Running]]:
    """Starts a server over environments of this folder."""
    return serving


@pytest.fixture
async def probe() -> AsyncIterator[Running]:
    """A server over the probe environment."""
    async with serving("probe") as running:
        yield running
