"""The small site of these tests and a pool whose sessions it knows."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from site_proxy import SiteProxy
from webarena_under_test.browser import (
    Access,
    ActionResult,
    BrowserObservation,
    BrowserPool,
    BrowserSession,
    PoolOptions,
    SessionOptions,
    parse_action,
)

HOSTS = frozenset({"shop.test", "forum.test"})


class Site(SiteProxy):
    """A proxy that opens and closes users as the sites open and close sessions."""

    def __init__(self, pages: dict[str, Any]) -> None:
        super().__init__(pages)
        self._numbers = itertools.count(1)

    async def new_access(self) -> Access:
        """A new user."""
        access = Access(self.port, f"user{next(self._numbers)}", "secret")
        self.users[access.username] = access.password
        return access

    async def drop_access(self, access: Access) -> None:
        """Forget a user."""
        del self.users[access.username]

    def page(self, path: str, html: str, host: str = "shop.test") -> str:
        """Serve a page and return its address."""
        address = f"http://{host}{path}"
        self.pages[address] = f"<!doctype html><title>{path}</title>{html}"
        return address


@asynccontextmanager
async def open_pool(
    site: Site, chromium: Any, load_timeout_s: float = 15.0, **options: Any
) -> AsyncIterator[BrowserPool]:
    """A pool whose sessions are users of `site`."""
    settings = PoolOptions(**{"warm": 1, **options})
    limits = SessionOptions(HOSTS, load_timeout_s=load_timeout_s)
    async with BrowserPool(chromium, site.new_access, site.drop_access, limits, settings) as pool:
        yield pool


def number(observation: BrowserObservation, line: str) -> int:
    """The number of the line that starts with `line`, e.g. "link 'Home'"."""
    match = re.search(rf"\[(\d+)\] {re.escape(line)}", observation.text)
    assert match, f"no {line!r} in:\n{observation.text}"
    return int(match[1])


async def shows_title(session: BrowserSession, title: str) -> BrowserObservation:
    """The observation in which the page has this title; a page that never has it has failed."""
    async with asyncio.timeout(60):
        while (observation := await session.observe()).title != title:
            await asyncio.sleep(0.02)
    return observation


async def act(session: BrowserSession, text: str) -> tuple[ActionResult, BrowserObservation]:
    """Perform an action text; numbers may be given as lines: click {link 'Home'}."""
    if named := re.search(r"\{(.*?)\}", text):
        text = text.replace(named[0], f"[{number(await session.observe(), named[1])}]")
    result = await session.perform(parse_action(text))
    return result, await session.observe()
