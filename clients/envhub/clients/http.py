"""The HTTP transport: the same operations as plain requests, for networks that let no WebSocket through."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
from pydantic_core import from_json

from envhub.clients.backoff import Backoff
from envhub.clients.codec import JsonCodec
from envhub.clients.transport import UNHELD_PATIENCE_S, Held
from envhub.sdk.errors import ConnectionLost, EnvhubError, InvalidRequest, ServerError, Unauthorized, from_problem
from envhub.sdk.messages import JsonObject

PROBLEM = "application/problem+json"
GATEWAY_TROUBLE = frozenset({502, 503, 504})
MAX_CONNECTIONS = 128
CONNECT_TIMEOUT_S = 10.0


class _Route(NamedTuple):
    method: str
    path: str
    fields: str
    """Where the fields go: query, body, or none."""


_ROUTES: dict[str, _Route] = {
    "info": _Route("GET", "/v1/info", "none"),
    "schema": _Route("GET", "/v1/schema", "query"),
    "tasks": _Route("GET", "/v1/tasks", "query"),
    "open": _Route("POST", "/v1/sessions", "body"),
    "attach": _Route("GET", "/v1/sessions/{session}", "none"),
    "step": _Route("POST", "/v1/sessions/{session}/step", "body"),
    "get": _Route("GET", "/v1/sessions/{session}", "query"),
    "renew": _Route("POST", "/v1/sessions/{session}/renew", "none"),
    "close": _Route("DELETE", "/v1/sessions/{session}", "none"),
    "trajectory": _Route("GET", "/v1/sessions/{session}/trajectory", "none"),
    "batch": _Route("POST", "/v1/batch", "body"),
}


class HttpTransport:
    """See `Transport`.

    Args:
        url: http(s) address of the server.
        token: server token; None: only what session tokens allow.
    """

    def __init__(self, url: str, token: str | None) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._held: dict[str, Held] = {}
        self._gone: str | None = None
        self._codec = JsonCodec()
        self._client = httpx.AsyncClient(
            base_url=self._url, limits=httpx.Limits(max_connections=MAX_CONNECTIONS), timeout=None
        )

    async def start(self) -> None:
        path = "/healthz" if self._token is None else "/v1/info"
        deadline = asyncio.timeout(CONNECT_TIMEOUT_S)
        try:
            async with deadline:
                await self._send("GET", path, self._token, None, None)
        except TimeoutError:
            raise self._unreachable(f"no answer within {CONNECT_TIMEOUT_S:g} s") from None
        except httpx.TransportError as error:
            raise self._unreachable(str(error) or type(error).__name__) from error

    async def request(self, op: str, fields: JsonObject, timeout_s: float) -> Any:
        route = _ROUTES[op]
        given = dict(fields)
        session = given.pop("session", None)
        held = self._held.get(session) if session else None
        token = given.pop("token", None) or (held.token if held else self._token)
        if op == "batch":
            given["items"] = [self._with_token(item) for item in given["items"]]
        path = route.path.format(session=quote(str(session), safe=""))
        query = {name: value for name, value in given.items() if value is not None} if route.fields == "query" else None
        body = self._codec.encode(given) if route.fields == "body" else None
        patience_s = held.lease_s if held else UNHELD_PATIENCE_S
        deadline = asyncio.timeout(timeout_s)
        try:
            async with deadline:
                return await self._persist(route.method, path, token, query, body, patience_s)
        except TimeoutError:
            if not deadline.expired():
                raise  # StepTimeout, from the server, is one too.
            raise ConnectionLost(f"{self._url} did not answer {op!r} within {timeout_s:g} s") from None

    def hold(self, session: str, token: str, lease_s: float) -> None:
        self._held[session] = Held(token, lease_s)

    def release(self, session: str) -> None:
        self._held.pop(session, None)

    def abandon(self, reason: str) -> None:
        self._gone = reason  # what waits is refused by the dead server's port, and looks here

    async def close(self) -> None:
        self._held.clear()
        await self._client.aclose()

    def _with_token(self, item: JsonObject) -> JsonObject:
        held = self._held.get(str(item.get("session")))
        return item if held is None or "token" in item else {**item, "token": held.token}

    async def _persist(
        self, method: str, path: str, token: str | None, query: JsonObject | None, body: str | None, patience_s: float
    ) -> Any:
        """Send until it is answered; every operation may be sent twice."""
        backoff = Backoff(patience_s)
        while True:
            try:
                return await self._send(method, path, token, query, body)
            except (httpx.TransportError, ConnectionLost) as error:
                if self._gone is not None:
                    raise ConnectionLost(self._gone) from error
                if not await backoff.wait():
                    raise self._unreachable(str(error) or type(error).__name__) from error

    async def _send(self, method: str, path: str, token: str | None, query: JsonObject | None, body: str | None) -> Any:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            response = await self._client.request(method, path, params=query, content=body, headers=headers)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise InvalidRequest(f"{self._url} is no address of a server: {error}") from error
        if response.is_success:
            is_json = response.headers.get("content-type", "").partition(";")[0] == "application/json"
            return self._codec.decode(response.content) if is_json else response.text
        raise self._error(response)

    def _error(self, response: httpx.Response) -> EnvhubError:
        if response.headers.get("content-type", "").startswith(PROBLEM):
            with contextlib.suppress(ValueError, AttributeError):  # a problem document of somebody else's
                return from_problem(from_json(response.content))
        where = f"{response.request.method} {response.request.url} answered {response.status_code}"
        if response.status_code in GATEWAY_TROUBLE:
            return ConnectionLost(where)
        if response.status_code == 401:
            return Unauthorized(where)
        return ServerError(f"{where} without a problem document: is it an envhub server?")

    def _unreachable(self, reason: str) -> ConnectionLost:
        return ConnectionLost(
            f"no envhub server answers at {self._url} ({reason}); is it running? `envhub serve NAME` starts one"
        )


__all__ = ["HttpTransport"]
