"""webarena served in this process; see web_server.py."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

if str(Path(__file__).parent) not in sys.path:
    sys.path.append(str(Path(__file__).parent))

from web_server import Web, make_folder, serving


@pytest.fixture(scope="session")
def web_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment's folder with tasks for tests."""
    return make_folder(tmp_path_factory.mktemp("webarena"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def web(web_folder: Path) -> AsyncIterator[Web]:
    """One server for a file's tests."""
    async with serving(web_folder, max_sessions=32) as running:
        yield running
