"""The browser reaches the sites and nothing else, whoever asks: the policy, or a page."""

from __future__ import annotations

import asyncio
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from browser_site import Site, act, shows_title
from control_port import Listeners
from site_proxy import Reply
from webarena_under_test.browser import BrowserSession, Goto

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

SECRET = "the-content-of-a-file"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def control() -> AsyncIterator[Listeners]:
    """What must not be reached."""
    async with Listeners() as listeners:
        yield listeners


def targets(control: Listeners, secret: Path) -> list[str]:
    """Addresses that must not be reached."""
    port = control.port
    loopback = ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "0x7f000001", "127.1", "envhub-sites"]
    return [
        *(f"http://{host}:{port}/{host}" for host in loopback),
        f"http://shop.test:{port}/",
        f"http://shop.test@127.0.0.1:{port}/",
        f"https://127.0.0.1:{port}/",
        f"https://localhost:{port}/",
        "https://shop.test/",
        "http://127.0.0.1/",
        "http://evil.test/",
        f"ws://127.0.0.1:{port}/",
        f"ftp://127.0.0.1:{port}/",
        secret.as_uri(),
        f"view-source:{secret.as_uri()}",
        f"view-source:http://127.0.0.1:{port}/",
        "chrome://version",
        "data:text/html,<h1>data-page</h1>",
        "javascript:document.write('script-ran')",
    ]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret.html"
    file.write_text(f"<h1>{SECRET}</h1>")
    return file


async def nothing_reached(control: Listeners, session: BrowserSession) -> None:
    """No hit on the listeners, and nothing of them or of the file in sight."""
    observation = await session.observe()
    assert control.hits == []
    for forbidden in (SECRET, "CONTROL-PLANE", "data-page", "script-ran", "Google Chrome", "Command Line"):
        assert forbidden not in observation.text


async def test_the_listeners_count(control: Listeners) -> None:
    address = f"http://127.0.0.1:{control.port}/"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    body = await asyncio.to_thread(lambda: opener.open(address, timeout=5).read())
    assert body == b"CONTROL-PLANE"
    assert control.hits
    control.hits.clear()


async def test_not_by_goto(control: Listeners, session: BrowserSession, secret: Path) -> None:
    first = await session.open("http://shop.test/")
    for address in targets(control, secret):
        result = await session.perform(Goto(address))
        assert "cannot be opened; only pages of the sites can" in result.message
    assert (await session.observe()).text.endswith(first.text.partition("\n\n")[2])
    await nothing_reached(control, session)


async def test_not_by_link(site: Site, control: Listeners, session: BrowserSession, secret: Path) -> None:
    for position, target in enumerate(targets(control, secret)):
        page = site.page(f"/link{position}", f'<a href="{target}">Follow</a>')
        await session.open(page)
        await act(session, "click {link 'Follow'}")
        if not target.startswith("javascript:"):  # That is the page's own script on its own page.
            await nothing_reached(control, session)


async def test_not_by_form(site: Site, control: Listeners, session: BrowserSession, secret: Path) -> None:
    for position, target in enumerate(targets(control, secret)):
        method = "post" if position % 2 else "get"
        form = f'<form method={method} action="{target}"><input name=q value=1><button>Send</button></form>'
        await session.open(site.page(f"/form{position}", form))
        await act(session, "click {button 'Send'}")
        if not target.startswith("javascript:"):
            await nothing_reached(control, session)


async def test_not_by_what_a_page_loads(site: Site, control: Listeners, session: BrowserSession, secret: Path) -> None:
    reached = [t for t in targets(control, secret) if not t.startswith(("data:", "javascript:"))]
    tags = "".join(
        f'<img src="{t}"><iframe src="{t}"></iframe><script src="{t}"></script><link rel=stylesheet href="{t}">'
        f'<link rel=prefetch href="{t}"><link rel=preconnect href="{t}"><link rel=dns-prefetch href="{t}">'
        f'<video src="{t}"></video><object data="{t}"></object><embed src="{t}">'
        for t in reached
    )
    await session.open(site.page("/loads", tags))
    await nothing_reached(control, session)


