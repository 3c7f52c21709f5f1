"""The pool: warm contexts, limits, and what is left after crashes, cancellation and the death of the process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from browser_site import Site, act, open_pool
from webarena_under_test.browser import Access, BrowserCrashed, BrowserPool, BrowserSession, Goto, SitesUnreachable

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

CLOCK_S = 1_750_000_000


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something is so; what takes longer than this has failed."""
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.02)


def chromium_processes() -> set[psutil.Process]:
    """The browsers' main processes that we started, without the shell script that some start them by."""
    found = [(p, p.cmdline()) for p in psutil.Process().children(recursive=True)]
    browsers = [(p, line) for p, line in found if "--remote-debugging-pipe" in line and "--type=" not in " ".join(line)]
    return {p for p, line in browsers if Path(line[0]).name not in ("sh", "bash", "dash")}


def driver(chromium: psutil.Process) -> psutil.Process:
    """The driver that started a browser."""
    return next(process for process in chromium.parents() if "node" in process.name())


async def test_warm_contexts_are_made_ahead_and_made_again(site: Site, chromium: Any) -> None:
    async with open_pool(site, chromium, warm=2, warm_delay_s=0.0) as pool:
        assert (pool.warm, pool.sessions, pool.browsers) == (2, 0, 1)
        users = set(site.users)
        async with await pool.acquire(CLOCK_S) as session:
            assert session.access.username in users
            assert pool.sessions == 1
            await eventually(lambda: pool.warm == 2)
        await eventually(lambda: pool.sessions == 0)
    assert pool.browsers == 0
    assert not set(site.users) - {session.access.username}, "the users of contexts that nobody got are closed"


async def test_a_warm_context_has_seen_pages_that_its_session_has_not(site: Site, chromium: Any) -> None:
    home = site.page("/home", "<script>document.cookie = 'a=b'</script>")
    page = site.page("/start", "<script>document.title = 'cookie:' + document.cookie</script>")
    async with open_pool(site, chromium, warm_addresses=(home,)) as pool, await pool.acquire(CLOCK_S) as session:
        assert home in site.seen(session.access.username)
        assert (await session.open(page)).title == "cookie:"
        assert (await act(session, "go_back"))[0].message == "there is no page to go back to"


async def test_a_browser_carries_so_many_sessions_and_an_empty_one_ends(site: Site, chromium: Any) -> None:
    async with open_pool(site, chromium, warm=0, sessions_per_browser=2) as pool:
        sessions = await asyncio.gather(*(pool.acquire(CLOCK_S) for _ in range(5)))
        assert (pool.browsers, pool.sessions) == (3, 5)
        await asyncio.gather(*(session.open("http://shop.test/") for session in sessions))
        await asyncio.gather(*(session.close() for session in sessions))
        await sessions[0].close()
        assert (pool.browsers, pool.sessions) == (1, 0)


async def test_sessions_share_nothing(site: Site, pool: BrowserPool) -> None:
    page = site.page("/jar", "<script>document.title = document.cookie + localStorage.x;"
                             "document.cookie = 'a=b'; localStorage.x = 'kept'</script>")  # fmt: skip
    async with await pool.acquire(CLOCK_S) as one, await pool.acquire(CLOCK_S) as two:
        assert (await one.open(page)).title == "undefined"
        assert (await one.open(page)).title == "a=bkept"
        assert (await two.open(page)).title == "undefined"
        assert one.access.username != two.access.username


async def test_a_cancelled_acquire_leaves_nothing_but_a_warm_context(site: Site, chromium: Any) -> None:
    async with open_pool(site, chromium, warm=0) as pool:
        for delay_s in (0.0, 0.01, 0.05, 0.1, 0.2):
            opening = asyncio.ensure_future(pool.acquire(CLOCK_S))
            await asyncio.sleep(delay_s)
            opening.cancel()
            await asyncio.gather(opening, return_exceptions=True)
            if not opening.cancelled():
                await opening.result().close()
        await eventually(lambda: pool.sessions == 0)
        await pool.close()
        assert (pool.sessions, pool.warm, pool.browsers) == (0, 0, 0)


