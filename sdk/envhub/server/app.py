"""The ASGI application: transports put together over one registry."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from envhub.sdk.errors import EnvhubError, InvalidRequest, NotFound, ServerError
from envhub.sdk.loader import LoadedEnvironment
from envhub.server.config import ServeOptions, default_capacity
from envhub.server.hosting import HostedEnvironment, host
from envhub.server.http import HttpTransport, problem_response
from envhub.server.mcp import McpEndpoint
from envhub.server.metrics import Metrics
from envhub.server.operations import Operations
from envhub.server.recording import make_recorder
from envhub.server.registry import Registry
from envhub.server.tokens import Tokens, bearer
from envhub.server.websocket import WebSocketEndpoint


class Server:
    """One server: its registry and its ASGI application. Use within `open_server`."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        operations = Operations(registry)
        self.mcp = McpEndpoint(registry, registry.limits)
        self._websocket = WebSocketEndpoint(operations)
        self._http = _http_app(operations)

    @property
    def token(self) -> str:
        """The server token."""
        return self.registry.tokens.server_token

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """The ASGI application."""
        path = scope.get("path", "")
        if scope["type"] == "websocket":
            if path == "/v1/ws":
                await self._websocket(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http" and path.startswith("/v1/sessions/") and path.endswith("/mcp"):
            await self.mcp(scope, receive, send)
        else:
            await self._http(scope, receive, send)


def _http_app(operations: Operations) -> FastAPI:
    app = FastAPI(
        title="envhub", version=version("envhub"), docs_url=None, redoc_url=None, openapi_url=None,
        redirect_slashes=False,
    )  # fmt: skip
    app.include_router(HttpTransport(operations).router)

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi(request: Request) -> dict[str, Any]:
        operations.registry.tokens.require_server(bearer(request.headers.get("authorization")))
        return app.openapi()

    @app.exception_handler(EnvhubError)
    async def typed(_: Request, error: EnvhubError) -> Response:
        return problem_response(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return problem_response(InvalidRequest(str(error.errors()[0]["msg"])))

    @app.exception_handler(HTTPException)
    async def routing(request: Request, error: HTTPException) -> Response:
        kind = NotFound if error.status_code == 404 else InvalidRequest
        problem = kind(f"{request.method} {request.url.path}: {error.detail}").to_problem()
        headers = {**(error.headers or {}), "Content-Type": "application/problem+json"}
        return Response(msgspec.json.encode({**problem, "status": error.status_code}), error.status_code, headers)

    @app.exception_handler(Exception)
    async def broken(_: Request, error: Exception) -> Response:
        return problem_response(ServerError(f"the server failed: {type(error).__name__}: {error}"))

    return app


def _silent(_: str) -> None:
    """Progress nobody asked to see."""


@asynccontextmanager
async def open_server(
    environments: Sequence[LoadedEnvironment], options: ServeOptions, progress: Callable[[str], None] = _silent
) -> AsyncIterator[Server]:
    """A server over these environments; at exit every session is ended and everything shared is closed."""
    async with AsyncExitStack() as stack:
        hosted: dict[str, HostedEnvironment] = {}
        for loaded in environments:
            if loaded.manifest.name in hosted:
                raise InvalidRequest(f"two environments are called {loaded.manifest.name!r}; serve them apart")
            overrides = options.config
            hosted[loaded.manifest.name] = await stack.enter_async_context(host(loaded, overrides, progress))
        metrics = Metrics()
        recorder = make_recorder(options.record)
        capacity = options.max_sessions or _capacity(hosted)
        registry = Registry(hosted, Tokens(options.token), recorder, capacity, options.limits, metrics)
        server = Server(registry)
        stack.push_async_callback(registry.shutdown)
        await stack.enter_async_context(server.mcp.run())
        async with asyncio.TaskGroup() as background:
            watching = [background.create_task(registry.sweep()), background.create_task(metrics.watch_loop())]
            try:
                yield server
            finally:
                for task in watching:
                    task.cancel()


def _capacity(hosted: dict[str, HostedEnvironment]) -> int:
    needs = [one.manifest.resources for one in hosted.values()]
    return default_capacity(max(need.memory_mb for need in needs), max(need.cpus for need in needs))


__all__ = ["Server", "open_server"]
