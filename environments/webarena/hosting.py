"""Suite: the running sites and the browsers on them, and the visits of sessions to both.

A visit is one session's fresh copy of the sites and its browser context. Visits share nothing but processes. Where the
sites' process ends, its visits end with it, and the next visit starts sites and browsers anew.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from envhub.sdk import HostContext, SandboxFailed

from .browser import (
    Access,
    BrowserObservation,
    BrowserPool,
    BrowserSession,
    FoundBrowser,
    Goto,
    PoolOptions,
    SessionOptions,
    find_browser,
)
from .sites import DEFAULT_CLOCK, SESSION_COOKIE, RequestRecord, SitesError, SiteSession, SitesHost

SESSIONS_PER_BROWSER = 8

log = logging.getLogger(__name__)


class SitesFailed(SandboxFailed):
    """The sites' process ended, or does not do its part: nothing that the policy did."""

    code = "sites"


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a session begins with."""

    address: str
    clock: datetime
    seed: int
    logins: Mapping[str, str] = field(default_factory=dict)
    """Site name -> user name."""


class Suite:
    """Sites and browsers that run. Made by `Suites`."""

    def __init__(self, host: SitesHost, found: FoundBrowser, sites: Mapping[str, str], context: HostContext) -> None:
        self.host = host
        self.sites = sites
        config = context.config
        self.pool = BrowserPool(
            found,
            self._new_access,
            self._drop_access,
            SessionOptions(hosts=frozenset(sites.values()), max_chars=int(config["max_chars"])),
            PoolOptions(
                sessions_per_browser=SESSIONS_PER_BROWSER,
                warm=int(config["warm"]),
                warm_addresses=tuple(f"http://{host}/" for host in sites.values()),
            ),
        )
        self._open: dict[str, tuple[SiteSession, float]] = {}

    async def close(self) -> None:
        """End browsers and sites."""
        try:
            await self.pool.close()
        finally:
            await self.host.stop()

    async def visit(self, beginning: Beginning) -> Visit:
        """A fresh copy of the sites in a browser context of its own."""
        started = time.perf_counter()
        browser = await self.pool.acquire(clock_s=beginning.clock.timestamp(), seed=beginning.seed)
        site, copied_s = self._open.pop(browser.access.username)
        visit = Visit(self, site, browser)
        visit.opened_ms["site"] = copied_s * 1000
        visit.opened_ms["context"] = (time.perf_counter() - started) * 1000
        return visit

    async def _new_access(self) -> Access:
        """A session of the sites, for a context that is about to be made."""
        started = time.perf_counter()
        site = await self.host.open(DEFAULT_CLOCK)
        self._open[site.username] = (site, time.perf_counter() - started)
        port = urlsplit(self.host.proxy_url).port
        assert port is not None
        return Access(port, site.username, site.password)

    async def _drop_access(self, access: Access) -> None:
        site, _ = self._open.pop(access.username)
        await site.close()


class Suites:
    """The suite of this process, which is started anew when its sites have ended."""

    def __init__(self, context: HostContext) -> None:
        self.sites: dict[str, str] = {str(name): str(host).lower() for name, host in context.config["sites"].items()}
        self._context = context
        self._suite: Suite | None = None
        self._changing = asyncio.Lock()

    async def __aenter__(self) -> Suites:
        async with self._changing:
            self._suite = await self._start()
        return self

    async def __aexit__(self, *_: object) -> None:
        async with self._changing:
            await self._end()

    async def visit(self, beginning: Beginning) -> Visit:
        """Open a visit and its first page.

        Raises:
            SandboxFailed: the sites or the browser cannot be had.
        """
        visit: Visit | None = None
        try:
            suite = await self._usable()
            visit = await suite.visit(beginning)
            await visit.begin(beginning)
            return visit
        except BaseException as error:
            if visit is not None:
                await asyncio.shield(visit.close())
            if isinstance(error, SitesError):
                raise SitesFailed(error.message) from error
            raise

    async def _usable(self) -> Suite:
        async with self._changing:
            if self._suite is not None and not self._suite.host.alive:
                log.warning("the sites ended and are started again: %s", await self._suite.host.wait_ended())
                await self._end()
            if self._suite is None:
                self._suite = await self._start()
            return self._suite

    async def _start(self) -> Suite:
        context = self._context
        found = find_browser(os.environ.get("ENVHUB_CHROMIUM"))  # first: it costs nothing to find out
        host = await SitesHost.start(context.cache_dir, context.run_dir / "sites", context.progress, hosts=self.sites)
        try:
            suite = Suite(host, found, self.sites, context)
            context.progress(f"starting the browser {found}")
            await suite.pool.start()
            return suite
        except BaseException:
            await host.stop()
            raise

    async def _end(self) -> None:
        suite, self._suite = self._suite, None
        if suite is not None:
            await suite.close()


class Visit:
    """One session's copy of the sites and its browser context."""

    def __init__(self, suite: Suite, site: SiteSession, browser: BrowserSession) -> None:
        self.site = site
        self.browser = browser
        self.opened_ms: dict[str, float] = {}
        """How long each part of the opening took: site (the copy, made ahead where the context was), context (the wait
        for it), begin (clock and log-in), first_page, tree."""
        self._suite = suite
        self._requests_before = 0

    async def begin(self, beginning: Beginning) -> None:
        """Set the clock, log in, and open the first page."""
        async with self._timed("begin"):
            self._requests_before = len(await self.site.requests())
            cookies = await self.site.begin(beginning.clock, beginning.logins)
            for site, value in cookies.items():
                await self.browser.add_cookie(f"http://{self._suite.sites[site]}/", SESSION_COOKIE, value)
        async with self._timed("first_page"), self.boundary():
            result = await self.browser.perform(Goto(beginning.address))
            if not result.done:
                raise SitesFailed(f"the task's first page {beginning.address} did not load: {result.message}")

    async def first_look(self, screenshot: bool) -> BrowserObservation:
        """Look at the first page."""
        async with self._timed("tree"):
            return await self.observe(screenshot)

    async def observe(self, screenshot: bool) -> BrowserObservation:
        """Look at the browser."""
        async with self.boundary():
            return await self.browser.observe(screenshot)

    async def requests(self) -> list[RequestRecord]:
        """The network trace, without what was asked for before the session began."""
        return (await self.site.requests())[self._requests_before :]

    async def close(self) -> None:
        """Give the context back and remove the copy."""
        try:
            await self.browser.close()
        finally:
            await self.site.close()

    @asynccontextmanager
    async def _timed(self, part: str) -> AsyncIterator[None]:
        started = time.perf_counter()
        yield
        self.opened_ms[part] = (time.perf_counter() - started) * 1000

    @asynccontextmanager
    async def boundary(self) -> AsyncIterator[None]:
        """Where failures of sites and browser become the sandbox's, and the sites' end is told as what it is."""
        if not self._suite.host.alive:
            raise SitesFailed(await self._ended())
        try:
            yield
        except SitesError as error:
            raise SitesFailed(error.message) from error
        except SandboxFailed as error:
            if not self._suite.host.alive:
                raise SitesFailed(await self._ended()) from error
            raise

    async def _ended(self) -> str:
        return f"the sites of this session ended; open a new session. {await self._suite.host.wait_ended()}"


def begin_of(metadata: Mapping[str, Any], seed: int) -> Beginning:
    """What a task's metadata says a session begins with."""
    return Beginning(
        metadata["start_url"], datetime.fromisoformat(metadata["start_time"]), seed, dict(metadata["login"])
    )