async def test_a_cancelled_close_is_completed(site: Site, pool: BrowserPool) -> None:
    session = await pool.acquire(CLOCK_S)
    before = pool.sessions
    closing = asyncio.ensure_future(session.close())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.gather(closing, return_exceptions=True)
    await eventually(lambda: pool.sessions == before - 1)


async def test_a_crashed_browser_ends_its_own_sessions_and_no_others(site: Site, chromium: Any) -> None:
    others = chromium_processes()
    async with open_pool(site, chromium, warm=0, sessions_per_browser=1) as pool:
        doomed = await pool.acquire(CLOCK_S)
        (process,) = chromium_processes() - others
        other = await pool.acquire(CLOCK_S)
        site.pages["http://shop.test/slow"] = _never
        waiting = asyncio.ensure_future(doomed.perform(Goto("http://shop.test/slow")))
        await eventually(lambda: "http://shop.test/slow" in site.seen(doomed.access.username))
        process.kill()
        with pytest.raises(BrowserCrashed):
            async with asyncio.timeout(5):
                await waiting
        with pytest.raises(BrowserCrashed):
            await doomed.observe()
        with pytest.raises(BrowserCrashed):
            await doomed.inspect("http://shop.test/")
        await doomed.close()
        assert (await other.open("http://shop.test/")).title == "Shop"
        async with await pool.acquire(CLOCK_S) as replacement:
            assert (await replacement.open("http://shop.test/")).title == "Shop"
        await other.close()


async def test_a_browser_that_crashed_with_warm_contexts_is_replaced(site: Site, chromium: Any) -> None:
    others = chromium_processes()
    async with open_pool(site, chromium, warm=2) as pool:
        (process,) = chromium_processes() - others
        process.kill()
        async with await pool.acquire(CLOCK_S) as session:
            assert (await session.open("http://shop.test/")).title == "Shop"


async def test_a_driver_that_died_is_replaced(site: Site, chromium: Any) -> None:
    others = chromium_processes()
    async with open_pool(site, chromium, warm=0) as pool:
        doomed = await pool.acquire(CLOCK_S)
        (process,) = chromium_processes() - others
        driver(process).kill()
        with pytest.raises(BrowserCrashed):
            await doomed.observe()
        await doomed.close()
        async with await pool.acquire(CLOCK_S) as session:
            assert (await session.open("http://shop.test/")).title == "Shop"


async def test_a_crashed_page_is_an_observation_and_goto_replaces_it(site: Site, session: BrowserSession) -> None:
    await session.open("http://shop.test/")
    crashing = asyncio.ensure_future(session._tabs.current.send("Page.crash"))
    await asyncio.gather(crashing, return_exceptions=True)
    observation = await session.observe()
    assert observation.text == (
        "Tab 0 (current): (crashed)\nURL: http://shop.test/\n\nThe page crashed. Go to an address, or close this tab."
    )
    assert "the page crashed" in (await act(session, "click [1]"))[0].message
    assert "the page crashed" in (await act(session, "press [a]"))[0].message
    assert "the page crashed" in (await act(session, "go_back"))[0].message
    result, observation = await act(session, "goto [http://shop.test/]")
    assert (result.done, observation.title) == (True, "Shop")
    assert observation.text.startswith("Tab 0 (current): Shop\n")


async def test_a_crash_of_the_page_during_an_action_is_a_message(site: Site, session: BrowserSession) -> None:
    await session.open(site.page("/hang", "<button onclick='for (;;);'>Hang</button>"))
    hanging = asyncio.ensure_future(act(session, "click {button 'Hang'}"))
    await asyncio.sleep(0.3)
    renderer = await _renderer(session)
    renderer.kill()
    async with asyncio.timeout(5):
        result, observation = await hanging
    assert result.message == "the page crashed"
    assert "The page crashed." in observation.text


async def test_a_page_that_hangs_is_stopped(site: Site, chromium: Any) -> None:
    async with open_pool(site, chromium, load_timeout_s=2.0, warm=0) as pool, await pool.acquire(CLOCK_S) as session:
        await session.open(site.page("/endless", "<button onclick='for (;;);'>Hang</button>"))
        result, observation = await act(session, "click {button 'Hang'}")
        assert not result.done
        assert "button 'Hang'" in observation.text
        assert (await act(session, "goto [http://shop.test/]"))[1].title == "Shop"


