"""The browser processes of a pool: started when places are needed, ended when empty, one kept."""

from __future__ import annotations

import asyncio
import contextlib

from playwright.async_api import Error, Playwright, async_playwright

from .errors import BrowserCrashed
from .find import FoundBrowser
from .launch import Chromium

LAUNCH_TIMEOUT_S = 30.0


class Browsers:
    """Counts places and starts processes. All of them hang on one driver."""

    def __init__(self, found: FoundBrowser, places_each: int) -> None:
        self._found = found
        self._places_each = places_each
        self._driver: Playwright | None = None
        self._processes: list[Chromium] = []
        self._changing = asyncio.Lock()

    @property
    def alive(self) -> int:
        """Processes that live."""
        return sum(process.alive for process in self._processes)

    @property
    def places(self) -> int:
        """Places taken in all of them."""
        return sum(process.places for process in self._processes)

    async def start(self) -> None:
        """Start the driver."""
        self._driver = await async_playwright().start()

    async def close(self) -> None:
        """End all processes and the driver."""
        async with self._changing:
            await asyncio.gather(*(process.close() for process in self._processes))
            self._processes.clear()
            await self._stop_driver()

    async def take_place(self) -> Chromium:
        """A process with one more place taken: the fullest that has one, so that others run empty; else a new one.

        Raises:
            BrowserCrashed, BrowserTimeout: none could be started.
        """
        async with self._changing:
            usable = [p for p in self._processes if p.usable and p.places < self._places_each]
            process = max(usable, key=lambda p: p.places, default=None) or await self._launch()
            process.places += 1
            return process

    async def give_place(self, process: Chromium) -> None:
        """Give a place back; a process that is empty ends, unless it is the last that can be used."""
        process.places -= 1
        async with self._changing:
            if process.places or process not in self._processes:
                return
            if process.usable and sum(p.usable for p in self._processes) == 1:
                return
            self._processes.remove(process)
            await process.close()

    async def _launch(self) -> Chromium:
        if self._driver is None:
            raise BrowserCrashed("the browser pool is closed")
        try:
            process = await Chromium.launch(self._driver, self._found, LAUNCH_TIMEOUT_S)
        except BrowserCrashed:
            if self.alive:
                raise
            # With no browser left it may be the driver that died.
            await self._stop_driver()
            self._driver = await async_playwright().start()
            process = await Chromium.launch(self._driver, self._found, LAUNCH_TIMEOUT_S)
        self._processes.append(process)
        return process

    async def _stop_driver(self) -> None:
        driver, self._driver = self._driver, None
        if driver is not None:
            with contextlib.suppress(Error):  # It may be gone.
                await driver.stop()
