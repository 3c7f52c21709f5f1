"""Backoff: waits between attempts that grow, are bounded, and are spread so that clients do not come in step."""

from __future__ import annotations

import asyncio
import random
import time

FIRST_S = 0.05
LONGEST_S = 2.0


class Backoff:
    """Waits between attempts, up to a deadline.

    Args:
        budget_s: seconds after which `wait` gives up.
    """

    def __init__(self, budget_s: float) -> None:
        self._deadline = time.monotonic() + budget_s
        self._next_s = FIRST_S

    async def wait(self, at_least_s: float = 0.0) -> bool:
        """Wait for the next attempt; False, without waiting, where it would come after the deadline."""
        pause_s = max(at_least_s, self._next_s) * random.uniform(1.0, 1.5)
        if time.monotonic() + pause_s > self._deadline:
            return False
        self._next_s = min(2 * self._next_s, LONGEST_S)
        await asyncio.sleep(pause_s)
        return True


__all__ = ["Backoff"]