SCRIPT = """<button onclick="tries(TARGETS).then(() => document.title = 'tried')">Try</button><script>
  const end = (source, ...names) => new Promise(done => names.forEach(name => source.addEventListener(name, done)));
  const ways = [
    t => fetch(t).then(r => r.text()).then(text => document.body.append(text)),
    t => fetch(t, {mode: 'no-cors', method: 'POST', body: 'x'}),
    t => { const x = new XMLHttpRequest(); x.open('GET', t); x.send(); return end(x, 'loadend') },
    t => end(new WebSocket(t.replace(/^[a-z-]+:/, 'ws:')), 'open', 'error', 'close'),
    t => end(new EventSource(t), 'open', 'error'),
    t => navigator.sendBeacon(t, 'x'),
  ];
  const attempt = async (way, t) => { try { await way(t) } catch {} };
  const wait = () => new Promise(done => setTimeout(done, 3000));
  const tries = targets => Promise.all(targets.flatMap(t => ways.map(way => Promise.race([attempt(way, t), wait()]))));
</script>"""


async def test_not_by_script(site: Site, control: Listeners, session: BrowserSession, secret: Path) -> None:
    tried = [t for t in targets(control, secret) if t.startswith(("http", "ws:"))]
    await session.open(site.page("/script", SCRIPT.replace("TARGETS", repr(tried))))
    await act(session, "click {button 'Try'}")
    await shows_title(session, "tried")
    await nothing_reached(control, session)


async def test_not_by_a_window(site: Site, control: Listeners, session: BrowserSession, secret: Path) -> None:
    everything = [t for t in targets(control, secret) if not t.startswith("javascript:")]
    for opened in (everything[:8], everything[8:16], everything[16:]):
        script = f"const go = () => {opened!r}.forEach(t => {{ try {{ window.open(t) }} catch {{}} }})"
        await session.open(site.page("/windows", f"<script>{script}</script><button onclick=go()>Open</button>"))
        _, observation = await act(session, "click {button 'Open'}")
        for tab in range(observation.text.partition("\n")[0].count("| Tab"), 0, -1):
            await act(session, f"tab_focus [{tab}]")
            await nothing_reached(control, session)
            await act(session, "close_tab")


async def test_not_by_redirect(site: Site, control: Listeners, session: BrowserSession, secret: Path) -> None:
    for position, target in enumerate(targets(control, secret)):
        address = f"http://shop.test/to{position}"
        site.pages[address] = [
            Reply("", 302, {"Location": target}),
            Reply(f'<meta http-equiv=refresh content="0;url={target}">'),
            Reply(f"<script>location = {target!r}</script>"),
        ][position % 3]
        await session.perform(Goto(address))
        if not target.startswith("javascript:"):
            await nothing_reached(control, session)


async def test_not_by_peer_connections(site: Site, control: Listeners, session: BrowserSession) -> None:
    servers = [f"stun:127.0.0.1:{control.udp_port}", f"turn:127.0.0.1:{control.udp_port}?transport=udp"]
    servers.append(f"turn:127.0.0.1:{control.port}?transport=tcp")
    script = """<script>
      const peer = new RTCPeerConnection({iceServers: SERVERS.map(urls => ({urls, username: 'u', credential: 'c'}))});
      peer.createDataChannel('x');
      peer.onicecandidate = e => { if (!e.candidate) document.title = 'gathered' };
      peer.createOffer().then(o => peer.setLocalDescription(o));
      setTimeout(() => document.title = 'gathered', 3000);
    </script>"""
    await session.open(site.page("/peer", script.replace("SERVERS", repr(servers))))
    await shows_title(session, "gathered")
    await nothing_reached(control, session)


@pytest.mark.parametrize("keys", ["Control+u", "Control+o", "Control+l", "Control+t", "F12", "Control+Shift+i", "F1"])
async def test_keys_reach_the_page_and_not_the_browser(control: Listeners, session: BrowserSession, keys: str) -> None:
    first = await session.open("http://shop.test/")
    _, observation = await act(session, f"press [{keys}]")
    assert observation.text == first.text
    await nothing_reached(control, session)


async def test_a_page_cannot_read_the_credentials(site: Site, session: BrowserSession) -> None:
    site.pages["http://shop.test/headers"] = lambda request: Reply(repr(sorted(request.headers)))
    observation = await session.open("http://shop.test/headers")
    assert "proxy-authorization" in observation.text  # The sites' server sees it; a page is told nothing of it:
    site.page("/nosy", "<script>fetch('/').then(r => document.title = [...r.headers.keys()].join())</script>")
    observation = await session.open("http://shop.test/nosy")
    assert "auth" not in observation.title


async def test_every_request_carries_the_sessions_own_user(site: Site, session: BrowserSession) -> None:
    await session.open(site.page("/whose", "<img src=/a.png><iframe src=/f></iframe><script>fetch('/x')</script>"))
    mine = site.seen(session.access.username)
    assert {"http://shop.test/a.png", "http://shop.test/f", "http://shop.test/x"} <= set(mine)
