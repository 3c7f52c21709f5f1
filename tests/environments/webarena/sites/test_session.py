"""What a session tells about itself: its time, its trace, its changes; and that all of it can be repeated."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="session")

FAR_AWAY = datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)


async def test_time_stands_still_but_for_a_second_each_form(open_session: Any, visit: Any) -> None:
    session = await open_session(FAR_AWAY)
    visitor = await visit(session)
    await visitor.start_topic("lisbon-2", "First", "One")
    await visitor.get("http://forum.test/")
    await visitor.start_topic("lisbon-2", "Second", "Two")
    created = await session.query("SELECT created FROM forum_conversation_post ORDER BY id DESC LIMIT 2")
    # log in, first topic, log in, second topic: the second form and the fourth
    assert created == [("2031-02-03 04:05:10",), ("2031-02-03 04:05:08",)]


async def test_pages_show_the_time_of_the_session(open_session: Any, visit: Any) -> None:
    session = await open_session(FAR_AWAY)
    visitor = await visit(session)
    await visitor.edit_article("/regions/northmoor/amberwick/", "Amberwick", "Changed")
    assert "Feb. 3, 2031, 4:05 a.m." in await visitor.page("http://wiki.test/regions/northmoor/amberwick/")


async def test_a_clock_without_time_zone_is_refused(host: Any) -> None:
    with pytest.raises(ValueError, match="time zone"):
        await host.open(datetime(2025, 6, 16))


async def test_the_trace_has_every_request_in_order(open_session: Any, visit: Any) -> None:
    session = await open_session()
    visitor = await visit(session)
    await visitor.get("http://shop.test/no/such/page/")
    await visitor.log_in("forum")
    await visitor.get("http://elsewhere.test/")
    trace = await session.requests()
    assert [(record.method, record.url, record.status) for record in trace] == [
        ("GET", "http://shop.test/no/such/page/", 404),
        ("GET", "http://forum.test/login/", 200),
        ("POST", "http://forum.test/login/", 302),
        ("GET", "http://forum.test/", 200),
        ("GET", "http://elsewhere.test/", 403),
    ]
    assert all(record.duration_ms >= 0 and record.bytes >= 0 for record in trace)
    assert [record.started_ns for record in trace] == sorted(record.started_ns for record in trace)


async def test_looking_around_changes_nothing(open_session: Any, visit: Any) -> None:
    session = await open_session()
    visitor = await visit(session)
    for site, name in (("shop", "ada"), ("forum", "boris"), ("wiki", "carla")):
        await visitor.log_in(site, name)
    for url in (
        "http://shop.test/catalogue/",
        "http://shop.test/basket/",
        "http://shop.test/search/?q=mug",
        "http://shop.test/accounts/orders/",
        "http://forum.test/forum/lisbon-2/",
        "http://forum.test/member/profile/edit/",
        "http://wiki.test/regions/",
        "http://wiki.test/regions/_settings/",
        "http://wiki.test/_accounts/settings/",
    ):
        await visitor.page(url)
    assert await session.changes() == {}


async def test_changes_are_the_rows_that_differ(open_session: Any, visit: Any) -> None:
    session = await open_session()
    await (await visit(session)).start_topic("lisbon-2", "Pastry", "Which bakery?")
    changes = await session.changes()
    assert [row["subject"] for row in changes["forum_conversation_topic"].added] == ["Pastry"]
    assert changes["forum_conversation_topic"].removed == ()
    (post,) = changes["forum_conversation_post"].added
    assert post["content"] == "Which bakery?"
    (board,), (before,) = changes["forum_forum"].added, changes["forum_forum"].removed
    assert board["direct_topics_count"] == before["direct_topics_count"] + 1
    assert set(changes) == {
        "forum_conversation_post",
        "forum_conversation_topic",
        "forum_forum",
        "forum_member_forumprofile",
    }


async def test_queries_cannot_write(sites: Any, open_session: Any) -> None:
    session = await open_session()
    with pytest.raises(sites.SitesError, match="readonly"):
        await session.query("DELETE FROM auth_user")
    with pytest.raises(sites.SitesError, match="no such table"):
        await session.query("SELECT * FROM missing_table")


async def test_a_closed_session_answers_with_an_error(sites: Any, host: Any) -> None:
    session = await host.open(FAR_AWAY)
    await session.close()
    for call in (session.query("SELECT 1"), session.requests(), session.changes()):
        with pytest.raises(sites.SitesError, match="closed"):
            await call


async def test_secrets_are_random_and_not_on_disk(open_session: Any) -> None:
    one, other = await open_session(), await open_session()
    assert len({one.username, other.username, one.password, other.password}) == 4
    assert re.fullmatch(r"[0-9a-f]{16}", one.username)
    files = [path for path in one.directory.rglob("*") if path.is_file()]
    assert not any(one.password.encode() in path.read_bytes() for path in files)
