"""Api: the protocol spoken by hand over HTTP, so that the suite judges a server and not the client library."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from envhub.sdk.errors import ConnectionLost, EnvhubError, from_problem
from envhub.sdk.messages import Action, JsonObject
from envhub.sdk.wire import EnvironmentSchema, Opened, ServerInfo, SessionStatus, TaskPage
from envhub.validate.report import CheckFailed

CALL_DEADLINE_S = 300.0
"""How long one request may take, an open of a heavy environment included."""
OPEN_WAIT_S = 120.0
"""How long an open may wait for a place."""


class Api:
    """One server, as its controller sees it."""

    def __init__(self, url: str, token: str, http: httpx.AsyncClient) -> None:
        self.url = url.rstrip("/")
        self.token = token
        self._http = http

    async def send(
        self,
        method: str,
        path: str,
        *,
        token: str | None = None,
        anonymous: bool = False,
        body: Any = None,
        content: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        """One request, with the server token unless another or none is asked for.

        Raises:
            ConnectionLost: no answer came.
        """
        sent = dict(headers or {})
        if not anonymous:
            sent["Authorization"] = f"Bearer {token or self.token}"
        if content is not None:
            sent.setdefault("Content-Type", "application/json")
        try:
            return await self._http.request(method, self.url + path, headers=sent, content=content, json=body)
        except httpx.TransportError as error:
            raise ConnectionLost(f"no answer from {self.url} to {method} {path}: {error!r}") from error

    async def call(self, method: str, path: str, *, token: str | None = None, body: Any = None) -> Any:
        """A request that should succeed, and its JSON.

        Raises:
            EnvhubError: the typed error of the server's problem document.
        """
        response = await self.send(method, path, token=token, body=body)
        if response.is_success:
            return response.json()
        raise error_of(response)

    async def info(self) -> ServerInfo:
        return ServerInfo.model_validate(await self.call("GET", "/v1/info"))

    async def schema(self, environment: str) -> EnvironmentSchema:
        return EnvironmentSchema.model_validate(await self.call("GET", f"/v1/schema?environment={environment}"))

    async def tasks(self, environment: str, split: str, offset: int, limit: int) -> TaskPage:
        query = f"environment={environment}&split={split}&offset={offset}&limit={limit}"
        return TaskPage.model_validate(await self.call("GET", f"/v1/tasks?{query}"))

    async def open(self, **request: Any) -> Opened:
        reply = await self.call("POST", "/v1/sessions", body={"wait_s": OPEN_WAIT_S, **request})
        return Opened.model_validate(reply)

    async def step(self, opened: Opened, index: int, action: Action) -> JsonObject:
        """The reply's `result`, as the server's JSON has it."""
        body = {"index": index, "action": action.model_dump(mode="json", exclude_defaults=True)}
        reply = await self.call("POST", f"/v1/sessions/{opened.session}/step", token=opened.session_token, body=body)
        result: JsonObject = reply["result"]
        return result

    async def status(self, opened: Opened, wait_s: float = 0.0) -> SessionStatus:
        query = f"?wait_s={wait_s}" if wait_s else ""
        path = f"/v1/sessions/{opened.session}{query}"
        return SessionStatus.model_validate(await self.call("GET", path, token=opened.session_token))

    async def close(self, opened: Opened) -> SessionStatus:
        path = f"/v1/sessions/{opened.session}"
        return SessionStatus.model_validate(await self.call("DELETE", path, token=opened.session_token))

    @asynccontextmanager
    async def session(self, **request: Any) -> AsyncIterator[Opened]:
        """An open session that is closed at the end, whatever happened to it."""
        opened = await self.open(**request)
        try:
            yield opened
        finally:
            response = await self.send("DELETE", f"/v1/sessions/{opened.session}", token=opened.session_token)
            if response.status_code >= 500:
                raise CheckFailed(f"closing a session replied {response.status_code}: {response.text[:200]}")


@asynccontextmanager
async def connect_api(url: str, token: str) -> AsyncIterator[Api]:
    """An Api on a connection pool of its own."""
    limits = httpx.Limits(max_connections=64, max_keepalive_connections=64)
    async with httpx.AsyncClient(timeout=CALL_DEADLINE_S, limits=limits) as http:
        yield Api(url, token, http)


def error_of(response: httpx.Response) -> EnvhubError:
    """The typed error of a refused request, even where its body is no problem document."""
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    if not isinstance(problem, dict):
        problem = {}
    return from_problem(problem or {"detail": f"HTTP {response.status_code}: {response.text[:200]}"})


__all__ = ["CALL_DEADLINE_S", "Api", "connect_api", "error_of"]
