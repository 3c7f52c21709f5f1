"""protocol.batch: a reply for every item, in order, each as it would be alone."""

from __future__ import annotations

from typing import Any

from envhub.sdk.messages import JsonObject
from envhub.sdk.wire import Opened
from envhub.validate.bench import Bench
from envhub.validate.protocol.expect import OTHER, same, session, step_body, succeeded
from envhub.validate.report import CheckFailed


async def check_batch(bench: Bench) -> None:
    """Good and bad items together: always 200, one session's items in order, repeated without being done twice."""
    async with session(bench) as one, session(bench) as two:
        items: list[Any] = [
            _step(one),
            _step(two),
            {"op": "renew", "session": one.session, "token": one.session_token},
            {**_step(one), "action": step_body(0, OTHER)["action"]},
            {**_step(one), "token": two.session_token},
            {**_step(one), "unknown": 1},
            {"op": "nothing"},
            "not an item",
        ]
        replies = await _send(bench, items)
        again = await _send(bench, items[:2])
        same(again, replies[:2], "a batch sent again gave other results")
    codes = [reply["error"]["code"] if "error" in reply else "ok" for reply in replies]
    expected = ["ok", "ok", "ok", "conflict", "forbidden", "invalid_request", "invalid_request", "invalid_request"]
    same(codes, expected, "the outcomes of a batch")
    same(replies[2]["ok"]["steps"], 1, "items of one session must run in order")


def _step(opened: Opened) -> JsonObject:
    return {"op": "step", "session": opened.session, "token": opened.session_token, **step_body(0)}


async def _send(bench: Bench, items: list[Any]) -> list[JsonObject]:
    response = await bench.api.send("POST", "/v1/batch", anonymous=True, body={"items": items})
    if response.status_code == 401:
        response = await bench.api.send("POST", "/v1/batch", body={"items": items})
    replies: list[JsonObject] = succeeded(response, 200, "a batch")["items"]
    if len(replies) != len(items):
        raise CheckFailed(f"a batch of {len(items)} items has {len(replies)} replies")
    return replies


__all__ = ["check_batch"]
