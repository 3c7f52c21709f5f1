"""The HTTP transport: protocol v1 as a FastAPI application, problem documents for every error."""

from __future__ import annotations

import asyncio
import base64
import math
from functools import partial
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import HTMLResponse
from starlette.requests import ClientDisconnect

from envhub.sdk.errors import EnvhubError, InvalidRequest, TooLarge, Unauthorized
from envhub.sdk.wire import (
    BatchReply,
    EnvironmentSchema,
    Opened,
    OpenRequest,
    ServerInfo,
    SessionStatus,
    Stepped,
    StepRequest,
    TaskPage,
)
from envhub.server.dispatch import Dispatcher
from envhub.server.operations import Operations
from envhub.server.overview import take_snapshot
from envhub.server.session import Session
from envhub.server.status import render
from envhub.server.tokens import bearer


def problem_response(error: EnvhubError) -> Response:
    """An error as application/problem+json."""
    body = msgspec.json.encode(error.to_problem())
    response = Response(body, error.status, media_type="application/problem+json")
    if error.retry_after_s is not None:
        response.headers["Retry-After"] = str(math.ceil(error.retry_after_s))
    if isinstance(error, Unauthorized):
        for scheme in ("Bearer", "Basic"):  # a header each: Chromium reads one challenge a header, and no list of them
            response.headers.append("WWW-Authenticate", f'{scheme} realm="envhub"')
    return response


def _json(body: bytes, status: int = 200) -> Response:
    return Response(body, status, media_type="application/json")


async def read_body(request: Request, limit: int) -> bytes:
    """The body, refused as soon as it is over the limit."""
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise TooLarge(f"the body has more than {limit} bytes")
            chunks.append(chunk)
    except ClientDisconnect:
        raise InvalidRequest("the caller left before its body was complete") from None
    return b"".join(chunks)


def _no_unknown_query(request: Request, *known: str) -> dict[str, str]:
    given = dict(request.query_params)
    for name in given:
        if name not in known:
            raise InvalidRequest(f"no query parameter {name!r}; there are {', '.join(known) or 'none'}")
    if len(request.query_params.multi_items()) != len(given):
        raise InvalidRequest("a query parameter is given twice")
    return given


def password_of(header: str | None) -> str | None:
    """The token of an Authorization header, Bearer, or the password of Basic (what a browser sends)."""
    scheme, _, value = (header or "").partition(" ")
    if scheme.lower() != "basic":
        return bearer(header)
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2] or None
    except ValueError:  # no base64, or no UTF-8 in it
        return None


Authorization = Annotated[str | None, Header()]


