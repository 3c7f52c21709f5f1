"""Oracles of the shop's dashboard, as its staff."""

from __future__ import annotations

import re
from decimal import Decimal

from .hand import Hand
from .page import Element, Page

AMOUNT = re.compile(r"^\$[\d,.]+$")


async def open_menu(hand: Hand, menu: str, entry: str) -> None:
    """Open a menu of the dashboard and go to one of its entries."""
    await hand.click("button", menu)
    await hand.click("link", entry)


def row_with(page: Page, *cells: str) -> Element:
    """The first row of a table that has all these cells."""
    return next(row for row in page.all("row") if set(cells) <= {each.name for each in page.within(row)})


async def set_order_status(hand: Hand, customer: str, status: str) -> None:
    """Open the customer's newest order, the first in the list, and set its status."""
    await open_menu(hand, "Fulfilment", "Orders")
    await hand.click("link", re.compile(r"^\d{6}$"), after=row_with(hand.page, customer))
    heading = hand.page.find("heading", "Change order status:")
    await hand.choose(re.compile("."), status, after=heading)
    await hand.click("button", "Change status")
    await hand.stop()


async def sum_of_orders(hand: Hand, status: str, first_day: str, last_day: str) -> None:
    """Search for the orders of a status and time, and add up their totals over all pages of results."""
    await open_menu(hand, "Fulfilment", "Orders")
    await hand.click("link", "Advanced Search")
    await hand.choose("---------", status)
    await hand.type("textbox", "Date from", first_day)
    await hand.type("textbox", "Date to", last_day)
    await hand.click("button", "Search", after=hand.page.find("link", "Close"))
    total = _sum(hand.page)
    while hand.page.has("link", "next"):
        await hand.click("link", "next")
        total += _sum(hand.page)
    await hand.stop(f"${total:,}")


def _sum(page: Page) -> Decimal:
    amounts = [cell for row in page.rows() for cell in row if AMOUNT.match(cell)]
    return sum((Decimal(amount[1:].replace(",", "")) for amount in amounts), Decimal(0))


async def set_stock(hand: Hand, product: str, stock: str) -> None:
    """Find the product by its title and change how many of it are in stock."""
    await open_menu(hand, "Catalog", "Products")
    await hand.type("textbox", "Product title:", product, enter=True)
    await hand.click("link", product)
    await hand.click("link", "Stock and pricing")
    await hand.type("spinbutton", None, stock)
    await hand.click("button", "Save")
    await hand.stop()


async def approve_review(hand: Hand, product: str) -> None:
    """Approve the one review of the product that waits for moderation."""
    await open_menu(hand, "Content", "Reviews")
    await hand.type("combobox", "Status:", "Requires moderation")
    await hand.click("button", "Search")
    await hand.click("checkbox", after=row_with(hand.page, product, "Requires moderation"))
    await hand.click("button", "Update")
    await hand.stop()
