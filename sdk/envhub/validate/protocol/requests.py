"""protocol.malformed, .unknown, .limits: requests that are wrong in themselves change nothing."""

from __future__ import annotations

import json

from envhub.sdk.messages import Action, JsonObject
from envhub.validate.bench import Bench
from envhub.validate.protocol.expect import HELLO, refused, send_step, session, step_body, succeeded
from envhub.validate.report import CheckFailed, NotChecked

NOT_JSON = (b"", b"{", b"[1", b"nope", b"\xff\xfe", b'{"index": 0, "action": {"message": "a"}}}', b"[" * 100_000)
BAD_STEPS: tuple[JsonObject, ...] = (
    {},
    {"index": 0},
    {"index": 0, "action": {}},
    {"index": 0, "action": None},
    {"index": 0, "action": "left"},
    {"index": -1, "action": {"message": "a"}},
    {"index": "zero", "action": {"message": "a"}},
    {"index": 0, "action": {"message": 7}},
    {"index": 0, "action": {"message": "a", "tool_calls": [{"name": "b"}]}},
    {"index": 0, "action": {"tool_calls": [{"arguments": {}}]}},
    {"index": 0, "action": {"message": "a", "unknown": 1}},
    {"index": 0, "action": {"message": "a"}, "unknown": 1},
)
BAD_OPENS: tuple[JsonObject, ...] = (
    {"unknown": 1},
    {"seed": -1},
    {"seed": "seven"},
    {"driver": "nobody"},
    {"max_turns": 0},
    {"lease_s": -5},
    {"key": "short"},
    {"wait_s": 1e9},
)


async def check_malformed(bench: Bench) -> None:
    """Bodies that are no JSON, of a wrong type or with unknown fields are 400, and the session is unharmed."""
    async with session(bench) as opened:
        path = f"/v1/sessions/{opened.session}/step"
        for content in NOT_JSON:
            response = await bench.api.send("POST", path, token=opened.session_token, content=content)
            refused(response, 400, "invalid_request", f"a step of {content[:40]!r}")
        for body in BAD_STEPS:
            response = await bench.api.send("POST", path, token=opened.session_token, body=body)
            refused(response, 400, "invalid_request", f"a step of {json.dumps(body)}")
        for body in BAD_OPENS:
            response = await bench.api.send("POST", "/v1/sessions", body={"environment": bench.name, **body})
            refused(response, 400, "invalid_request", f"an open of {json.dumps(body)}")
        for query in ("/v1/info?unknown=1", "/v1/tasks?limit=many", "/v1/tasks?offset=-1"):
            refused(await bench.api.send("GET", query), 400, "invalid_request", query)
        succeeded(await send_step(bench, opened, 0), 200, "the first good step after all of these")


async def check_unknown(bench: Bench) -> None:
    """Unknown sessions, tasks, splits and environments are 404."""
    async with session(bench) as opened:
        unknown = "/v1/sessions/no-such-session"
        response = await bench.api.send("GET", unknown, token=opened.session_token)
        if response.status_code not in (403, 404):
            raise CheckFailed(f"an unknown session replied {response.status_code}, not 403 or 404")
    opens: tuple[JsonObject, ...] = (
        {"environment": "no-such-environment"},
        {"environment": bench.name, "task": "no-such-task"},
        {"environment": bench.name, "split": "no-such-split"},
    )
    for body in opens:
        response = await bench.api.send("POST", "/v1/sessions", body=body)
        refused(response, 404, "not_found", f"an open of {json.dumps(body)}")
    path = "/v1/schema?environment=no-such-environment"
    refused(await bench.api.send("GET", path), 404, "not_found", path)


async def check_limits(bench: Bench) -> None:
    """An action over the byte limit is 413 and executes nothing; one just under it is an ordinary step."""
    limit = bench.info.limits.get("action_bytes")
    if limit is None:
        raise NotChecked("the server names no limit action_bytes")
    async with session(bench) as opened:
        over = Action(message="x" * (int(limit) + 1))
        refused(
            await send_step(bench, opened, 0, over), 413, "too_large", f"an action of {len(over.message or '')} bytes"
        )
        status = await bench.api.status(opened)
        if status.steps:
            raise CheckFailed("an action that was too large took a step")
        under = Action(message="x" * (int(limit) - 200))
        path = f"/v1/sessions/{opened.session}/step"
        response = await bench.api.send("POST", path, token=opened.session_token, body=step_body(0, under))
        succeeded(response, 200, "an action just under the limit")
    async with session(bench) as opened:
        succeeded(await send_step(bench, opened, 0, HELLO), 200, "a step of another session")


__all__ = ["check_limits", "check_malformed", "check_unknown"]