class HttpTransport:
    """Routes of protocol v1."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self._registry = operations.registry
        self.router = APIRouter()
        self._add_routes()

    def _add_routes(self) -> None:
        add = self.router.add_api_route
        server = [Depends(self._server_only)]
        add("/v1/info", self.info, methods=["GET"], response_model=ServerInfo, dependencies=server)
        add("/v1/schema", self.schema, methods=["GET"], response_model=EnvironmentSchema, dependencies=server)
        add("/v1/tasks", self.tasks, methods=["GET"], response_model=TaskPage, dependencies=server)
        opened: dict[int | str, dict[str, Any]] = {200: {"model": Opened}, 201: {"model": Opened}}
        add("/v1/sessions", self.open, methods=["POST"], responses=opened, dependencies=server, **_body(OpenRequest))
        step = "/v1/sessions/{session_id}/step"
        add(step, self.step, methods=["POST"], response_model=Stepped, **_body(StepRequest))
        one = "/v1/sessions/{session_id}"
        add(one, self.get, methods=["GET"], response_model=SessionStatus)
        add(one, self.close, methods=["DELETE"], response_model=SessionStatus)
        add(one + "/renew", self.renew, methods=["POST"], response_model=SessionStatus)
        add(one + "/trajectory", self.trajectory, methods=["GET"])
        add("/v1/batch", self.batch, methods=["POST"], response_model=BatchReply)
        add("/healthz", self.healthz, methods=["GET"])
        add("/readyz", self.readyz, methods=["GET"])
        add("/metrics", self.metrics, methods=["GET"])
        add("/", self.status, methods=["GET"], include_in_schema=False)

    # -- who may ----------------------------------------------------------------------------------------------

    def _server_only(self, authorization: Authorization = None) -> None:
        self._registry.tokens.require_server(bearer(authorization))

    def _session(self, session_id: str, authorization: str | None) -> Session:
        self._registry.tokens.require(bearer(authorization), "session", session_id)
        return self._registry.session(session_id)

    # -- the server -------------------------------------------------------------------------------------------

    async def info(self, request: Request) -> Response:
        """What is hosted here, versions, limits."""
        _no_unknown_query(request)
        return _json(self._operations.info())

    async def schema(self, request: Request, environment: str | None = None) -> Response:
        """Tools and criteria of an environment."""
        return _json(self._operations.schema(_no_unknown_query(request, "environment")))

    async def tasks(
        self,
        request: Request,
        environment: str | None = None,
        split: str | None = None,
        offset: Any = 0,
        limit: Any = 100,
    ) -> Response:
        """A page of tasks, public parts only."""
        return _json(self._operations.tasks(_no_unknown_query(request, "environment", "split", "offset", "limit")))

    async def open(self, request: Request) -> Response:
        """Open a session."""
        _no_unknown_query(request)
        reply, _, new = await self._operations.open(await self._body(request))
        return _json(reply, 201 if new else 200)

    # -- one session ------------------------------------------------------------------------------------------

    async def step(self, session_id: str, request: Request, authorization: Authorization = None) -> Response:
        """Take one step."""
        _no_unknown_query(request)
        session = self._session(session_id, authorization)
        raw = await read_body(request, self._registry.limits.frame_bytes)
        given = _decoded(raw)
        index, action = given.pop("index", None), given.pop("action", None)
        if given:
            raise InvalidRequest(f"step has no field {next(iter(given))!r}")
        return _json(await self._operations.step(session, index, action, len(raw)).wait())

    async def get(
        self, session_id: str, request: Request, wait_s: Any = 0, authorization: Authorization = None
    ) -> Response:
        """Status; with `wait_s`, at the end or after that many seconds."""
        session = self._session(session_id, authorization)
        return _json(await self._operations.get(session, _no_unknown_query(request, "wait_s")))

    async def renew(self, session_id: str, request: Request, authorization: Authorization = None) -> Response:
        """Count the lease from now."""
        session = self._session(session_id, authorization)
        return _json(self._operations.renew(session, await self._body(request)))

    async def close(self, session_id: str, request: Request, authorization: Authorization = None) -> Response:
        """End the session."""
        _no_unknown_query(request)
        return _json(self._operations.close(self._session(session_id, authorization), {}))

    async def trajectory(self, session_id: str, request: Request, authorization: Authorization = None) -> Response:
        """The session's records so far, JSONL."""
        _no_unknown_query(request)
        session = self._session(session_id, authorization)
        return Response(session.ledger.read(), media_type="application/x-ndjson")

    async def batch(self, request: Request, authorization: Authorization = None) -> Response:
        """Several operations, each with its own token."""
        token = bearer(authorization)
        may_open = token is not None and self._registry.tokens.verify(token).principal == "server"
        raw = await read_body(request, self._registry.limits.frame_bytes)
        given = _decoded(raw)
        dispatcher = Dispatcher(self._operations, may_open=may_open)
        answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        dispatcher.dispatch({**given, "op": "batch"}, len(raw), partial(_resolve, answered))
        try:
            payload = await answered
        finally:
            dispatcher.stop()
        return _batch_response(payload)

    # -- people and machines that watch -----------------------------------------------------------------------

    async def healthz(self) -> Response:
        """The process answers."""
        return _json(b'{"status":"ok"}')

    async def readyz(self) -> Response:
        """Sessions can be opened."""
        ready = not self._registry.stopping
        return _json(b'{"status":"ready"}' if ready else b'{"status":"stopping"}', 200 if ready else 503)

    async def metrics(self, authorization: Authorization = None) -> Response:
        """Prometheus metrics."""
        self._registry.tokens.require_server(password_of(authorization))
        body = self._registry.metrics.render()
        return Response(body, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def status(self, authorization: Authorization = None) -> Response:
        """The status page."""
        self._registry.tokens.require_server(password_of(authorization))
        return HTMLResponse(render(take_snapshot(self._registry)))

    async def _body(self, request: Request) -> Any:
        raw = await read_body(request, self._registry.limits.frame_bytes)
        return _decoded(raw) if raw else {}


def _decoded(raw: bytes) -> dict[str, Any]:
    try:
        given = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidRequest(f"the body is not JSON: {error}") from error
    if not isinstance(given, dict):
        raise InvalidRequest("the body is not a JSON object")
    return given


def _resolve(answered: asyncio.Future[bytes], payload: bytes) -> None:
    if not answered.done():
        answered.set_result(payload)


def _batch_response(payload: bytes) -> Response:
    kind, _, body = payload.partition(b":")
    if kind == b'"ok"':
        return _json(body)
    problem = msgspec.json.decode(body)
    return Response(body, problem["status"], media_type="application/problem+json")


def _body(model: Any) -> dict[str, Any]:
    """The OpenAPI description of a body that the handler reads itself (for its own limits and errors)."""
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs", None)
    return {"openapi_extra": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}


__all__ = ["HttpTransport", "password_of", "problem_response", "read_body"]
