"""protocol.health, .access, .problems: who may do what, and how a refusal looks."""

from __future__ import annotations

from envhub.sdk.wire import Opened
from envhub.validate.bench import Bench
from envhub.validate.protocol.expect import refused, session, step_body, succeeded
from envhub.validate.report import CheckFailed

SERVER_PATHS = ("/v1/info", "/v1/schema", "/v1/tasks")


async def check_health(bench: Bench) -> None:
    """/healthz and /readyz need no token; the metrics and the OpenAPI document need the server's."""
    for path in ("/healthz", "/readyz"):
        response = await bench.api.send("GET", path, anonymous=True)
        if response.status_code != 200:
            raise CheckFailed(f"{path} replied {response.status_code}")
    for path in ("/metrics", "/openapi.json", "/"):
        refused(await bench.api.send("GET", path, anonymous=True), 401, "unauthorized", f"{path} without a token")
        response = await bench.api.send("GET", path)
        if response.status_code != 200:
            raise CheckFailed(f"{path} with the server token replied {response.status_code}")


async def check_access(bench: Bench) -> None:
    """No token and a wrong one are 401; a valid token of another principal or session is 403."""
    async with session(bench) as opened, session(bench) as other:
        for path in SERVER_PATHS:
            await _expect(bench, "GET", path, None, 401)
            await _expect(bench, "GET", path, "not-a-token", 401)
            await _expect(bench, "GET", path, opened.session_token, 403)
            await _expect(bench, "GET", path, opened.agent_token, 403)
        await _expect(bench, "POST", "/v1/sessions", None, 401)
        await _expect(bench, "POST", "/v1/sessions", opened.session_token, 403)
        await _expect(bench, "GET", f"/v1/info?token={bench.api.token}", None, 401)
        for method, path in _session_calls(opened):
            await _expect(bench, method, path, None, 401)
            await _expect(bench, method, path, _tampered(opened.session_token), 401)
            await _expect(bench, method, path, other.session_token, 403)
            await _expect(bench, method, path, opened.agent_token, 403)
        status = await bench.api.status(opened)
        if status.steps or status.state != "open":
            raise CheckFailed(f"a refused request changed the session: {status}")


def _session_calls(opened: Opened) -> list[tuple[str, str]]:
    path = f"/v1/sessions/{opened.session}"
    return [
        ("GET", path),
        ("POST", f"{path}/step"),
        ("POST", f"{path}/renew"),
        ("GET", f"{path}/trajectory"),
        ("DELETE", path),
    ]


def _tampered(token: str) -> str:
    """The token with one character in its middle changed."""
    middle = len(token) // 2
    return token[:middle] + ("A" if token[middle] != "A" else "B") + token[middle + 1 :]


async def _expect(bench: Bench, method: str, path: str, token: str | None, status: int) -> None:
    body = step_body(0) if path.endswith("/step") else {} if path == "/v1/sessions" else None
    response = await bench.api.send(method, path, token=token, anonymous=token is None, body=body)
    code = "unauthorized" if status == 401 else "forbidden"
    who = "no token" if token is None else "a token that must not do"
    refused(response, status, code, f"{method} {path.partition('?')[0]} with {who}")


async def check_problems(bench: Bench) -> None:
    """What does not exist is a problem document too, and a good request beside it still works."""
    refused(await bench.api.send("GET", "/v1/nothing-here"), 404, "not_found", "an unknown path")
    succeeded(await bench.api.send("GET", "/v1/info"), 200, "/v1/info")


__all__ = ["check_access", "check_health", "check_problems"]
