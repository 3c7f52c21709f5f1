"""The sites' server as forward proxy: whom it answers, and what it reaches."""

import asyncio
import base64
import re
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def raw(host: Any, request: bytes) -> bytes:
    """The answer to hand-written bytes."""
    port = urlsplit(host.proxy_url).port
    async with asyncio.timeout(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            return head + await reader.readexactly(int(length[1]) if length else 0)
        finally:
            writer.close()
            await writer.wait_closed()


def authorization(session: Any) -> bytes:
    token = base64.b64encode(f"{session.username}:{session.password}".encode())
    return b"Proxy-Authorization: Basic " + token + b"\r\n"


async def test_without_credentials_it_challenges(host: Any) -> None:
    async with httpx.AsyncClient(proxy=host.proxy_url, trust_env=False) as client:
        response = await client.get("http://shop.test/")
    assert response.status_code == 407
    assert response.headers["proxy-authenticate"].startswith("Basic ")


@pytest.mark.parametrize("name", [None, "", "..", "0123456789abcdef", "é", ".new-0123456789abcdef"])
async def test_wrong_credentials_are_challenged(host: Any, open_session: Any, name: str | None) -> None:
    session = await open_session()
    user = session.username if name is None else name
    for password in ("", "wrong", session.password[:-1]):
        token = base64.b64encode(f"{user}:{password}".encode())
        request = b"GET http://shop.test/ HTTP/1.1\r\nHost: shop.test\r\nProxy-Authorization: Basic %s\r\n\r\n" % token
        assert (await raw(host, request)).startswith(b"HTTP/1.1 407 ")
    assert await session.requests() == []


@pytest.mark.parametrize("header", [b"Bearer abc", b"Basic", b"Basic !!!", b"Basic /w==", b"Basic \xff"])
async def test_malformed_credentials_are_challenged(host: Any, header: bytes) -> None:
    request = b"GET http://shop.test/ HTTP/1.1\r\nHost: shop.test\r\nProxy-Authorization: " + header + b"\r\n\r\n"
    assert (await raw(host, request)).startswith(b"HTTP/1.1 407 ")


async def test_credentials_of_one_session_do_not_open_another(host: Any, open_session: Any) -> None:
    one, other = await open_session(), await open_session()
    proxy = httpx.Proxy(host.proxy_url, auth=(one.username, other.password))
    async with httpx.AsyncClient(proxy=proxy, trust_env=False) as client:
        assert (await client.get("http://shop.test/")).status_code == 407


@pytest.mark.parametrize(
    "target",
    [
        "http://example.com/",
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://localhost/",
        "http://shop.test:81/",
        "http://shop.test:8080/",
        "http://www.shop.test/",
        "http://shop.test./",
        "http://user@shop.test/",
        "http://shop.test@example.com/",
        "https://shop.test/",
        "ftp://shop.test/",
        "file:///etc/passwd",
        "http://shop.test:99999/",
        "http:///catalogue/",
    ],
)
async def test_other_addresses_are_refused_and_traced(host: Any, open_session: Any, target: str) -> None:
    session = await open_session()
    request = f"GET {target} HTTP/1.1\r\nHost: shop.test\r\n".encode() + authorization(session) + b"\r\n"
    answer = await raw(host, request)
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert b"not reachable in this environment" in answer
    (record,) = await session.requests()
    assert (record.method, record.url, record.status) == ("GET", target, 403)


async def test_the_control_port_is_refused_even_by_its_own_number(host: Any, visit: Any) -> None:
    visitor = await visit()
    assert (await visitor.get(f"{host.proxy_url}/")).status_code == 403


@pytest.mark.parametrize("target", [b"shop.test:443", b"shop.test:80", b"127.0.0.1:22", b"example.com:443"])
async def test_tunnels_are_refused(host: Any, open_session: Any, target: bytes) -> None:
    session = await open_session()
    request = b"CONNECT " + target + b" HTTP/1.1\r\nHost: " + target + b"\r\n" + authorization(session) + b"\r\n"
    assert (await raw(host, request)).startswith(b"HTTP/1.1 403 ")
    assert [record.method for record in await session.requests()] == ["CONNECT"]


@pytest.mark.parametrize("target", [b"/", b"/catalogue/", b"//shop.test/", b"*"])
async def test_requests_not_made_to_a_proxy_are_refused(host: Any, open_session: Any, target: bytes) -> None:
    request = b"GET " + target + b" HTTP/1.1\r\nHost: shop.test\r\n" + authorization(await open_session()) + b"\r\n"
    assert (await raw(host, request)).startswith(b"HTTP/1.1 403 ")


async def test_the_address_wins_over_the_host_header(host: Any, open_session: Any) -> None:
    request = (
        b"GET http://wiki.test/ HTTP/1.1\r\nHost: evil.example\r\n" + authorization(await open_session()) + b"\r\n"
    )
    answer = await raw(host, request)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"Almanac of Aldermere" in answer


async def test_large_bodies_are_refused(open_session: Any, visit: Any) -> None:
    session = await open_session()
    visitor = await visit(session)
    response = await visitor.http.post("http://forum.test/login/", content=b"x" * (2 * 1024 * 1024 + 1))
    assert response.status_code == 413
    assert [record.status for record in await session.requests()] == [413]


async def test_slow_clients_do_not_keep_others_waiting(host: Any, open_session: Any, visit: Any) -> None:
    session = await open_session()
    port = urlsplit(host.proxy_url).port
    start = b"POST http://forum.test/login/ HTTP/1.1\r\nHost: forum.test\r\nContent-Length: 1000\r\n" + authorization(
        session
    )
    slow = [await asyncio.open_connection("127.0.0.1", port) for _ in range(40)]
    try:
        for _, writer in slow:
            writer.write(start + b"\r\nx")
            await writer.drain()
        visitor = await visit(session)
        assert (await asyncio.wait_for(visitor.get("http://wiki.test/"), 20)).status_code == 200
    finally:
        for _, writer in slow:
            writer.close()


async def test_static_files_may_be_kept_by_the_browser(visit: Any) -> None:
    visitor = await visit()
    response = await visitor.get("http://shop.test/static/oscar/css/styles.css")
    assert response.status_code == 200
    assert "immutable" in response.headers["cache-control"]
