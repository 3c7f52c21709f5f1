"""One tab: a page, its protocol session, and what becomes of both when the page crashes, hangs or closes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Error, Page

from .activity import SOON_S, Activity
from .errors import ActionRefused

SETTLE_CHECK = """new Promise(done => {
  const look = () => setTimeout(() => done(document.readyState), 0);
  requestAnimationFrame(() => requestAnimationFrame(look));
  setTimeout(look, 250);
})"""
"""Resolves after what the last input set off has run and been drawn. A hidden tab draws nothing: hence the timer."""

BACKGROUND_S = 2.0
"""How long a loaded page may go on with requests of its own before it counts as settled."""
COMMAND_TIMEOUT_S = 10.0


class TabGone(Exception):
    """The page crashed or closed while something waited for it; a closed one may be the sign of a lost browser."""

    def __init__(self, crashed: bool) -> None:
        super().__init__("the page crashed" if crashed else "the page was closed")


class Tab:
    """A tab that has been attached to."""

    def __init__(self, page: Page, cdp: CDPSession, activity: Activity) -> None:
        self.page = page
        self.activity = activity
        self.crashed = False
        self._cdp = cdp
        self._gone = asyncio.Event()
        page.on("crash", lambda _: self._on_crash())
        page.on("close", lambda _: self._end())

    @classmethod
    async def attach(cls, context: BrowserContext, page: Page, on_window: Callable[[], None]) -> Tab:
        """Follow a page; what it did before is caught up with by `settle`."""
        cdp = await context.new_cdp_session(page)
        tree = await cdp.send("Page.getFrameTree")
        tab = cls(page, cdp, Activity(cdp, tree["frameTree"]["frame"], on_window))
        # No bodies are read: the least of buffers.
        buffers = {"maxTotalBufferSize": 1, "maxResourceBufferSize": 1}
        await asyncio.gather(cdp.send("Page.enable"), cdp.send("Network.enable", buffers), cdp.send("DOM.enable"))
        return tab

    def _on_crash(self) -> None:
        self.crashed = True
        self._end()

    def _end(self) -> None:
        self._gone.set()
        self.activity.end()

    async def send(
        self, method: str, params: dict[str, Any] | None = None, *, timeout_s: float = COMMAND_TIMEOUT_S
    ) -> dict[str, Any]:
        """One protocol command.

        Raises:
            TabGone: the page crashed or closed meanwhile; a command to it would never be answered.
            TimeoutError: the page does not respond.
            Error: the command failed.
        """
        if self._gone.is_set():
            raise TabGone(self.crashed)
        call = asyncio.ensure_future(self._cdp.send(method, params or {}))
        end = asyncio.ensure_future(self._gone.wait())
        try:
            await asyncio.wait({call, end}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if call.done():
                return dict(call.result() or {})
            if self._gone.is_set():
                raise TabGone(self.crashed)
            raise TimeoutError(f"{method} was not answered in {timeout_s:g} s")
        finally:
            call.cancel()
            end.cancel()

    async def settle(self, timeout_s: float) -> bool:
        """Wait until the page has nothing left to do; whether it got there in time.

        A page is settled when its frames are loaded, no request that matters is under way, and two frames drawn
        later that is still so. A loaded page that keeps asking its server gets `BACKGROUND_S` for it.
        """
        loop = asyncio.get_running_loop()
        patience = 0.0
        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    if self.activity.loading or not patience:
                        await self.activity.loaded()
                        patience = loop.time() + BACKGROUND_S
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout_at(patience):
                            await self.activity.quiet()
                    before = self.activity.started
                    complete = await self._drawn(timeout_s) == "complete"
                    still = complete and not self.activity.busy and self.activity.started == before
                    if still or (not self.activity.loading and loop.time() >= patience):
                        return True
        except TimeoutError:
            return False

    async def _drawn(self, timeout_s: float) -> str:
        """The document's state after it has drawn, or empty if a new document came instead."""
        try:
            params = {"expression": SETTLE_CHECK, "awaitPromise": True, "returnByValue": True}
            answer = await self.send("Runtime.evaluate", params, timeout_s=timeout_s)
        except Error:
            await asyncio.sleep(0)
            return ""
        return str(answer.get("result", {}).get("value", ""))

    async def stop(self) -> None:
        """Stop loading, and stop a script that never ends."""
        for method in ("Page.stopLoading", "Runtime.terminateExecution"):
            # The page may be beyond help; the policy is told that it did not load.
            with contextlib.suppress(Error, TimeoutError, TabGone):
                await self.send(method, timeout_s=SOON_S)

    async def title(self) -> str:
        """As the browser knows it, without asking the page."""
        if self.crashed:
            return "(crashed)"
        return str((await self.send("Target.getTargetInfo"))["targetInfo"]["title"])

    async def screenshot(self) -> bytes | None:
        """PNG of the window; None if the page does not let itself be drawn."""
        try:
            return await self.page.screenshot(
                type="png", animations="disabled", caret="hide", timeout=COMMAND_TIMEOUT_S * 1000
            )
        except Error:
            return None

    async def object_of(self, backend_id: int) -> str:
        """A handle on an element, for `call`.

        Raises:
            ActionRefused: the element has left the page.
        """
        try:
            node = await self.send("DOM.resolveNode", {"backendNodeId": backend_id})
        except Error as error:
            raise ActionRefused("the element is no longer on the page") from error
        return str(node["object"]["objectId"])

    async def call(self, object_id: str, function: str, *arguments: object) -> Any:
        """The value of a JavaScript function called on an element."""
        params = {
            "objectId": object_id,
            "functionDeclaration": function,
            "arguments": [{"value": value} for value in arguments],
            "returnByValue": True,
            "userGesture": True,
        }
        try:
            answer = await self.send("Runtime.callFunctionOn", params)
        except Error as error:
            raise ActionRefused("the element is no longer on the page") from error
        if "exceptionDetails" in answer:
            raise ActionRefused("the page did not allow it")
        return answer["result"].get("value")
