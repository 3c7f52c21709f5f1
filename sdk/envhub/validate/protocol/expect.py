"""Expectations of replies, told in words where they are not met."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx

from envhub.sdk.messages import Action, JsonObject
from envhub.sdk.wire import Opened
from envhub.validate.bench import Bench
from envhub.validate.report import CheckFailed

HELLO = Action(message="hello")
OTHER = Action(message="something else")
PROBLEM_TYPE = "application/problem+json"


def refused(response: httpx.Response, status: int, code: str, what: str) -> JsonObject:
    """The problem document of a request that had to be refused so.

    Raises:
        CheckFailed: it was not refused, refused otherwise, or the reply is no problem document.
    """
    got = f"{response.status_code} {response.text[:160]!r}"
    if response.status_code != status:
        raise CheckFailed(f"{what}: expected {status} {code}, got {got}")
    if not response.headers.get("content-type", "").startswith(PROBLEM_TYPE):
        raise CheckFailed(f"{what}: a refusal must be {PROBLEM_TYPE}, got {response.headers.get('content-type')!r}")
    problem: JsonObject = response.json()
    if problem.get("code") != code or problem.get("status") != status:
        raise CheckFailed(f"{what}: expected the code {code!r}, got {got}")
    missing = [field for field in ("boundary", "detail", "title", "type") if not problem.get(field)]
    if missing:
        raise CheckFailed(f"{what}: the problem document lacks {', '.join(missing)}")
    return problem


def succeeded(response: httpx.Response, status: int, what: str) -> Any:
    """The JSON of a request that had to succeed so.

    Raises:
        CheckFailed: it did not.
    """
    if response.status_code != status:
        raise CheckFailed(f"{what}: expected {status}, got {response.status_code} {response.text[:160]!r}")
    return response.json()


def same(one: Any, other: Any, what: str) -> None:
    """Raises CheckFailed unless the two are equal."""
    if one != other:
        raise CheckFailed(f"{what}: {str(one)[:160]!r} and {str(other)[:160]!r}")


def session(bench: Bench, **request: Any) -> AbstractAsyncContextManager[Opened]:
    """A session of the first task, closed at the end."""
    return bench.api.session(environment=bench.name, task=bench.tasks[0].id, **request)


def step_body(index: int, action: Action = HELLO) -> JsonObject:
    """The body of a step."""
    return {"index": index, "action": action.model_dump(mode="json", exclude_defaults=True)}


async def send_step(bench: Bench, opened: Opened, index: int, action: Action = HELLO) -> httpx.Response:
    """A step, whatever comes of it."""
    path = f"/v1/sessions/{opened.session}/step"
    return await bench.api.send("POST", path, token=opened.session_token, body=step_body(index, action))


__all__ = ["HELLO", "OTHER", "refused", "same", "send_step", "session", "step_body", "succeeded"]
