"""The same actions give the same pages, byte for byte, in another process."""

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = (
    "http://shop.test/catalogue/",
    "http://shop.test/accounts/orders/",
    "http://shop.test/accounts/profile/",
    "http://shop.test/accounts/wishlists/",
    "http://shop.test/search/?q=tent&sort_by=price-asc",
    "http://forum.test/",
    "http://forum.test/forum/lisbon-2/",
    "http://forum.test/search/?q=tram",
    "http://forum.test/feeds/topics/",
    "http://wiki.test/regions/northmoor/amberwick/",
    "http://wiki.test/regions/northmoor/amberwick/_history/",
    "http://wiki.test/_accounts/sign-up/",
)
NEWCOMER = {
    "registration-email": "newcomer@example.com",
    "registration-password1": "a-long-passphrase-1",
    "registration-password2": "a-long-passphrase-1",
    "registration-redirect_url": "",
    "registration_submit": "Register",
}


async def story(visitor: Any, product: str) -> list[str]:
    """Acts on all sites, then reads."""
    pages = [(await visitor.submit("http://shop.test/accounts/login/", NEWCOMER)).url.path]
    visitor.http.cookies.clear()
    pages.append((await visitor.buy(product)).url.path)
    wish = {"name": "Later", "visibility": "Private"}
    pages.append((await visitor.submit("http://shop.test/accounts/wishlists/create/", wish)).url.path)
    await visitor.start_topic("lisbon-2", "Tram stop", "Where does the tram stop?")
    await visitor.edit_article("/regions/northmoor/amberwick/", "Amberwick", "Rewritten.")
    return pages + [await visitor.page(url) for url in PAGES]


async def lasting(session: Any) -> tuple[Any, Any]:
    """What the session changed, without the salt of the newcomer's password, which no page shows."""
    changes = await session.changes()
    (newcomer,) = changes.pop("auth_user").added
    return changes, {name: value for name, value in newcomer.items() if name != "password"}


async def test_the_same_actions_give_the_same_pages_in_another_process(
    sites: Any, host: Any, open_session: Any, visit: Any, seed_cache_dir: Path, tmp_path: Path
) -> None:
    session = await open_session()
    ((product,),) = await session.query(
        "SELECT p.slug || '_' || p.id FROM catalogue_product p JOIN partner_stockrecord s ON s.product_id = p.id"
        " WHERE s.num_in_stock > 10 ORDER BY p.id LIMIT 1"
    )
    first = await visit(session)
    told = await story(first, product)
    async with (
        await sites.SitesHost.start(seed_cache_dir, tmp_path, lambda line: None) as other_host,
        await other_host.open(sites.DEFAULT_CLOCK) as other,
    ):
        visitor = type(first)(other_host, other)
        async with visitor.http:
            again = await story(visitor, product)
        assert await lasting(session) == await lasting(other)
    for url, one, two in zip(("registered", "bought", "wish list", *PAGES), told, again, strict=True):
        assert one == two, url
