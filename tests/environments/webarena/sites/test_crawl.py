"""Every site, walked along its links: no server errors, and nothing loaded from elsewhere."""

import re
from collections import deque
from html import unescape
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = 60
SUBRESOURCE = re.compile(r"<(?:script|img|iframe|source|embed|video|audio)\b[^>]*?\bsrc=[\"']([^\"']+)", re.I)
STYLESHEET = re.compile(r"<link\b[^>]*?\bhref=[\"']([^\"']+)[\"'][^>]*>", re.I)
LINK = re.compile(r"<a\b[^>]*?\bhref=[\"']([^\"'#][^\"']*)", re.I)
CSS_URL = re.compile(r"url\([\"']?(https?:)?//", re.I)


def shape(url: str) -> str:
    """Addresses that differ in numbers and names only have one shape; the crawl prefers new shapes."""
    parts = urlsplit(url)
    return re.sub(r"[a-z0-9-]*_?\d+", "#", parts.path) + "?" + re.sub(r"=[^&]*", "", parts.query)


async def crawl(visitor: Any, start: str, pages: int = PAGES) -> tuple[list[tuple[int, str]], set[str], int]:
    """Failed pages, addresses of subresources, and the number of pages seen."""
    host, queue, seen, shapes = urlsplit(start).netloc, deque([start]), {start}, set()
    failed: list[tuple[int, str]] = []
    resources: set[str] = set()
    count = 0
    while queue and count < pages:
        url = queue.popleft()
        response = await visitor.get(url)
        count += 1
        if response.status_code >= 500:
            failed.append((response.status_code, url))
        if "html" not in response.headers.get("content-type", ""):
            continue
        found = SUBRESOURCE.findall(response.text) + STYLESHEET.findall(response.text)
        resources |= {urljoin(url, unescape(address)) for address in found}
        for address in LINK.findall(response.text):
            target = urldefrag(urljoin(str(response.url), unescape(address)))[0]
            if urlsplit(target).netloc != host or target in seen or "logout" in target:
                continue
            seen.add(target)
            (queue.append if shape(target) in shapes else queue.appendleft)(target)
            shapes.add(shape(target))
    return failed, resources, count


@pytest.mark.parametrize(
    ("site", "start", "user"),
    [
        ("shop", "/", None),
        ("shop", "/accounts/", "ada"),
        ("shop", "/dashboard/", "admin"),
        ("forum", "/", None),
        ("forum", "/", "admin"),
        ("wiki", "/", None),
        ("wiki", "/", "admin"),
    ],
)
async def test_pages_work_and_load_nothing_from_elsewhere(visit: Any, site: str, start: str, user: str | None) -> None:
    visitor = await visit()
    if user is not None:
        await visitor.log_in(site, user)
    failed, resources, count = await crawl(visitor, f"http://{site}.test{start}")
    assert count >= PAGES
    assert failed == []
    assert {urlsplit(address).netloc for address in resources if not address.startswith("data:")} == {f"{site}.test"}


async def test_stylesheets_load_nothing_from_elsewhere(visit: Any) -> None:
    visitor = await visit()
    for site in ("shop", "forum", "wiki"):
        _, resources, _ = await crawl(visitor, f"http://{site}.test/", pages=5)
        for address in sorted(resources):
            if urlsplit(address).path.endswith(".css"):
                response = await visitor.get(address)
                assert response.status_code == 200, address
                assert not CSS_URL.search(response.text), address
