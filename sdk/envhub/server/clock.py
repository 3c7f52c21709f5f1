"""Clock: a session's three deadlines (step, lease, episode), watched by one timer.

Steps only write times down; the timer looks at them at least four times within the shortest deadline, and exactly when
one is due. So a deadline costs a step nothing and is still kept to the millisecond.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Literal

from envhub.server.terms import Terms

Due = Literal["step_deadline", "lease_lost", "episode_time"]
_NEVER = float("inf")


class Clock:
    """The deadlines of one session. All times are monotonic seconds.

    Args:
        terms: how long each may take.
        due: called with the deadline that has passed. Lease and episode wait until no step is being worked on.
    """

    __slots__ = ("_due", "_terms", "_timer", "_working", "episode_due", "lease_due", "step_due")

    def __init__(self, terms: Terms, due: Callable[[Due], None]) -> None:
        self._terms, self._due = terms, due
        self._working = False
        self._timer: asyncio.TimerHandle | None = None
        self.step_due = self.lease_due = self.episode_due = _NEVER

    def start(self) -> None:
        """Count lease and episode from now."""
        now = time.monotonic()
        self.lease_due = now + self._terms.lease_s
        self.episode_due = now + self._terms.episode_s
        self._arm(now)

    def stop(self) -> None:
        """Nothing is due any more."""
        self.step_due = self.episode_due = _NEVER
        if self._timer is not None:
            self._timer.cancel()

    def step_begins(self) -> float:
        """Count the step's deadline from now; returns now."""
        now = time.monotonic()
        self._working = True
        self.step_due = now + self._terms.step_s
        return now

    def step_grades(self) -> None:
        """The step itself is done; grading has a deadline of its own."""
        self.step_due = _NEVER

    def step_ends(self) -> float:
        """No step is being worked on; the lease counts from now. Returns now."""
        now = time.monotonic()
        self._working = False
        self.step_due = _NEVER
        self.lease_due = now + self._terms.lease_s
        return now

    def renew(self) -> None:
        """Count the lease from now."""
        self.lease_due = time.monotonic() + self._terms.lease_s

    @property
    def lease_left_s(self) -> float:
        """Seconds until the lease ends."""
        return max(0.0, self.lease_due - time.monotonic())

    def _arm(self, now: float) -> None:
        next_due = self.step_due if self._working else min(self.lease_due, self.episode_due)
        often = min(self._terms.step_s, self._terms.lease_s, self._terms.episode_s) / 4
        wait_s = max(min(next_due - now, often), 0.001)
        self._timer = asyncio.get_running_loop().call_later(wait_s, self._tick)

    def _tick(self) -> None:
        now = time.monotonic()
        passed = self._passed(now)
        if passed == "episode_time":
            self.episode_due = _NEVER  # said once; what follows has deadlines of its own
        if passed in (None, "episode_time"):
            self._arm(now)
        if passed is not None:
            self._due(passed)

    def _passed(self, now: float) -> Due | None:
        if now >= self.step_due:
            return "step_deadline"
        if self._working:
            return None
        if now >= self.lease_due:
            return "lease_lost"
        return "episode_time" if now >= self.episode_due else None


__all__ = ["Clock", "Due"]
