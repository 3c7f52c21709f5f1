"""One session in the browser: observe, perform an action, look at pages for a grader, close.

Whatever an action cannot do is a message, in the action's result and in the next observation: an element that is not on
the page, an address that is none of the sites', a page that does not load, a dialog, a crash of the page. Only what
ends the session raises: BrowserCrashed and SitesUnreachable. One call at a time; the environment serialises them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from playwright.async_api import BrowserContext, Error, Page

from .actions import Action, Goto
from .context import Access
from .errors import ActionRefused, BrowserCrashed, InspectionFailed, SitesUnreachable
from .launch import Chromium
from .observe import BrowserObservation, compose, read_tab, tab_line
from .perform import Performer
from .tab import TabGone
from .tabs import Notices, Tabs, close_page
from .tree import DEFAULT_MAX_CHARS

PAGE_TEXT = "document.body ? document.body.innerText : ''"


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What came of an action."""

    done: bool
    """Whether it was carried out and its page loaded."""
    message: str = ""
    """Why not, for the policy; the next observation tells it as well. Empty if done."""


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Limits of one session."""

    hosts: frozenset[str]
    """Host names that may be gone to, lower case."""
    load_timeout_s: float = 15.0
    """Seconds a page may take until it has settled."""
    action_timeout_s: float = 40.0
    """Seconds an action may take in all."""
    max_chars: int = DEFAULT_MAX_CHARS
    """Length of an observation's tree."""


class BrowserSession:
    """A context of its own in a browser that it may share. Made by BrowserPool.acquire."""

    def __init__(
        self,
        chromium: Chromium,
        context: BrowserContext,
        access: Access,
        options: SessionOptions,
        release: Callable[[], Awaitable[None]],
    ) -> None:
        self.access = access
        """What selects this session at the sites' proxy; whoever acquired the session closes it there."""
        self._chromium = chromium
        self._options = options
        self._context = context
        self._release = release
        self._notices = Notices()
        self._tabs = Tabs(context, self._notices)
        self._performer = Performer(self._tabs, options.hosts, options.load_timeout_s)
        self._seen: BrowserObservation | None = None
        self._began = False

    async def start(self, page: Page) -> None:
        """Take over the context's first page. The pool calls it."""
        await self._tabs.adopt(page)

    async def set_world(self, script: str) -> None:
        """Run a script (see world.py) in every document from now on. The pool calls it."""
        await self._context.add_init_script(script)

    async def add_cookie(self, address: str, name: str, value: str) -> None:
        """Give the browser a cookie of the address's host, which no page's script can read.

        Raises:
            BrowserCrashed: the browser is gone.
        """
        async with self._boundary():
            await self._context.add_cookies(
                [{"url": address, "name": name, "value": value, "httpOnly": True, "sameSite": "Lax"}]
            )

    @property
    def alive(self) -> bool:
        """Whether the browser is there."""
        return self._chromium.alive

    @property
    def url(self) -> str:
        """Address of the current tab."""
        return self._tabs.current.activity.url

    async def open(self, address: str) -> BrowserObservation:
        """Go to a task's first page and look at it.

        Raises:
            SitesUnreachable: it did not load.
            BrowserCrashed: the browser is gone.
        """
        result = await self.perform(Goto(address))
        if not result.done:
            raise SitesUnreachable(f"the task's first page {address} did not load: {result.message}")
        return await self.observe()

    async def observe(self, screenshot: bool = False) -> BrowserObservation:
        """Look at the current tab; its numbers count until the next look.

        Raises:
            BrowserCrashed: the browser is gone.
        """
        async with self._boundary():
            await self._tabs.update()
            tab = self._tabs.current
            tree, title = await asyncio.gather(read_tab(tab, self._options.max_chars), tab.title())
            picture = await tab.screenshot() if screenshot else None
            line = await tab_line(self._tabs.all, self._tabs.index, title)
            text = compose(self._notices.take(), line, self.url, tree.text)
            self._seen = BrowserObservation(text, self.url, title, tree.elements, tree.truncated, picture)
        assert self._seen is not None
        return self._seen

    async def perform(self, action: Action) -> ActionResult:
        """Carry out one action and wait until the page has settled. Numbers are those of the last observation.

        Raises:
            BrowserCrashed: the browser is gone.
            SitesUnreachable: the sites' server does not answer.
        """
        result = ActionResult(True)
        async with self._boundary():
            try:
                async with asyncio.timeout(self._options.action_timeout_s):
                    await self._performer.do(action, self._seen.elements if self._seen else {})
                    await self._begin(action)
            except ActionRefused as refusal:
                result = ActionResult(False, str(refusal))
            except TimeoutError:
                await self._tabs.current.stop()
                result = ActionResult(False, "the page does not respond; the action may not have been carried out")
            except (Error, TabGone) as error:
                await self._raise_if_lost(error)
                crashed = self._tabs.current.crashed
                result = ActionResult(False, "the page crashed" if crashed else f"the page refused: {error}"[:300])
        if result.message:
            self._notices.add(result.message)
        return result

    async def _begin(self, action: Action) -> None:
        """The first page that is gone to has none before it."""
        if isinstance(action, Goto) and not self._began:
            self._began = True
            await self._tabs.current.send("Page.resetNavigationHistory")

    async def inspect(self, address: str, expression: str = PAGE_TEXT) -> object:
        """The value of a JavaScript expression on a fresh page of this session, which the policy never sees.

        Args:
            address: what to open; `url` for the page that the policy is on.
            expression: its value must be JSON; by default the page's visible text.

        Raises:
            InspectionFailed: the page did not load, or the expression raised.
            BrowserCrashed: the browser is gone.
        """
        value: object = None
        async with self._boundary():
            page = await self._tabs.hidden_page()
            try:
                async with asyncio.timeout(self._options.action_timeout_s):
                    await page.goto(address, timeout=self._options.load_timeout_s * 1000)
                    value = await page.evaluate(expression)
            except (Error, TimeoutError) as error:
                await self._raise_if_lost(error)
                raise InspectionFailed(f"looking at {address} for {expression[:100]!r}: {error}"[:600]) from error
            finally:
                await close_page(page)
        return value

    async def close(self) -> None:
        """Give the context back; harmless when repeated, complete even if the caller is cancelled."""
        await self._release()

    async def __aenter__(self) -> BrowserSession:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @asynccontextmanager
    async def _boundary(self) -> AsyncIterator[None]:
        """Playwright's errors end here: the browser is gone, or what they say is the caller's."""
        if not self._chromium.alive:
            raise self._crashed()
        try:
            yield
        except (Error, TabGone, TimeoutError) as error:
            await self._raise_if_lost(error)
            raise BrowserCrashed(f"the browser does not respond: {error}"[:300]) from error

    async def _raise_if_lost(self, error: BaseException) -> None:
        if await self._chromium.lost(error):
            raise self._crashed() from error

    def _crashed(self) -> BrowserCrashed:
        return BrowserCrashed("the browser of this session ended; open a new session")
