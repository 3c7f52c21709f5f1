"""Opening: what a session may be opened with, and the block that closes it again."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import NoReturn, TypedDict

from pydantic import ValidationError

from envhub.clients.session import Session
from envhub.sdk.errors import InvalidRequest
from envhub.sdk.messages import JsonObject
from envhub.sdk.wire import Driver, OpenRequest


class OpenOptions(TypedDict, total=False):
    """What a session may be opened with; what is left out takes the manifest's value."""

    environment: str | None
    """Name; may be left out where the server hosts one."""
    task: str | None
    """Task id; None: one is chosen from the split by the seed."""
    split: str | None
    seed: int | None
    """The episode's seed; None: the task's own."""
    max_turns: int | None
    """At most the manifest's."""
    lease_s: float | None
    step_deadline_s: float | None
    episode_deadline_s: float | None
    wait_s: float
    """Seconds to wait for a place where the server is full; default 10."""
    driver: Driver
    """`mcp`: an agent steps it with `session.tokens.agent` at `session.facts.mcp_url`, and `step` is a Conflict."""
    key: str | None
    """Opening again with the same key and options gives the same session; default a fresh one."""


def open_fields(options: OpenOptions) -> JsonObject:
    """The fields of an open, with a key, so that it may be sent twice.

    Raises:
        InvalidRequest: an unknown option or a wrong value.
    """
    try:
        request = OpenRequest.model_validate({"key": secrets.token_hex(16), **options})
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise InvalidRequest(f"a session cannot be opened like this: {problems}") from error
    return request.model_dump(exclude_none=True, exclude_defaults=True)


class SessionContext:
    """What `Client.session` returns: enter it with `async with`."""

    def __init__(self, open_: Callable[[], Awaitable[Session]]) -> None:
        self._open = open_
        self._session: Session | None = None

    async def __aenter__(self) -> Session:
        self._session = await self._open()
        return self._session

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.__aexit__(kind, error, trace)

    def __enter__(self) -> NoReturn:
        raise TypeError("use `async with client.session(…)`; in code without async use envhub.clients.sync")

    def __exit__(self, *_: object) -> None: ...

    def __await__(self) -> NoReturn:
        raise TypeError("use `async with client.session(…)`, or `await client.open(…)` and close it yourself")

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"client.session() is not yet a session, so it has no {name!r}: use `async with client.session(…) as "
            "session`, or `await client.open(…)` and close it yourself"
        )


__all__ = ["OpenOptions", "SessionContext", "open_fields"]
