"""The browser package under a name that tests can import, a small site, and a pool on it."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType

import pytest
import pytest_asyncio

FOLDER = Path(__file__).resolve().parents[4] / "environments" / "webarena"
PACKAGE = "webarena_under_test"

# As the loader does: a private package whose path is the environment's folder.
if PACKAGE not in sys.modules:
    package = ModuleType(PACKAGE)
    package.__path__ = [str(FOLDER)]
    sys.modules[PACKAGE] = package
if str(Path(__file__).parent) not in sys.path:
    sys.path.append(str(Path(__file__).parent))

from browser_site import Site, open_pool  # noqa: E402
from webarena_under_test.browser import BrowserPool, BrowserSession, find_browser  # noqa: E402


@pytest.fixture(scope="session")
def chromium() -> object:
    """The browser of this machine; that there is one is `make setup`'s job."""
    return find_browser(os.environ.get("ENVHUB_CHROMIUM"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[Site]:
    """A site whose pages a test sets: site.pages["http://shop.test/x"] = "<p>..."."""
    async with Site({"http://shop.test/": "<title>Shop</title><h1>Shop</h1>"}) as served:
        yield served


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(site: Site, chromium: object) -> AsyncIterator[BrowserPool]:
    """One pool for a file's tests."""
    async with open_pool(site, chromium) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def session(pool: BrowserPool) -> AsyncIterator[BrowserSession]:
    """A fresh session."""
    async with await pool.acquire(clock_s=1_750_000_000) as opened:
        yield opened
