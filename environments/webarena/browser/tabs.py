"""The tabs of a session: which there are, which is current, what becomes of windows that pages open and close."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque

from playwright.async_api import BrowserContext, Dialog, Download, Error, FileChooser, Page

from .errors import ActionRefused
from .tab import Tab

MAX_TABS = 10
WINDOW_TIMEOUT_S = 10.0
MAX_NOTICES = 20
MAX_NOTICE_CHARS = 500


class Notices:
    """What happened beside the page and is told with the next observation: dialogs, windows, downloads."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._dropped = 0

    def add(self, line: str) -> None:
        """Tell one thing; beyond `MAX_NOTICES` only how many."""
        if len(self._lines) < MAX_NOTICES:
            self._lines.append(line[:MAX_NOTICE_CHARS])
        else:
            self._dropped += 1

    def take(self) -> tuple[str, ...]:
        """All that was not told yet."""
        lines, self._lines = self._lines, []
        if self._dropped:
            lines.append(f"{self._dropped} more like these")
            self._dropped = 0
        return tuple(lines)


class Tabs:
    """Tabs in the order of their numbers. Windows that pages open become the current tab, as in any browser."""

    def __init__(self, context: BrowserContext, notices: Notices) -> None:
        self._context = context
        self._notices = notices
        self._tabs: list[Tab] = []
        self._current = 0
        self._arrived: deque[Page] = deque()
        self._own: set[Page] = set()
        self._expected = 0
        self._arrival = asyncio.Event()
        context.on("page", self._page_arrived)
        context.on("dialog", self._dialog)

    def __len__(self) -> int:
        return len(self._tabs)

    @property
    def all(self) -> list[Tab]:
        """Every tab, in order."""
        return list(self._tabs)

    @property
    def index(self) -> int:
        """Number of the current tab."""
        return self._current

    @property
    def current(self) -> Tab:
        """The tab that actions go to."""
        return self._tabs[self._current]

    async def adopt(self, page: Page) -> Tab:
        """Make a page of this context the last and current tab."""
        self._own.add(page)
        page.on("download", self._download)
        page.on("filechooser", self._file_chooser)
        tab = await Tab.attach(self._context, page, self._expect_page)
        self._tabs.append(tab)
        self._current = len(self._tabs) - 1
        return tab

    async def hidden_page(self) -> Page:
        """A page that is no tab: for graders. Whoever asks closes it."""
        self._expect_page()
        page = await self._context.new_page()
        self._own.add(page)
        return page

    async def update(self) -> None:
        """Take in windows that pages opened and drop those that closed; there is always one tab."""
        await self._await_pages()
        self._drop_closed()
        while self._arrived:
            page = self._arrived.popleft()
            if page in self._own or page.is_closed():
                continue
            if len(self._tabs) >= MAX_TABS:
                self._notices.add(f"a new window was refused: {MAX_TABS} tabs are open")
                await close_page(page)
                continue
            try:
                await self.adopt(page)
            except Error:
                continue  # It closed again at once.
        self._drop_closed()
        if not self._tabs:
            await self.open()

    async def open(self) -> Tab:
        """A new, empty, current tab."""
        if len(self._tabs) >= MAX_TABS:
            raise ActionRefused(f"{MAX_TABS} tabs are open, which is the limit; close one first")
        return await self.adopt(await self.hidden_page())

    async def focus(self, index: int) -> None:
        """Make a tab the current one."""
        if not 0 <= index < len(self._tabs):
            raise ActionRefused(f"there is no tab {index}; the tabs are 0 to {len(self._tabs) - 1}")
        self._current = index
        if not self.current.crashed:
            await self.current.send("Page.bringToFront")

    async def close_current(self) -> None:
        """Close the current tab; the one before it becomes current, an empty one if it was the last."""
        page = self.current.page
        await close_page(page)
        await self.update()
        await self.focus(self._current)

    async def replace_current(self) -> Tab:
        """An empty page in place of a crashed one, under the same number."""
        index, crashed = self._current, self.current.page
        tab = await self.adopt(await self.hidden_page())
        self._tabs.pop()
        self._tabs[index] = tab
        self._current = index
        await close_page(crashed)
        return tab

    def _expect_page(self) -> None:
        self._expected += 1

    def _page_arrived(self, page: Page) -> None:
        self._expected -= 1
        self._arrived.append(page)
        self._arrival.set()

    async def _await_pages(self) -> None:
        """A window is told of when it is opened, and is there when its first page answers: wait for that."""
        try:
            async with asyncio.timeout(WINDOW_TIMEOUT_S):
                while self._expected > 0:
                    self._arrival.clear()
                    await self._arrival.wait()
        except TimeoutError:
            self._notices.add(f"a new window did not open within {WINDOW_TIMEOUT_S:g} s")
        self._expected = 0

    def _drop_closed(self) -> None:
        for position in reversed(range(len(self._tabs))):
            if self._tabs[position].page.is_closed():
                del self._tabs[position]
                if position <= self._current:
                    self._current = max(0, self._current - 1)

    async def _dialog(self, dialog: Dialog) -> None:
        """Every dialog is accepted: what the policy clicked is done. A prompt gets what it proposes."""
        said = f" saying {dialog.message!r}" if dialog.message else ""
        self._notices.add(f"the page opened a dialog ({dialog.type}){said}; it was accepted")
        with contextlib.suppress(Error):  # Its page may be gone.
            await dialog.accept(dialog.default_value if dialog.type == "prompt" else None)

    def _download(self, download: Download) -> None:
        self._notices.add(f"the page offered the file {download.suggested_filename!r}; downloads are refused")

    def _file_chooser(self, _: FileChooser) -> None:
        self._notices.add("the page asked for a file; there are none to choose")


async def close_page(page: Page) -> None:
    """Close a page that may be closed already."""
    with contextlib.suppress(Error):
        await page.close()
