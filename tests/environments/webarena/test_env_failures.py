"""What breaks in webarena and what does not: crashes, lost leases, killed servers, many sessions at once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from web_server import TOKEN, Web, browsers_of, eventually, serving

from envhub.clients import connect
from envhub.sdk import SandboxFailed

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

HOME, BASKET = "webarena-0", "webarena-1"
ANSWER = "stop [42]"


async def test_a_page_dialog_is_told_and_the_session_goes_on(web: Web) -> None:
    async with web.client.session(task=HOME) as session:
        await web.page(session).evaluate("document.body.onkeydown = () => { alert('Bad address'); }")
        told = (await session.step("press [a]")).observation.text
        assert told.startswith("Note: the page opened a dialog (alert) saying 'Bad address'")
        assert (await session.step(ANSWER)).reward == 1.0


async def test_a_renderer_crash_is_told_and_the_session_goes_on(web: Web) -> None:
    async with web.client.session(task=HOME) as session, web.client.session(task=HOME) as other:
        tab = web.visit(session).browser._tabs.current
        with contextlib.suppress(Exception):  # The only answer is that the tab is gone.
            await tab.send("Page.crash")
        told = (await session.step("scroll [down]")).observation.text
        assert "crashed" in told
        assert "URL: http://shop.test/" in (await session.step("goto [http://shop.test/]")).observation.text
        assert not (await other.step("scroll [down]")).observation.text.startswith("Note:")
        assert (await session.step(ANSWER)).reward == 1.0


async def test_sixteen_sessions_at_once_and_a_browser_crash_ends_only_its_own(web: Web) -> None:
    sessions = await asyncio.gather(*(web.client.open(task=HOME) for _ in range(16)))
    assert len({session.observation.text for session in sessions}) == 1
    browsers = {web.visit(session).browser._chromium for session in sessions}
    assert len(browsers) >= 2
    victim = web.visit(sessions[0]).browser._chromium
    process = await process_of(victim)
    lost = [session for session in sessions if web.visit(session).browser._chromium is victim]
    assert len(lost) <= 8
    process.kill()
    await eventually(lambda: not victim.alive)

    steps = (session.step("scroll [down]") for session in sessions)
    results = await asyncio.gather(*steps, return_exceptions=True)
    for session, result in zip(sessions, results, strict=True):
        if session in lost:
            assert isinstance(result, SandboxFailed)
            assert (await session.status()).reward is None
        else:
            assert not isinstance(result, BaseException), result
            assert (await session.step(ANSWER)).reward == 1.0
    async with web.client.session(task=HOME) as fresh:
        assert (await fresh.step(ANSWER)).reward == 1.0


async def test_a_step_after_a_browser_crash_ends_the_session_with_an_error(web: Web) -> None:
    session = await web.client.open(task=HOME)
    (await process_of(web.visit(session).browser._chromium)).kill()
    with pytest.raises(SandboxFailed) as failure:
        await session.step("scroll [down]")
    assert failure.value.boundary == "sandbox"
    status = await session.status()
    assert (status.end, status.reward) == ("error", None)
    assert status.error is not None
    assert status.error["boundary"] == "sandbox"


async def test_the_sites_end_ends_sessions_with_an_error_and_the_next_session_has_new_ones(web: Web) -> None:
    session, stopped = await web.client.open(task=HOME), await web.client.open(task=BASKET)
    before = web.suite.host.pid
    psutil.Process(before).kill()
    await eventually(lambda: not web.suite.host.alive)
    with pytest.raises(SandboxFailed, match="sites of this session ended"):
        await session.step("goto [http://wiki.test/]")
    ungraded = await stopped.step("stop []")
    assert (ungraded.end, ungraded.reward) == ("unresolved", None)
    async with web.client.session(task=HOME) as fresh:
        assert web.suite.host.pid != before
        assert (await fresh.step(ANSWER)).reward == 1.0


async def test_nothing_is_left_of_closed_ended_and_lost_sessions(web: Web) -> None:
    await eventually(lambda: web.suite.pool.sessions == 0)
    closed = await web.client.open(task=HOME)
    ended = await web.client.open(task=HOME)
    lost = await web.client.open(task=HOME, lease_s=1)
    assert len(web.session_folders()) == 3
    web.client._channel.leases.remove(lost.id)  # nobody renews it any more
    await closed.close()
    await ended.step(ANSWER)
    await eventually(lambda: web.server.registry.sessions[lost.id].end == "lease_lost")
    await eventually(lambda: web.suite.pool.sessions == 0)
    await eventually(lambda: web.session_folders() == [])


CLIENT = """
import asyncio, sys
from envhub.clients import connect

async def main():
    async with connect(sys.argv[1], sys.argv[2]) as client:
        sessions = await asyncio.gather(*(client.open(task="webarena-0", lease_s=2) for _ in range(3)))
        print(len(sessions), flush=True)
        while True:
            await asyncio.gather(*(session.step("goto [http://wiki.test/]") for session in sessions))

asyncio.run(main())
"""


async def test_nothing_is_left_of_a_killed_client_after_its_leases(web: Web) -> None:
    arguments = ["-c", CLIENT, web.client.url, TOKEN]
    client = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.PIPE)
    assert client.stdout is not None
    assert await client.stdout.readline() == b"3\n"
    assert len(web.session_folders()) == 3
    client.kill()
    await client.wait()
    await eventually(lambda: web.suite.pool.sessions == 0)
    await eventually(lambda: web.session_folders() == [])


async def test_no_browser_is_told_before_anything_is_started(web_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVHUB_CHROMIUM", "no-such-browser")
    with pytest.raises(SandboxFailed, match="ENVHUB_CHROMIUM names no-such-browser"):
        async with serving(web_folder):
            pass


async def test_nothing_is_left_of_a_killed_server(web_folder: Path) -> None:
    async with connect(str(web_folder)) as client:
        server = next(p for p in psutil.Process().children() if str(web_folder) in p.cmdline())
        assert client.url
        started = server.children(recursive=True)
        assert browsers_of(server), "a browser is kept warm"
        assert any("suite.serve" in " ".join(p.cmdline()) for p in started)
        session = await client.open(task=HOME)
        started = server.children(recursive=True)
        server.send_signal(signal.SIGKILL)
        _, alive = await asyncio.to_thread(psutil.wait_procs, started, 30)
        assert alive == []
        del session


async def process_of(chromium: Any) -> psutil.Process:
    """The main process of one of this process's browsers."""
    cdp = await chromium.browser.new_browser_cdp_session()
    info = await cdp.send("SystemInfo.getProcessInfo")
    await cdp.detach()
    return psutil.Process(next(each["id"] for each in info["processInfo"] if each["type"] == "browser"))


if sys.platform != "linux":
    pytestmark.append(pytest.mark.skip("processes are looked up as Linux has them"))
