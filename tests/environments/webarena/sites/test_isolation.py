"""Two sessions at once see nothing of each other, whatever the applications cache."""

from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="session")

IN_STOCK = (
    "SELECT p.slug || '_' || p.id FROM catalogue_product p JOIN partner_stockrecord s ON s.product_id = p.id"
    " WHERE s.num_in_stock > 10 ORDER BY p.id"
)
NEWEST_ORDER = (
    "SELECT o.number, l.title FROM order_order o JOIN order_line l ON l.order_id = o.id ORDER BY o.id DESC LIMIT 1"
)
TOWN = "/regions/northmoor/amberwick/"


async def test_an_edited_article_shows_in_its_own_session_only(visit: Any) -> None:
    alice, bob = await visit(), await visit()
    await alice.edit_article(TOWN, "Amberwick", "Text of the first session")
    await bob.edit_article(TOWN, "Amberwick", "Text of the second session")
    for _ in range(4):  # enough for both workers to have both in whatever they cache
        first, second = await alice.page(f"http://wiki.test{TOWN}"), await bob.page(f"http://wiki.test{TOWN}")
        assert "Text of the first session" in first
        assert "second session" not in first
        assert "Text of the second session" in second
        assert "first session" not in second


async def test_orders_get_the_same_number_in_different_databases(open_session: Any, visit: Any) -> None:
    sessions = [await open_session(), await open_session()]
    for place, session in enumerate(sessions):
        in_stock = await session.query(IN_STOCK)
        response = await (await visit(session)).buy(in_stock[place][0])
        assert response.url.path == "/checkout/thank-you/"
    (one,), (other,) = [await session.query(NEWEST_ORDER) for session in sessions]
    assert one[0] == other[0]
    assert one[1] != other[1]


async def test_uploads_belong_to_their_session(open_session: Any, visit: Any) -> None:
    session = await open_session()
    uploader, stranger = await visit(session), await visit()
    response = await uploader.start_topic(
        "lisbon-2", "A map", "See the file", files={"attachment-0-file": ("map.txt", b"left, then right", "text/plain")}
    )
    assert response.status_code == 200
    ((name,),) = await session.query("SELECT file FROM forum_attachments_attachment")
    assert (await uploader.get(f"http://forum.test/media/{name}")).content == b"left, then right"
    assert (await stranger.get(f"http://forum.test/media/{name}")).status_code == 404
    seeded = (await session.query("SELECT original FROM catalogue_productimage LIMIT 1"))[0][0]
    assert (await uploader.get(f"http://shop.test/media/{seeded}")).headers["content-type"] == "image/png"


async def test_a_topic_is_found_by_search_in_its_own_session_only(visit: Any) -> None:
    alice, bob = await visit(), await visit()
    await alice.start_topic("kyoto-3", "Umbrella shops", "Where are the paper umbrellas made?")
    search = "http://forum.test/search/?q=umbrellas"
    assert "Umbrella shops" in await alice.page(search)
    assert "Umbrella shops" not in await bob.page(search)


async def test_feeds_name_the_host_that_was_asked(visit: Any) -> None:
    visitor = await visit()
    await visitor.get("http://shop.test/catalogue/")
    assert "http://forum.test/" in (await visitor.get("http://forum.test/feeds/topics/")).text


async def test_a_closed_session_is_refused_and_leaves_nothing(sites: Any, host: Any, visit: Any) -> None:
    session = await host.open(sites.DEFAULT_CLOCK)
    visitor = await visit(session)
    assert (await visitor.get("http://wiki.test/")).status_code == 200
    await session.close()
    await session.close()
    assert (await visitor.get("http://wiki.test/")).status_code == 407
    assert list(session.directory.parent.glob(f"*{session.username}*")) == []
