"""Browsers for many sessions: one Chromium for a few of them, a context each, some made before they are asked for.

A context belongs to one session of the sites, by the proxy credentials it has shown (context.py). So the pool asks the
environment for the credentials of a fresh session whenever it makes a context, and hands both out together.

    async def new_access() -> Access: ...        # open a session of the sites
    async def drop_access(access) -> None: ...   # one that was never handed out

    async with BrowserPool(find_browser(), new_access, drop_access, SessionOptions(hosts=...)) as pool:
        async with await pool.acquire(clock_s=...) as session:
            print((await session.open("http://shop.test/")).text)

Contexts are made by tasks of the pool, never by the caller's: a caller that gives up leaves a warm context behind
instead of half a one. Every process ends with ours, also by kill -9: the browsers hang on the driver's pipe, the driver
on ours.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from playwright.async_api import BrowserContext, Error

from .browsers import Browsers
from .context import Access, open_context, warm_up
from .errors import BrowserCrashed, BrowserTimeout
from .find import FoundBrowser
from .launch import Chromium
from .session import BrowserSession, SessionOptions
from .world import world_script

log = logging.getLogger(__name__)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """Sizes and deadlines of a pool."""

    sessions_per_browser: int = 8
    """A crash of the browser itself ends this many sessions at most."""
    warm: int = 2
    """Contexts kept ready; 0 makes each when it is asked for."""
    warm_addresses: tuple[str, ...] = ()
    """Pages opened once in each warm context, so that the first page of its session comes from a full cache. They are
    the session's first requests, made before it is acquired."""
    warm_delay_s: float = 0.5
    """Seconds after an acquire before contexts are made ready again: the new session's first page comes first."""
    openings: int = 4
    """Contexts that are made at one time."""
    open_timeout_s: float = 60.0
    """Seconds acquire may take, waiting for other openings included."""
    close_timeout_s: float = 10.0
    """Seconds a context may take to close before its browser takes no more sessions."""


@dataclass(frozen=True, slots=True)
class _Ready:
    """A session whose context is made, before it is handed out."""

    chromium: Chromium
    context: BrowserContext
    session: BrowserSession


