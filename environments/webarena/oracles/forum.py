"""Oracles of the forum."""

from __future__ import annotations

import re

from .hand import Hand

USER, PASSWORD = "ada", "password"


async def open_topic(hand: Hand, subject: str) -> None:
    """Search for a topic and open it."""
    await hand.type("searchbox", "Search", subject, enter=True)
    await hand.click("link", subject)


async def send_message(hand: Hand, message: str) -> None:
    """Fill in the message of a form for posts and send it."""
    await hand.type("textbox", "Message", message)
    await hand.click("button", "Submit")


async def most_viewed(hand: Hand, board: str) -> None:
    """Read who started the topic with the most views on a board's page."""
    await hand.click("link", board)
    page = hand.page
    views: dict[int, str] = {}
    for topic in page.all("LayoutTableCell", re.compile(r" By: \S+ on ")):
        replies = page.find("StaticText", after=page.within(topic)[-1])
        views[int(page.find("StaticText", after=replies).name)] = page.find("link", after=page.within(topic)[1]).name
    await hand.stop(views[max(views)])


async def who_wrote(hand: Hand, subject: str, words: str) -> None:
    """Find the post with these words in a topic and read whose it is."""
    await open_topic(hand, subject)
    post = hand.page.find("StaticText", words)
    await hand.stop(hand.page.find("link", re.compile("."), after=post).name)


async def start_topic(hand: Hand, board: str, subject: str, message: str) -> None:
    """Log in and start a topic."""
    await hand.click("link", "Log in")
    await hand.type("textbox", "Username:", USER)
    await hand.type("textbox", "Password:", PASSWORD, enter=True)
    await hand.click("link", board)
    await hand.click("link", "New topic")
    await hand.type("textbox", "Subject", subject)
    await send_message(hand, message)
    await hand.stop()


async def reply(hand: Hand, subject: str, message: str) -> None:
    """Reply to a topic."""
    await open_topic(hand, subject)
    await hand.click("link", "Post reply")
    await send_message(hand, message)
    await hand.stop()


async def vote(hand: Hand, subject: str, option: str) -> None:
    """Vote in the poll of a topic."""
    await open_topic(hand, subject)
    await hand.click("radio", option)
    await hand.click("button", "Submit")
    await hand.stop()


async def last_poster(hand: Hand, board: str) -> None:
    """Open the profile of whoever posted last on a board, which the index names."""
    by = hand.page.find("StaticText", "By:", after=hand.page.find("link", board))
    await hand.click("link", after=by)
    await hand.stop()
