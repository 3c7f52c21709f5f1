"""Admission: a capacity, a bounded queue in front of it, then a typed refusal."""

from __future__ import annotations

import asyncio
from collections import deque

from envhub.sdk.errors import AtCapacity


class Admission:
    """Places for sessions.

    Args:
        capacity: how many may be taken at once.
        queue: how many may wait for one.
    """

    def __init__(self, capacity: int, queue: int) -> None:
        self.capacity = capacity
        self.taken = 0
        self._queue_limit = queue
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """Opens in the queue."""
        return len(self._waiting)

    async def take(self, wait_s: float) -> None:
        """Take a place, first come first served.

        Raises:
            AtCapacity: the queue is full, or no place came free within `wait_s` seconds.
        """
        if self.taken < self.capacity and not self._waiting:
            self.taken += 1
            return
        if wait_s <= 0 or len(self._waiting) >= self._queue_limit:
            raise self._full()
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            async with asyncio.timeout(wait_s):
                await place
        except BaseException as error:
            self._give_up(place)
            if isinstance(error, TimeoutError):
                raise self._full() from None
            raise

    def release(self) -> None:
        """Give a place back: to whoever waits longest, else to nobody."""
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self.taken -= 1

    def _give_up(self, place: asyncio.Future[None]) -> None:
        if place.done() and not place.cancelled():
            self.release()  # it was handed over just as the wait ended
        elif place in self._waiting:
            self._waiting.remove(place)

    def _full(self) -> AtCapacity:
        retry = 1.0 + self.waiting / max(1, self.capacity)
        text = f"all {self.capacity} sessions are taken and {self.waiting} wait; try again, or raise --max-sessions"
        return AtCapacity(text, retry_after_s=round(retry, 1))


__all__ = ["Admission"]
