"""LeaseKeeper: one task renews the leases of all of a client's sessions, several a frame, a third of a lease apart."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Protocol

from envhub.clients.transport import Transport
from envhub.sdk.errors import EnvhubError, LeaseLost, RequestError, from_problem

log = logging.getLogger("envhub.clients")

RENEWALS_A_LEASE = 3
RENEW_TOGETHER = 32
"""Renewals in one batch frame."""
EARLY = 0.25
"""A session due within this part of its interval is renewed with those that are due, so that wake-ups stay few."""


class Leased(Protocol):
    """A session as the keeper sees it."""

    id: str
    lease_s: float
    renewed_at: float
    """`time.monotonic()` of the last step or renewal."""

    @property
    def ended(self) -> bool: ...


class LeaseKeeper:
    """Renews what is added until it is removed or has ended.

    Args:
        transport: what renewals are sent by.
        timeout_s: seconds to wait for the answer to one frame of renewals.
    """

    def __init__(self, transport: Transport, timeout_s: float) -> None:
        self._transport = transport
        self._timeout_s = timeout_s
        self._sessions: dict[str, Leased] = {}
        self._task: asyncio.Task[None] | None = None
        self._sooner = asyncio.Event()
        self._wakes_at = 0.0

    def add(self, session: Leased) -> None:
        """Keep this session's lease from now on."""
        self._sessions[session.id] = session
        if self._task is None:
            self._task = asyncio.create_task(self._keep(), name="envhub leases")
        if _due(session) < self._wakes_at:
            self._sooner.set()

    def remove(self, session_id: str) -> None:
        """Stop keeping it."""
        self._sessions.pop(session_id, None)

    async def close(self) -> None:
        """Stop; leases run out on their own."""
        self._sessions.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _keep(self) -> None:
        while True:
            self._wakes_at = min((_due(session) for session in self._sessions.values()), default=float("inf"))
            self._sooner.clear()
            await self._sleep(self._wakes_at - time.monotonic())
            due = self._collect()
            for start in range(0, len(due), RENEW_TOGETHER):
                await self._renew(due[start : start + RENEW_TOGETHER])

    async def _sleep(self, pause_s: float) -> None:
        """Until the first lease is due; with none to keep, until one is added."""
        try:
            async with asyncio.timeout(None if pause_s == float("inf") else max(0.0, pause_s)):
                await self._sooner.wait()
        except TimeoutError:
            pass

    def _collect(self) -> list[Leased]:
        for session_id in [session.id for session in self._sessions.values() if session.ended]:
            self.remove(session_id)
        now = time.monotonic()
        return [one for one in self._sessions.values() if _due(one) - EARLY * one.lease_s / RENEWALS_A_LEASE <= now]

    async def _renew(self, sessions: list[Leased]) -> None:
        now = time.monotonic()
        items = [{"op": "renew", "session": session.id} for session in sessions]
        try:
            reply = await self._transport.request("batch", {"items": items}, self._timeout_s)
        except EnvhubError as error:
            # A third of a lease was used; the next attempt is due at once, after the transport's own pauses.
            log.warning("could not renew %d leases: %s", len(sessions), error)
            await asyncio.sleep(min(1.0, min(session.lease_s for session in sessions) / (2 * RENEWALS_A_LEASE)))
            return
        for session, answer in zip(sessions, reply["items"], strict=True):
            if "ok" in answer:
                session.renewed_at = now
                continue
            refusal = from_problem(answer["error"])
            log.info("session %s was not renewed: %s", session.id, refusal)
            if isinstance(refusal, (RequestError, LeaseLost)):
                self.remove(session.id)  # It has ended; its next step raises why.


def _due(session: Leased) -> float:
    return session.renewed_at + session.lease_s / RENEWALS_A_LEASE


__all__ = ["LeaseKeeper", "Leased"]
