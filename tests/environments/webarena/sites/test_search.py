"""Search and listing answer from the session's database."""

import re
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="session")


def titles(page: str) -> list[str]:
    """Product titles of a listing, in order."""
    return re.findall(r'<h3[^>]*>\s*<a href="[^"]*" title="([^"]*)"', page)


def prices(page: str) -> list[float]:
    """Prices of a listing, in order."""
    return [float(price) for price in re.findall(r'class="price_color">\$([\d.]+)<', page)]


async def test_a_search_finds_products_by_all_of_its_words(visit: Any) -> None:
    visitor = await visit()
    found = titles(await visitor.page("http://shop.test/search/?q=desk+lamp"))
    assert len(found) == 7
    assert all(title.endswith("Desk Lamp") for title in found)


async def test_a_listing_is_sorted_by_price(visit: Any) -> None:
    visitor = await visit()
    shown = prices(await visitor.page("http://shop.test/search/?q=tent&sort_by=price-asc"))
    assert len(shown) > 2
    assert shown == sorted(shown)


async def test_a_category_shows_its_products_and_those_of_its_parts(open_session: Any, visit: Any) -> None:
    session = await open_session()
    visitor = await visit(session)
    page = await visitor.page("http://shop.test/catalogue/category/outdoors/camping_5/")
    assert "<strong>28</strong> results" in re.sub(r"\s+", " ", page)
    whole = await visitor.page("http://shop.test/catalogue/category/outdoors_4/")
    assert "<strong>56</strong> results" in re.sub(r"\s+", " ", whole)


async def test_posts_are_found_by_their_text(visit: Any) -> None:
    visitor = await visit()
    page = await visitor.page("http://forum.test/search/?q=backup+restored")
    assert "Backups you have restored" in page
    assert "Quiet mechanical keyboard" not in page