class BrowserPool:
    """Hands out browser sessions; see the module's text.

    Args:
        found: the browser to start.
        new_access: opens a session of the sites; called once a context.
        drop_access: closes one whose context was never handed out. The others are their holder's to close.
        session_options: limits of each session.
        options: sizes and deadlines.
    """

    def __init__(
        self,
        found: FoundBrowser,
        new_access: Callable[[], Awaitable[Access]],
        drop_access: Callable[[Access], Awaitable[None]],
        session_options: SessionOptions,
        options: PoolOptions | None = None,
    ) -> None:
        self._options = options or PoolOptions()
        self._browsers = Browsers(found, self._options.sessions_per_browser)
        self._new_access = new_access
        self._drop_access = drop_access
        self._session_options = session_options
        self._ready: deque[_Ready] = deque()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._openings = asyncio.Semaphore(self._options.openings)
        self._refill: asyncio.Task[None] | None = None
        self._closed = False

    async def start(self) -> None:
        """Start the driver and make the first contexts ready.

        Raises:
            BrowserCrashed, BrowserTimeout, SitesUnreachable: no context could be made.
        """
        try:
            async with self._deadline():
                await self._browsers.start()
                await self._fill()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End all sessions, browsers and the driver."""
        self._closed = True
        if self._refill is not None:
            self._refill.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(self._drop(ready) for ready in self._ready))
        self._ready.clear()
        await self._browsers.close()

    async def __aenter__(self) -> BrowserPool:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def browsers(self) -> int:
        """Browser processes that live."""
        return self._browsers.alive

    @property
    def sessions(self) -> int:
        """Contexts that are handed out, or being made or closed."""
        return self._browsers.places - len(self._ready)

    @property
    def warm(self) -> int:
        """Contexts that are ready."""
        return len(self._ready)

    async def acquire(self, clock_s: float, seed: int = 0) -> BrowserSession:
        """A session in a context of its own, whose pages show the task's clock.

        Args:
            clock_s: the task's time in seconds since 1970.
            seed: of Math.random in its pages.

        Raises:
            BrowserCrashed, BrowserTimeout, SitesUnreachable: none could be made.
        """
        script = world_script(clock_s, seed)
        try:
            async with self._deadline():
                while True:
                    ready = await self._take()
                    try:
                        await ready.session.set_world(script)
                        return ready.session
                    except BaseException as error:
                        await self._finish(self._drop(ready))
                        if not isinstance(error, Error):  # Else it crashed while it was ready: the next one.
                            raise
        finally:
            self._refill_later()

    @asynccontextmanager
    async def _deadline(self) -> AsyncIterator[None]:
        limit_s = self._options.open_timeout_s
        try:
            async with asyncio.timeout(limit_s) as timeout:
                yield
        except TimeoutError as error:
            if not timeout.expired():
                raise
            raise BrowserTimeout(f"no browser context within {limit_s:g} s") from error

    async def _take(self) -> _Ready:
        while self._ready:
            ready = self._ready.popleft()
            if ready.chromium.usable:
                return ready
            await self._finish(self._drop(ready))
        opening = self._spawn(self._open())
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(self._keep)
            raise

    def _keep(self, opening: asyncio.Task[_Ready]) -> None:
        """What a caller did not wait for is warm."""
        if not opening.cancelled() and opening.exception() is None:
            self._ready.append(opening.result())

    async def _open(self, addresses: tuple[str, ...] = ()) -> _Ready:
        async with self._openings:
            access = await self._new_access()
            try:
                try:
                    return await self._open_for(access, addresses)
                except BrowserCrashed:
                    return await self._open_for(
                        access, addresses
                    )  # It may have crashed before that was noticed: once more.
            except BaseException:
                await self._drop_access(access)
                raise

    async def _open_for(self, access: Access, addresses: tuple[str, ...]) -> _Ready:
        chromium = await self._browsers.take_place()
        try:
            context, page = await open_context(chromium, access, self._options.open_timeout_s)
            await warm_up(context, page, addresses, self._options.open_timeout_s)
            ready = _Ready(chromium, context, self._session(chromium, context, access))
            await ready.session.start(page)
            return ready
        except BaseException as error:
            # A call that was given up may still make its context: no more sessions there.
            chromium.retired |= not isinstance(error, BrowserCrashed)
            await self._browsers.give_place(chromium)
            raise

    def _session(self, chromium: Chromium, context: BrowserContext, access: Access) -> BrowserSession:
        released: list[asyncio.Task[None]] = []

        async def release() -> None:
            if not released:
                released.append(self._spawn(self._close_context(chromium, context)))
            await asyncio.shield(released[0])

        return BrowserSession(chromium, context, access, self._session_options, release)

    async def _close_context(self, chromium: Chromium, context: BrowserContext) -> None:
        try:
            async with asyncio.timeout(self._options.close_timeout_s):
                await context.close()
        except TimeoutError:
            chromium.retired = True
        except Error:
            pass  # The browser is gone, and its contexts with it.
        finally:
            await self._browsers.give_place(chromium)

    async def _drop(self, ready: _Ready) -> None:
        """Close a context that was not handed out, and its session of the sites."""
        await self._close_context(ready.chromium, ready.context)
        await self._drop_access(ready.session.access)

    async def _fill(self) -> None:
        missing = self._options.warm - len(self._ready)
        async with asyncio.TaskGroup() as group:
            openings = [group.create_task(self._open(self._options.warm_addresses)) for _ in range(missing)]
        self._ready.extend(opening.result() for opening in openings)

    def _refill_later(self) -> None:
        if not self._closed and (self._refill is None or self._refill.done()):
            self._refill = self._spawn(self._refill_now())

    async def _refill_now(self) -> None:
        """The one place where a failed opening is only noted: the next acquire makes its own, and raises."""
        await asyncio.sleep(self._options.warm_delay_s)
        try:
            async with self._deadline():
                await self._fill()
        except Exception as error:
            log.warning("no browser context could be made ready: %r", error)

    async def _finish(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something to its end, even if the caller is cancelled meanwhile."""
        await asyncio.shield(self._spawn(work))

    def _spawn(self, work: Coroutine[Any, Any, Value]) -> asyncio.Task[Value]:
        """A task that the pool holds and, when it closes, waits for."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
