"""Oracles of the shop's customer pages."""

from __future__ import annotations

import re

from .hand import Hand
from .page import Element, Page

PRICE = re.compile(r"^\$[\d,.]+$")


async def open_product(hand: Hand, product: str) -> None:
    """Search for a product and open its page."""
    await hand.type("textbox", "Search", product, enter=True)
    await hand.click("link", product)


async def put_in_cart(hand: Hand, product: str, quantity: str) -> None:
    """Add a product, then set how many of it on the cart's page."""
    await open_product(hand, product)
    await hand.click("button", "Add to cart")
    await hand.click("link", "View cart")
    await hand.type("spinbutton", None, quantity)
    await hand.click("button", "Update")


async def cheapest_in_stock(hand: Hand, category: str) -> None:
    """Sort a category by price and read the first product that is in stock."""
    await hand.click("link", category)
    await hand.type("combobox", "Sort by", "Price low to high")
    page = hand.page
    article = next(each for each in page.all("article") if _in_stock(page, each))
    await hand.stop(page.find("heading", after=article).name)


def _in_stock(page: Page, article: Element) -> bool:
    return any(each.name == "In stock" for each in page.within(article))


async def order_total(hand: Hand, product: str) -> None:
    """Open one's orders from the newest on until one has the product, and read its total."""
    await hand.click("link", "Account")
    await hand.click("link", "Order History")
    for order in [each.name for each in hand.page.all("link", re.compile(r"^\d{6}$"))]:
        await hand.click("link", order)
        if hand.page.has("link", product):
            break
        await hand.go_back()
    total = next(row for row in hand.page.rows() if row[0] == "Order total")
    await hand.stop(total[1])


async def reviewer(hand: Hand, product: str, complaint: str) -> None:
    """Find the review with these words and read who wrote it."""
    await open_product(hand, product)
    await hand.click("link", "See all reviews")
    words = hand.page.find("StaticText", re.compile(re.escape(complaint)))
    author = hand.page.find("StaticText", "Reviewed by", after=words)
    await hand.stop(hand.page.find("StaticText", after=author).name)


async def sorted_category(hand: Hand, category: str, order: str) -> None:
    """Open a category and choose its order."""
    await hand.click("link", category)
    await hand.type("combobox", "Sort by", order)
    await hand.stop()


async def product_of_material(hand: Hand, kind: str, material: str) -> None:
    """Open the products of a kind one after another until one is made of the material."""
    await hand.type("textbox", "Search", kind, enter=True)
    titles = [each.name for each in hand.page.all("heading", re.compile(rf" {kind}$"))]
    for title in titles:
        await hand.click("link", title)
        if ["Material", material] in list(hand.page.rows()):
            break
        await hand.go_back()
    await hand.stop()


async def fill_cart(hand: Hand, product: str, quantity: str) -> None:
    """Put so many of a product into the cart and stay there."""
    await put_in_cart(hand, product, quantity)
    await hand.stop()


async def check_out(hand: Hand, product: str, quantity: str) -> None:
    """Buy so many of a product, sent to the default address."""
    await put_in_cart(hand, product, quantity)
    await hand.click("link", "Proceed to checkout")
    await hand.click("button", "Ship to your default shipping address")
    await hand.click("link", "Continue")
    await hand.click("button", "Place order")
    await hand.stop()
