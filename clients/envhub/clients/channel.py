"""Channel: what all sessions of one client share, its transport, deadlines, leases and unfinished closings."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from envhub.clients.lease import LeaseKeeper
from envhub.clients.transport import Transport
from envhub.sdk.errors import ServerError

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Deadlines:
    """Seconds the client waits for an answer. The server's own deadlines are the ones that stop work; these are for
    a server that does not answer at all."""

    request_s: float = 60.0
    """Anything short: status, renewals, lists."""
    work_s: float = 3600.0
    """What runs environment code: opening and stepping. Give more than the environment's own deadlines, or a step that
    may take its time is given up here. A peer that is gone is noticed much earlier."""
    close_s: float = 10.0
    """Closing a session, and everything at the client's exit."""


class Channel:
    """See the module.

    Args:
        url: address of the server, for messages and MCP addresses.
        transport: started.
        deadlines: see there.
    """

    def __init__(self, url: str, transport: Transport, deadlines: Deadlines) -> None:
        self.url = url.rstrip("/")
        self.transport = transport
        self.deadlines = deadlines
        self.leases = LeaseKeeper(transport, deadlines.request_s)
        self._finishing: set[asyncio.Task[Any]] = set()

    def finish(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run something that must complete even where its caller is cancelled; `close` waits for it."""
        task = asyncio.create_task(work, name=name)
        self._finishing.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._finishing.discard(task)
        if not task.cancelled():
            task.exception()  # Its caller may be gone; asyncio would complain that nobody looked.

    async def close(self) -> None:
        """Finish what is unfinished, for at most `close_s`, then close the connection."""
        try:
            await self.leases.close()
            if self._finishing:
                _, late = await asyncio.wait(self._finishing, timeout=self.deadlines.close_s)
                for task in late:
                    task.cancel()
        finally:
            await self.transport.close()


def read_reply(model: type[Model], reply: object) -> Model:
    """A reply as its model.

    Raises:
        ServerError: it does not fit: another version of the protocol, or no envhub server.
    """
    try:
        return model.model_validate(reply)
    except ValidationError as error:
        raise ServerError(f"the server's reply is no {model.__name__} of this protocol version: {error}") from error


__all__ = ["Channel", "Deadlines", "read_reply"]
