"""Oracles of tasks that take what one site says to another."""

from __future__ import annotations

import re

from . import forum, shop, wiki
from .hand import Hand


async def units_by_bridges(hand: Hand, river: str, product: str) -> None:
    """Read how many bridges cross a river, and put so many of a product into the cart."""
    await wiki.open_article(hand, river)
    sentence = hand.page.find("StaticText", re.compile(r"\d+ bridges cross it"))
    bridges = re.findall(r"(\d+) bridges", sentence.name)[0]
    await hand.open_site("shop")
    await shop.fill_cart(hand, product, bridges)


async def price_in_reply(hand: Hand, product: str, subject: str) -> None:
    """Read a product's price, and reply to a topic with it."""
    await shop.open_product(hand, product)
    price = hand.page.find("StaticText", shop.PRICE, after=hand.page.find("heading", product)).name
    await hand.open_site("forum")
    await forum.reply(hand, subject, price)
