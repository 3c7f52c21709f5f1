"""Oracles of the wiki."""

from __future__ import annotations

import re
from collections.abc import Callable

from .hand import Hand
from .page import Page

SUPERLATIVES: dict[str, tuple[str, Callable[[int], int]]] = {
    "largest population": ("Population", lambda value: value),
    "highest elevation": ("Elevation", lambda value: value),
    "earliest year of foundation": ("Founded", lambda value: -value),
}
"""What is asked -> the fact it is about, and what is to be largest."""


async def open_article(hand: Hand, title: str) -> None:
    """Search for an article and open it."""
    await hand.type("searchbox", "Search", title, enter=True)
    await hand.click("link", re.compile(rf"^{re.escape(title)} /"))


def fact(page: Page, name: str) -> str:
    """A town's fact, from the table on its page."""
    return next(row[1] for row in page.rows() if row[0] == name)


async def mayor_of_festival(hand: Hand, festival: str) -> None:
    """Go from a festival to its town and read who is mayor there."""
    await hand.click("link", "festivals")
    await hand.click("link", festival)
    await hand.click("link", after=hand.page.find("StaticText", "is held in"))
    await hand.stop(fact(hand.page, "Mayor"))


async def superlative_town(hand: Hand, region: str, superlative: str) -> None:
    """Look at every town of a region and compare."""
    name, order = SUPERLATIVES[superlative]
    await hand.click("link", "regions")
    await hand.click("link", region)
    intro = hand.page.find("StaticText", re.compile(r"^is a region with"))
    towns = [each.name for each in hand.page.all("link") if each.number > intro.number]
    values: dict[str, int] = {}
    for town in towns[: int(re.findall(r"\d+", intro.name)[0])]:
        await hand.click("link", town)
        values[town] = order(int(re.sub(r"\D", "", fact(hand.page, name))))
        await hand.go_back()
    await hand.stop(max(values, key=values.__getitem__))


async def append_sentence(hand: Hand, article: str, sentence: str) -> None:
    """Put a paragraph at an article's end."""
    await open_article(hand, article)
    await hand.click("link", "Edit")
    content = hand.page.find("textbox", "Contents").value
    await hand.type("textbox", "Contents", f"{content}\n\n{sentence}")
    await hand.click("button", "Save changes")
    await hand.stop()


async def create_article(hand: Hand, parent: str, title: str, slug: str, text: str) -> None:
    """Create an article below another one."""
    await open_article(hand, parent)
    *_, menu = hand.page.all("button", "")  # the last of those that are only an icon
    await hand.click_on(menu)
    await hand.click("link", f"New article below {parent}")
    await hand.type("textbox", "Title", title)
    await hand.type("textbox", "Slug", slug)
    await hand.type("textbox", "Contents", text)
    await hand.click("button", "Create article")
    await hand.stop()


async def river_of_twin(hand: Hand, town: str) -> None:
    """Go from a town to its twin town and on to the river there."""
    await open_article(hand, town)
    await hand.click("link", after=hand.page.find("cell", "Twin town"))
    await hand.click("link", after=hand.page.find("cell", "River"))
    await hand.stop()
