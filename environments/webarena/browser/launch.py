"""One Chromium process: how it is started, whether it lives, how many sessions it carries."""

from __future__ import annotations

import asyncio
import os

from playwright.async_api import Browser, Error, Playwright

from .errors import BrowserCrashed, BrowserTimeout
from .find import FoundBrowser

PROXY_NAME = "envhub-sites"
"""The proxy's name inside the browser: the only name that resolves there, and to loopback."""

FLAGS = (
    # The browser itself resolves and reaches nothing but the proxy; loopback by number is closed as well.
    f"--host-resolver-rules=MAP {PROXY_NAME} 127.0.0.1, MAP * ~NOTFOUND",
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--dns-prefetch-disable",
    "--no-pings",
    # The sites trust one another: a renderer a page instead of one a frame, so a frame's tree comes with its page's.
    "--disable-site-isolation-trials",
    # The same picture on every machine.
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--force-color-profile=srgb",
    "--disable-gpu",
)
CLOSE_TIMEOUT_S = 10.0
PROBE_TIMEOUT_S = 5.0


class Chromium:
    """A running browser process. `places` counts the contexts it carries or is about to carry."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.places = 0
        self.retired = False
        """Whether it takes no new sessions, since closing one of its contexts hung."""
        self.gone = asyncio.Event()
        browser.on("disconnected", lambda _: self.gone.set())

    @classmethod
    async def launch(cls, playwright: Playwright, found: FoundBrowser, timeout_s: float) -> Chromium:
        """Start a process; it ends with ours, since it is tied to Playwright's driver by a pipe and that to us.

        Raises:
            BrowserCrashed: it ended at once; the message has what it said.
            BrowserTimeout: it was not up in time.
        """
        try:
            browser = await playwright.chromium.launch(
                executable_path=found.path,
                args=FLAGS,
                # Chromium's own sandbox needs an ordinary user.
                chromium_sandbox=os.geteuid() != 0,
                timeout=timeout_s * 1000,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        except Error as error:
            kind = BrowserTimeout if "Timeout" in error.message else BrowserCrashed
            raise kind(f"{found} did not start: {error.message[:1000]}") from error
        return cls(browser)

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        return self.browser.is_connected() and not self.gone.is_set()

    @property
    def usable(self) -> bool:
        """Whether it may carry new sessions."""
        return self.alive and not self.retired

    async def lost(self, error: BaseException) -> bool:
        """Whether a call failed since the process, or the driver, is gone.

        That may be known a moment later than the failure, and nobody tells of a driver's end: so the process is asked.
        """
        if self.alive and "closed" in str(error):
            try:
                async with asyncio.timeout(PROBE_TIMEOUT_S):
                    probe = await self.browser.new_browser_cdp_session()
                    await probe.detach()
            except (Error, TimeoutError):
                self.gone.set()
        return not self.alive

    async def close(self) -> None:
        """End the process."""
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self.browser.close()
        except (Error, TimeoutError):
            pass  # It is gone, or the driver ends it with itself.
        self.gone.set()
