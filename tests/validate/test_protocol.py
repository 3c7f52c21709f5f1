"""The conformance checks fail on servers that break a rule: a real server behind an application that spoils replies."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from envhub.sdk import load
from envhub.server.app import open_server
from envhub.server.config import ServeOptions
from envhub.validate import Report, validate

TOKEN = "server-token-of-the-tests"
Spoil = Callable[[str, int, str, bytes], tuple[int, str, bytes]]
"""(path, status, content type, body) -> the same, spoilt."""


def problems_as_html(path: str, status: int, kind: str, body: bytes) -> tuple[int, str, bytes]:
    return status, "text/html" if "problem" in kind else kind, body


def conflicts_as_bad_requests(path: str, status: int, kind: str, body: bytes) -> tuple[int, str, bytes]:
    return 400 if status == 409 else status, kind, body


def anybody_is_let_in(path: str, status: int, kind: str, body: bytes) -> tuple[int, str, bytes]:
    return (200, "application/json", b"{}") if status == 403 else (status, kind, body)


def zero_for_no_reward(path: str, status: int, kind: str, body: bytes) -> tuple[int, str, bytes]:
    return status, kind, body.replace(b'"reward":null', b'"reward":0.0')


def rewards_for_agents(path: str, status: int, kind: str, body: bytes) -> tuple[int, str, bytes]:
    reply = json.loads(body) if path.endswith("/mcp") and body else {}
    if "content" in reply.get("result", {}):
        reply["result"]["_meta"] = {"reward": 1.0}
        body = json.dumps(reply).encode()
    return status, kind, body


def tools_after_the_end(path: str, status: int, kind: str, body: bytes) -> tuple[int, str, bytes]:
    return status, kind, body.replace(b'"isError":true', b'"isError":false')


def batch_out_of_order(path: str, status: int, kind: str, body: bytes) -> tuple[int, str, bytes]:
    if path == "/v1/batch" and status == 200:
        body = json.dumps({"items": json.loads(body)["items"][::-1]}).encode()
    return status, kind, body


@pytest.mark.parametrize(
    ("spoil", "check"),
    [
        (problems_as_html, "protocol.problems"),
        (conflicts_as_bad_requests, "protocol.steps"),
        (conflicts_as_bad_requests, "protocol.key"),
        (anybody_is_let_in, "protocol.access"),
        (anybody_is_let_in, "protocol.mcp_token"),
        (zero_for_no_reward, "protocol.end"),
        (zero_for_no_reward, "deadline.lease"),
        (rewards_for_agents, "protocol.mcp_end"),
        (tools_after_the_end, "protocol.mcp_end"),
        (batch_out_of_order, "protocol.batch"),
    ],
)
async def test_broken_rule_is_found(spoil: Spoil, check: str) -> None:
    report = await _validate(_Spoiling(spoil), check)
    assert not report.checks[check].passed, report.checks


async def test_websocket_closed_by_garbage_is_found() -> None:
    report = await _validate(_closing_on_errors, "protocol.websocket_frames")
    assert not report.checks["protocol.websocket_frames"].passed


async def test_unspoilt_server_passes_the_same_checks() -> None:
    report = await _validate(_Spoiling(lambda path, status, kind, body: (status, kind, body)), "protocol", "deadline")
    assert report.ok, report.checks


async def _validate(wrap: Callable[[Any], Any], *only: str) -> Report:
    async with _serving(wrap) as url:
        return await validate(url, token=TOKEN, sample=2, only=only)


@asynccontextmanager
async def _serving(wrap: Callable[[Any], Any]) -> AsyncIterator[str]:
    """frozen-lake on a free port, behind `wrap`."""
    options = ServeOptions(environments=("frozen-lake",), token=TOKEN)
    async with open_server([load("frozen-lake")], options) as server:
        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            wrap(server), lifespan="off", log_config=None, ws_max_size=options.limits.frame_bytes, access_log=False
        )
        runner = uvicorn.Server(config)
        work = asyncio.create_task(runner.serve(sockets=[listener]))
        while not runner.started:
            await asyncio.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            runner.should_exit = True
            await work
            listener.close()


class _Spoiling:
    """Gathers a reply, and sends it on spoilt."""

    def __init__(self, spoil: Spoil) -> None:
        self._spoil = spoil

    def __call__(self, app: Any) -> Any:
        async def spoilt(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            start: dict[str, Any] = {}
            body = b""

            async def gather(message: dict[str, Any]) -> None:
                nonlocal body
                if message["type"] == "http.response.start":
                    start.update(message)
                    return
                body += message.get("body", b"")
                if not message.get("more_body", False):
                    await self._send(scope["path"], start, body, send)

            await app(scope, receive, gather)

        return spoilt

    async def _send(self, path: str, start: dict[str, Any], body: bytes, send: Any) -> None:
        headers = dict(start["headers"])
        kind = headers.get(b"content-type", b"").decode()
        status, kind, body = self._spoil(path, start["status"], kind, body)
        headers |= {b"content-type": kind.encode(), b"content-length": str(len(body)).encode()}
        await send({**start, "status": status, "headers": list(headers.items())})
        await send({"type": "http.response.body", "body": body})


def _closing_on_errors(app: Any) -> Any:
    """Closes a WebSocket where it should answer garbage."""

    async def closing(scope: Any, receive: Any, send: Any) -> None:
        async def close_instead(message: dict[str, Any]) -> None:
            if '"id":null' in (message.get("text") or ""):
                message = {"type": "websocket.close", "code": 1011}
            await send(message)

        await app(scope, receive, close_instead)

    return closing