async def test_a_page_that_does_not_load_is_an_observation(site: Site, chromium: Any) -> None:
    site.pages["http://shop.test/never"] = _never
    async with open_pool(site, chromium, load_timeout_s=1.0, warm=0) as pool, await pool.acquire(CLOCK_S) as session:
        await session.open(site.page("/toward", "<a href=/never>On</a>"))
        for action in ("goto [http://shop.test/never]", "click {link 'On'}"):
            result, observation = await act(session, action)
            assert result.message == "the page did not load within 1 s; what had arrived by then is shown"
            assert observation.url == "http://shop.test/toward"


async def test_sites_that_are_gone_are_an_error(chromium: Any) -> None:
    async with (
        Site({"http://shop.test/": "<title>Shop</title><a href=/>Again</a>"}) as site,
        open_pool(site, chromium, warm=0) as pool,
        await pool.acquire(CLOCK_S) as session,
    ):
        await session.open("http://shop.test/")
        await site.stop()
        with pytest.raises(SitesUnreachable):
            await act(session, "click {link 'Again'}")
        with pytest.raises(SitesUnreachable):
            await pool.acquire(CLOCK_S)


async def test_wrong_credentials_are_an_error(site: Site, chromium: Any) -> None:
    async def wrong_access() -> Access:
        return Access((await site.new_access()).proxy_port, "nobody", "wrong")

    async def drop(access: Access) -> None:
        assert access.username == "nobody"

    async with open_pool(site, chromium, warm=0) as pool:
        pool._new_access, pool._drop_access = wrong_access, drop
        with pytest.raises(SitesUnreachable, match="refuses the credentials"):
            await pool.acquire(CLOCK_S)
        assert pool.sessions == 0


async def test_the_same_actions_give_the_same_bytes(site: Site, chromium: Any) -> None:
    page = site.page("/same", "<script>document.write(`<p>${Math.random()} ${new Date()}`)</script>"
                              "<a href=/>Home</a><input aria-label=Q><a target=_blank href=/>New</a>"
                              "<button onclick=alert(1)>Say")  # fmt: skip
    actions = ["type {textbox 'Q'} [x] [0]", "click {button 'Say'}", "click {link 'New'}", "tab_focus [0]",
               "click {link 'Home'}", "go_back", "goto [https://x]", "click [77]", "scroll [down]"]  # fmt: skip

    async def play(pool: BrowserPool) -> list[str]:
        async with await pool.acquire(CLOCK_S, seed=7) as session:
            return [(await session.open(page)).text, *[(await act(session, action))[1].text for action in actions]]

    async with open_pool(site, chromium, warm=0, sessions_per_browser=1) as pool:
        one, two = await asyncio.gather(play(pool), play(pool))
        assert pool.browsers >= 1
        assert one == two == await play(pool)


SERVE = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
import conftest
from browser_site import Site, open_pool
from webarena_under_test.browser import find_browser

async def main():
    async with Site({"http://shop.test/": "<h1>Shop"}) as site, open_pool(site, find_browser()) as pool:
        async with await pool.acquire(0) as session:
            await session.open("http://shop.test/")
            print("ready", flush=True)
            await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_browsers_die_with_the_process_that_started_them() -> None:
    here = str(Path(__file__).parent)
    host = await asyncio.create_subprocess_exec(sys.executable, "-c", SERVE, here, stdout=asyncio.subprocess.PIPE)
    assert host.stdout is not None
    async with asyncio.timeout(60):
        assert await host.stdout.readline() == b"ready\n"
    below = psutil.Process(host.pid).children(recursive=True)
    assert len(below) > 3
    os.kill(host.pid, signal.SIGKILL)
    await host.wait()
    await eventually(lambda: not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in below))


async def _never(_: object) -> Any:
    await asyncio.sleep(3600)


async def _renderer(session: BrowserSession) -> psutil.Process:
    """The process of the current page: the one that is busy."""
    renderers = [p for p in psutil.Process().children(recursive=True) if "--type=renderer" in p.cmdline()]
    usage = [(p.cpu_times().user, p) for p in renderers]
    await asyncio.sleep(0.5)
    return max(usage, key=lambda item: item[1].cpu_times().user - item[0])[1]
