"""What a policy sees of the browser: notices, the tab line, the address and the numbered tree of the current tab.

Note: the page opened a dialog (alert) saying 'Saved'; it was accepted
Tab 0 (current): Linen Mug | Tab 1: Forum
URL: http://shop.test/catalogue/linen-mug_45/

[1] RootWebArea 'Linen Mug'
...
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Error

from .tab import Tab, TabGone
from .tree import Node, Tree, render_tree

MAX_FRAMES = 20
MAX_TITLE_CHARS = 100


@dataclass(frozen=True, slots=True)
class BrowserObservation:
    """One look at the browser."""

    text: str
    """All that a text policy sees; the same page gives the same bytes."""
    url: str
    """Address of the current tab."""
    title: str
    """Title of the current tab."""
    elements: Mapping[int, int] = field(repr=False)
    """Number in the text -> the browser's node. Only this observation's numbers count for the next action."""
    truncated: bool
    """Whether the page was longer than the limit and lines were left out."""
    screenshot: bytes | None = field(default=None, repr=False)
    """PNG of the window, where it was asked for."""


async def read_tab(tab: Tab, max_chars: int) -> Tree:
    """The tree of a tab; in its place a sentence, where there is no page to read."""
    if tab.crashed:
        return Tree("The page crashed. Go to an address, or close this tab.")
    if tab.activity.unreachable:
        return Tree(f"The page could not be loaded ({tab.activity.failure or 'no answer'}).")
    try:
        nodes = (await tab.send("Accessibility.getFullAXTree"))["nodes"]
        return render_tree(nodes, await _frames(tab), max_chars=max_chars)
    except TimeoutError:
        return Tree("The page does not respond. Go to an address, or close this tab.")
    except TabGone:
        return Tree("The page crashed. Go to an address, or close this tab.")


async def _frames(tab: Tab) -> dict[int, Sequence[Node]]:
    """Trees of the frames within the page, by the node of the element that holds each."""
    if len(tab.page.frames) == 1:
        return {}
    tree = (await tab.send("Page.getFrameTree"))["frameTree"]
    found = await asyncio.gather(*(_frame(tab, frame) for frame in _below(tree)[:MAX_FRAMES]))
    return dict(entry for entry in found if entry is not None)


def _below(tree: dict[str, Any]) -> list[str]:
    """Ids of all frames below one, in document order."""
    children = tree.get("childFrames") or []
    return [frame for child in children for frame in (child["frame"]["id"], *_below(child))]


async def _frame(tab: Tab, frame: str) -> tuple[int, Sequence[Node]] | None:
    try:
        owner = await tab.send("DOM.getFrameOwner", {"frameId": frame})
        nodes = (await tab.send("Accessibility.getFullAXTree", {"frameId": frame}))["nodes"]
    except Error:
        return None  # It went away meanwhile.
    return int(owner["backendNodeId"]), nodes


async def tab_line(tabs: Sequence[Tab], current: int, current_title: str) -> str:
    """WebArena's line of tabs."""
    parts = []
    for index, tab in enumerate(tabs):
        try:
            title = current_title if index == current else await tab.title()
        except (Error, TabGone, TimeoutError):
            title = "(closed)"
        parts.append(f"Tab {index}{' (current)' if index == current else ''}: {title[:MAX_TITLE_CHARS]}")
    return " | ".join(parts)


def compose(notices: Sequence[str], tabs: str, url: str, tree: str) -> str:
    """The whole text."""
    notes = "".join(f"Note: {notice}\n" for notice in notices)
    return f"{notes}{tabs}\nURL: {url}\n\n{tree}"
