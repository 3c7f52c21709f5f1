"""A running host of the sites, sessions on it, and visitors that use them as a browser's network stack does."""

import importlib.util
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
import pytest_asyncio

SITES_FOLDER = Path(__file__).parents[4] / "environments" / "webarena" / "sites"
CLOCK = datetime(2025, 6, 16, 9, 0, tzinfo=UTC)
LOGIN = {
    "shop": ("/accounts/login/", "login-username", "login-password", {"login_submit": "Log In"}),
    "forum": ("/login/", "username", "password", {}),
    "wiki": ("/_accounts/login/", "username", "password", {}),
}


def _load_sites() -> ModuleType:
    """The sites as the environment's loader mounts them: a private package, found by its path."""
    name = "private_webarena_sites"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, SITES_FOLDER / "__init__.py", submodule_search_locations=[str(SITES_FOLDER)]
        )
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


class Visitor:
    """Someone who uses the sites through the proxy with a session's credentials."""

    def __init__(self, host: Any, session: Any) -> None:
        proxy = httpx.Proxy(host.proxy_url, auth=(session.username, session.password))
        self.http = httpx.AsyncClient(proxy=proxy, timeout=30, follow_redirects=True, trust_env=False)

    async def get(self, url: str) -> httpx.Response:
        return await self.http.get(url)

    async def page(self, url: str) -> str:
        """The text of a page that must be there, without the random tokens that no reader sees."""
        response = await self.http.get(url)
        assert response.status_code == 200, (url, response.status_code)
        return re.sub(r'(name="csrfmiddlewaretoken" value=)"[^"]*"', r"\1", response.text)

    async def submit(self, url: str, fields: dict[str, str], page: str | None = None, **extra: Any) -> httpx.Response:
        """Sends a form that is on `page` (default: at the same address)."""
        text = (await self.http.get(page or url)).text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]*)"', text)
        assert token is not None, f"no form on {page or url}"
        return await self.http.post(url, data={"csrfmiddlewaretoken": token[1], **fields}, **extra)

    async def log_in(self, site: str, name: str = "ada") -> None:
        path, user_field, password_field, button = LOGIN[site]
        user = f"{name}@example.com" if site == "shop" else name
        fields = {user_field: user, password_field: "password", **button}
        response = await self.submit(f"http://{site}.test{path}", fields)
        assert response.status_code == 200
        assert any("sessionid" in cookie for cookie in self.http.cookies), f"{name} could not log in to the {site}"

    async def buy(self, product: str) -> httpx.Response:
        """Orders one piece of a product, as ada, down to the thank-you page."""
        await self.log_in("shop")
        number = product.rpartition("_")[2]
        address = f"http://shop.test/catalogue/{product}/"
        await self.submit(f"http://shop.test/basket/add/{number}/", {"quantity": "1"}, page=address)
        form = (await self.get("http://shop.test/checkout/shipping-address/")).text
        chosen = re.search(r'name="address_id" value="(\d+)"', form)
        assert chosen is not None
        where = {"action": "ship_to", "address_id": chosen[1]}
        await self.submit("http://shop.test/checkout/shipping-address/", where)
        return await self.submit("http://shop.test/checkout/preview/", {"action": "place_order"})

    async def start_topic(self, board: str, subject: str, text: str, **extra: Any) -> httpx.Response:
        """Starts a topic on the forum, as ada."""
        await self.log_in("forum")
        attachments = "1" if "files" in extra else "0"
        fields = {
            "subject": subject,
            "content": text,
            "topic_type": "0",
            "poll-TOTAL_FORMS": "0",
            "poll-INITIAL_FORMS": "0",
            "attachment-TOTAL_FORMS": attachments,
            "attachment-INITIAL_FORMS": "0",
        }
        return await self.submit(f"http://forum.test/forum/{board}/topic/create/", fields, **extra)

    async def edit_article(self, path: str, title: str, text: str) -> httpx.Response:
        """Replaces the text of a wiki article, as ada."""
        await self.log_in("wiki")
        url = f"http://wiki.test{path}_edit/"
        revision = re.search(r'name="current_revision" value="(\d+)"', (await self.get(url)).text)
        assert revision is not None
        fields = {"title": title, "content": text, "summary": "", "current_revision": revision[1], "save": "1"}
        return await self.submit(url, fields)


@pytest.fixture(scope="session")
def sites() -> ModuleType:
    return _load_sites()


@pytest.fixture(scope="session")
def seed_cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shared by parallel test workers, which then build the seed once."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if base.name.startswith("popen-") else base) / "sites-cache"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def host(sites: ModuleType, seed_cache_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Any]:
    async with await sites.SitesHost.start(
        seed_cache_dir, tmp_path_factory.mktemp("sites-run"), lambda line: None
    ) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def open_session(host: Any) -> AsyncIterator[Callable[..., Awaitable[Any]]]:
    """Opens sessions that end with the test."""
    async with AsyncExitStack() as stack:

        async def open_one(clock: datetime = CLOCK) -> Any:
            return await stack.enter_async_context(await host.open(clock))

        yield open_one


@pytest_asyncio.fixture(loop_scope="session")
async def visit(host: Any, open_session: Any) -> AsyncIterator[Callable[..., Awaitable[Visitor]]]:
    """Makes visitors, each of a new session unless one is given."""
    async with AsyncExitStack() as stack:

        async def visit_one(session: Any = None) -> Visitor:
            visitor = Visitor(host, session or await open_session())
            await stack.enter_async_context(visitor.http)
            return visitor

        yield visit_one
