"""What a page is still doing: frames that load, requests under way. The browser tells; nothing is guessed by time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from playwright.async_api import CDPSession

# What a page waits for. Images and media are part of loading; sockets and streams stay open for good.
AWAITED_TYPES = frozenset({"Document", "Stylesheet", "Script", "XHR", "Fetch"})
# A redirect by the page itself counts as loading if it comes this soon.
SOON_S = 1.0


class Activity:
    """Follows one page through its own protocol session.

    Args:
        cdp: the session; the Page and Network domains are enabled by whoever made it.
        frame: the main frame, as Page.getFrameTree tells it.
        on_window: called when the page opens a window, which arrives as a page of its own a little later.
    """

    def __init__(self, cdp: CDPSession, frame: dict[str, Any], on_window: Callable[[], None]) -> None:
        self.url = str(frame["url"])
        """Address of the main frame, with its fragment; where nothing could be loaded, the address asked for."""
        self.unreachable = bool(frame.get("unreachableUrl"))
        """Whether the main frame shows the browser's own error page."""
        self.started = 0
        """How many loads and requests have begun so far: unchanged means that nothing new happened."""
        self.failure = ""
        """Why the main frame's last document did not arrive, e.g. "net::ERR_TUNNEL_CONNECTION_FAILED"; or empty."""
        self._main_frame = str(frame["id"])
        self._loading: set[str] = set()
        self._scheduled: set[str] = set()
        self._requests: dict[str, tuple[str, str]] = {}
        self._documents: set[str] = set()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._loaded = asyncio.Event()
        self._loaded.set()
        cdp.on("Page.frameStartedLoading", self._frame_started)
        cdp.on("Page.frameStoppedLoading", self._frame_stopped)
        cdp.on("Page.frameScheduledNavigation", self._frame_scheduled)
        cdp.on("Page.frameClearedScheduledNavigation", self._frame_cleared)
        cdp.on("Page.frameDetached", self._frame_detached)
        cdp.on("Page.frameNavigated", self._frame_navigated)
        cdp.on("Page.navigatedWithinDocument", self._moved_within)
        cdp.on("Page.windowOpen", lambda _: on_window())
        cdp.on("Network.requestWillBeSent", self._request_started)
        cdp.on("Network.loadingFinished", self._request_ended)
        cdp.on("Network.loadingFailed", self._request_failed)

    @property
    def loading(self) -> bool:
        """Whether a frame loads or is about to."""
        return bool(self._loading or self._scheduled)

    @property
    def busy(self) -> bool:
        """Whether a frame loads or a request that matters is under way."""
        return self.loading or bool(self._requests)

    async def loaded(self) -> None:
        """Return when no frame loads."""
        await self._loaded.wait()

    async def quiet(self) -> None:
        """Return when the page is not busy."""
        await self._quiet.wait()

    def end(self) -> None:
        """The page is gone: nothing is to be waited for."""
        self._loading.clear()
        self._scheduled.clear()
        self._requests.clear()
        self._update()

    def _update(self) -> None:
        for event, waits in ((self._loaded, self.loading), (self._quiet, self.busy)):
            if waits:
                event.clear()
            else:
                event.set()

    def _frame_started(self, event: dict[str, Any]) -> None:
        self.started += 1
        self._loading.add(event["frameId"])
        self._update()

    def _frame_stopped(self, event: dict[str, Any]) -> None:
        self._loading.discard(event["frameId"])
        self._update()

    def _frame_scheduled(self, event: dict[str, Any]) -> None:
        if event["delay"] <= SOON_S:
            self.started += 1
            self._scheduled.add(event["frameId"])
            self._update()

    def _frame_cleared(self, event: dict[str, Any]) -> None:
        self._scheduled.discard(event["frameId"])
        self._update()

    def _frame_detached(self, event: dict[str, Any]) -> None:
        frame = event["frameId"]
        self._loading.discard(frame)
        self._scheduled.discard(frame)
        self._forget_requests(frame, loader="")

    def _frame_navigated(self, event: dict[str, Any]) -> None:
        """The frame's former document is gone, and with it what it was waiting for."""
        frame = event["frame"]
        if frame["id"] == self._main_frame:
            self.unreachable = bool(frame.get("unreachableUrl"))
            self.url = str(frame.get("unreachableUrl") or frame["url"]) + str(frame.get("urlFragment", ""))
        self._scheduled.discard(frame["id"])
        self._forget_requests(frame["id"], loader=frame["loaderId"])

    def _moved_within(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self._main_frame:
            self.url = str(event["url"])

    def _forget_requests(self, frame: str, loader: str) -> None:
        self._requests = {
            request: owner for request, owner in self._requests.items() if owner[0] != frame or owner[1] == loader
        }
        self._update()

    def _request_started(self, event: dict[str, Any]) -> None:
        if event.get("type") not in AWAITED_TYPES:
            return
        frame, request = event.get("frameId", ""), event["requestId"]
        self.started += 1
        self._requests[request] = (frame, event.get("loaderId", ""))
        if event["type"] == "Document" and frame == self._main_frame:
            self.failure = ""
            self._documents.add(request)
        self._update()

    def _request_ended(self, event: dict[str, Any]) -> None:
        self._requests.pop(event["requestId"], None)
        self._documents.discard(event["requestId"])
        self._update()

    def _request_failed(self, event: dict[str, Any]) -> None:
        if event["requestId"] in self._documents and not event.get("canceled"):
            self.failure = event.get("errorText", "net::ERR_FAILED")
        self._request_ended(event)
