"""Carries actions out on the tabs, and waits for what they set off."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from playwright.async_api import Error

from .actions import (
    Action,
    Click,
    CloseTab,
    GoBack,
    GoForward,
    Goto,
    Hover,
    NewTab,
    Press,
    Scroll,
    Stop,
    TabFocus,
    Type,
)
from .addresses import allowed_address
from .elements import Element
from .errors import ActionRefused, SitesUnreachable
from .keys import key_combination
from .tab import Tab, TabGone
from .tabs import Tabs

# What the browser says when the proxy itself is not there; a page that the proxy refuses reads otherwise.
SITES_GONE = ("PROXY_CONNECTION_FAILED", "PROXY_AUTH", "ERR_CONNECTION_", "EMPTY_RESPONSE", "TIMED_OUT")
SCROLL = "window.scrollBy({top: %d * window.innerHeight, behavior: 'instant'})"


class Performer:
    """Does actions in a session's tabs."""

    def __init__(self, tabs: Tabs, hosts: Collection[str], load_timeout_s: float) -> None:
        self._tabs = tabs
        self._hosts = hosts
        self._load_timeout_s = load_timeout_s

    async def do(self, action: Action, elements: Mapping[int, int]) -> None:
        """Carry out an action; `elements` are the numbers of the last observation.

        Raises:
            ActionRefused: it cannot be done, or its page did not load; the message is for the policy.
            SitesUnreachable: the sites' server is gone.
            TabGone, TimeoutError, Error: the page crashed, does not respond, or the browser is gone.
        """
        await self._tabs.update()
        match action:
            case Click() | Hover() | Type():
                await self._element_action(action, self._element(action.element, elements))
            case Press():
                await self._press(action.keys)
            case Scroll():
                direction = 1 if action.direction == "down" else -1
                await self._page().send("Runtime.evaluate", {"expression": SCROLL % direction})
            case NewTab():
                await self._tabs.open()
            case TabFocus():
                await self._tabs.focus(action.index)
            case CloseTab():
                await self._tabs.close_current()
            case Goto():
                await self._goto(allowed_address(action.address, self._hosts))
            case GoBack():
                await self._go(-1)
            case GoForward():
                await self._go(1)
            case Stop():
                return
        await self._settle()

    def _page(self) -> Tab:
        """The current tab, unless its page crashed."""
        if self._tabs.current.crashed:
            raise ActionRefused("the page crashed; go to an address, or close this tab")
        return self._tabs.current

    def _element(self, number: int, elements: Mapping[int, int]) -> Element:
        tab = self._page()
        if number not in elements:
            numbers = f"its numbers are 1 to {max(elements)}" if elements else "it has no numbers"
            raise ActionRefused(f"there is no element [{number}] in the last observation; {numbers}")
        return Element(tab, number, elements[number])

    async def _element_action(self, action: Click | Hover | Type, element: Element) -> None:
        match action:
            case Click():
                await element.click()
            case Hover():
                await element.hover()
            case Type():
                takes_keys = await element.type(action.text)
                if action.enter and takes_keys:
                    await element.tab.page.keyboard.press("Enter")

    async def _press(self, keys: str) -> None:
        combination = key_combination(keys)
        try:
            await self._page().page.keyboard.press(combination)
        except Error as error:
            if "Unknown key" in error.message:
                raise ActionRefused(f"there is no key combination {combination!r}") from error
            raise

    async def _goto(self, address: str) -> None:
        tab = self._tabs.current
        if tab.crashed:
            tab = await self._tabs.replace_current()
        try:
            await tab.send("Page.navigate", {"url": address}, timeout_s=self._load_timeout_s)
        except TimeoutError:
            await self._give_up(tab)

    async def _go(self, step: int) -> None:
        tab = self._page()
        history = await tab.send("Page.getNavigationHistory")
        index = history["currentIndex"] + step
        # The empty page that a tab began with is no page to go back to.
        if not 0 <= index < len(history["entries"]) or not history["entries"][index]["url"].startswith("http:"):
            raise ActionRefused(f"there is no page to go {'back' if step < 0 else 'forward'} to")
        go = tab.page.go_back if step < 0 else tab.page.go_forward
        try:
            await go(wait_until="commit", timeout=self._load_timeout_s * 1000)
        except Error as error:
            if "Timeout" in error.message:
                await self._give_up(tab)
            elif "net::" not in error.message:
                raise  # An address that cannot be loaded is told by `_settle`.

    async def _settle(self) -> None:
        """Wait for the current tab, and for one that comes to be current meanwhile."""
        settled: Tab | None = None
        await self._tabs.update()
        while (tab := self._tabs.current) is not settled:
            try:
                if not tab.crashed and not await tab.settle(self._load_timeout_s):
                    await self._give_up(tab)
            except TabGone:
                if tab.crashed:
                    raise
            settled = tab
            await self._tabs.update()
        if tab.crashed:
            raise ActionRefused("the page crashed; go to an address, or close this tab")
        if tab.activity.unreachable:
            failure = tab.activity.failure or "no answer"
            if any(sign in failure for sign in SITES_GONE):
                raise SitesUnreachable(f"the sites' server does not answer the browser ({failure})")
            raise ActionRefused(f"the page could not be loaded ({failure})")

    async def _give_up(self, tab: Tab) -> None:
        await tab.stop()
        raise ActionRefused(
            f"the page did not load within {self._load_timeout_s:g} s; what had arrived by then is shown"
        )
