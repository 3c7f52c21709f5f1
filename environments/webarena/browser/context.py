"""A browser context of one session: a proxy with its credentials, and settings that are the same everywhere.

Playwright can hold a proxy's credentials, but then it intercepts every request and switches the cache off: a page
takes 140 instead of 55 ms. Chromium remembers credentials for as long as a context lives, so they are given once, on
one request that only serves to be asked for them, and interception ends there.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Error, Page

from .errors import BrowserCrashed, BrowserTimeout, SitesUnreachable
from .launch import PROXY_NAME, Chromium

VIEWPORT_WIDTH_PX = 1280
VIEWPORT_HEIGHT_PX = 720
READY_ADDRESS = "http://ready.invalid/"
"""Asked for once in each context, to be asked for credentials. The proxy answers 407, then whatever it likes."""

ASK = f"fetch('{READY_ADDRESS}', {{mode: 'no-cors', cache: 'no-store'}}).then(() => true, () => false)"


@dataclass(frozen=True, slots=True)
class Access:
    """What selects a session at the sites' proxy."""

    proxy_port: int
    """Port on 127.0.0.1."""
    username: str
    password: str = field(repr=False)


async def open_context(chromium: Chromium, access: Access, timeout_s: float) -> tuple[BrowserContext, Page]:
    """A context that has shown its credentials, and its first, empty page.

    Raises:
        BrowserCrashed: the process is gone.
        BrowserTimeout: it took longer than `timeout_s`.
        SitesUnreachable: no proxy answers, or it does not take the credentials.
    """
    context: BrowserContext | None = None
    try:
        async with asyncio.timeout(timeout_s):
            context = await _new_context(chromium, access)
            page = await context.new_page()
            await _show_credentials(context, page, access)
            return context, page
    except BaseException as error:
        if context is not None:
            await asyncio.shield(_discard(context))
        if isinstance(error, TimeoutError):
            raise BrowserTimeout(f"no browser context within {timeout_s:g} s") from error
        if isinstance(error, Error):
            await chromium.lost(error)
            raise BrowserCrashed(f"the browser made no context: {error.message[:300]}") from error
        raise


async def warm_up(context: BrowserContext, page: Page, addresses: Sequence[str], timeout_s: float) -> None:
    """Open pages ahead of a session, so that what they share is in the context's cache and compiled.

    The first page of a session then takes half the time. Cookies are removed again, and the session forgets the
    history. What does not load is not missed.
    """
    with contextlib.suppress(Error):
        for address in addresses:
            await page.goto(address, timeout=timeout_s * 1000)
        await context.clear_cookies()


async def _new_context(chromium: Chromium, access: Access) -> BrowserContext:
    return await chromium.browser.new_context(
        proxy={"server": f"http://{PROXY_NAME}:{access.proxy_port}", "bypass": "<-loopback>"},
        viewport={"width": VIEWPORT_WIDTH_PX, "height": VIEWPORT_HEIGHT_PX},
        locale="en-US",
        timezone_id="UTC",
        color_scheme="light",
        reduced_motion="reduce",
        accept_downloads=False,
        service_workers="block",
        permissions=[],
    )


async def _show_credentials(context: BrowserContext, page: Page, access: Access) -> None:
    cdp = await context.new_cdp_session(page)
    asked = _Answers(cdp, access)
    await cdp.send("Fetch.enable", {"handleAuthRequests": True, "patterns": [{"urlPattern": "*"}]})
    await page.evaluate(ASK)
    await cdp.send("Fetch.disable")
    await cdp.detach()
    if asked.times != 1:
        problem = "does not answer, or asks for no credentials" if asked.times == 0 else "refuses the credentials"
        raise SitesUnreachable(f"the sites' proxy on port {access.proxy_port} {problem}")


class _Answers:
    """Gives the credentials the first time they are asked for, and lets every request pass."""

    def __init__(self, cdp: CDPSession, access: Access) -> None:
        self.times = 0
        self._cdp = cdp
        self._access = access
        cdp.on("Fetch.authRequired", self._authenticate)
        cdp.on("Fetch.requestPaused", self._pass)

    async def _authenticate(self, event: dict[str, Any]) -> None:
        self.times += 1
        answer: dict[str, str] = {"response": "CancelAuth"}
        if self.times == 1:
            answer = {
                "response": "ProvideCredentials",
                "username": self._access.username,
                "password": self._access.password,
            }
        await self._send("Fetch.continueWithAuth", event, {"authChallengeResponse": answer})

    async def _pass(self, event: dict[str, Any]) -> None:
        await self._send("Fetch.continueRequest", event, {})

    async def _send(self, method: str, event: dict[str, Any], more: dict[str, Any]) -> None:
        with contextlib.suppress(Error):  # The context is going away; whoever waits for it is told there.
            await self._cdp.send(method, {"requestId": event["requestId"], **more})


async def _discard(context: BrowserContext) -> None:
    try:
        async with asyncio.timeout(5.0):
            await context.close()
    except (Error, TimeoutError):
        pass  # The process is gone, or its pool retires it.
