"""A deadline for environment code that is kept also where that code will not stop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from envhub.sdk.errors import EnvhubError

T = TypeVar("T")
GRACE_S = 1.0
"""How long cancelled work may take to end before nobody waits for it any more."""
_held: set[asyncio.Task[Any]] = set()


async def within(limit_s: float, work: Coroutine[Any, Any, T], late: EnvhubError) -> T:
    """The work's result. It runs in a task of its own, so that work which swallows its cancellation is left behind.

    Raises:
        late: it took longer than `limit_s` seconds.
    """
    task = asyncio.get_running_loop().create_task(work)
    _held.add(task)
    task.add_done_callback(_done)
    try:
        await asyncio.wait([task], timeout=limit_s)
        if task.done():
            return task.result()
        raise late
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=GRACE_S)


def _done(task: asyncio.Task[Any]) -> None:
    _held.discard(task)
    if not task.cancelled():
        task.exception()  # of work that was left behind; nobody looks


__all__ = ["within"]
