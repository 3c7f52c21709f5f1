"""Runs the sites' process for one environment process, and opens sessions on it."""

from __future__ import annotations

import asyncio
import fcntl
import shutil
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import IO

from .errors import SitesError
from .process import SuiteProcess
from .seed_cache import Progress, ensure_seed
from .session import SiteSession, create_session

DEFAULT_HOSTS: Mapping[str, str] = {"shop": "shop.test", "forum": "forum.test", "wiki": "wiki.test"}
START_TIMEOUT_S = 60.0


class SitesHost:
    """The running sites. The process dies with this one; sessions are directories, so there is no control port."""

    def __init__(self, process: SuiteProcess, port: int, seed_dir: Path, sessions_dir: Path, lock: IO[str]) -> None:
        self._process = process
        self._port = port
        self._seed_dir = seed_dir
        self._sessions_dir = sessions_dir
        self._lock = lock

    @classmethod
    async def start(
        cls, cache_dir: Path, run_dir: Path, progress: Progress, *, hosts: Mapping[str, str] = DEFAULT_HOSTS
    ) -> SitesHost:
        """Starts the sites, building their seed first if the cache lacks it.

        Args:
            cache_dir: kept between runs, shared by processes.
            run_dir: of this host alone; what an earlier host left there is removed.
            progress: told what is being done, a line at a time.
            hosts: site name (shop, forum, wiki) -> host name in addresses.

        Raises:
            SitesError: another host uses run_dir, or the seed or the process failed; the message has its last lines.
        """
        seed_dir = await ensure_seed(cache_dir, dict(hosts), progress)
        sessions_dir, lock = await asyncio.to_thread(_claim, run_dir)
        progress("starting the sites")
        config = {"seed_dir": str(seed_dir), "sessions_dir": str(sessions_dir), "hosts": dict(hosts), "building": False}
        async with AsyncExitStack() as undo:
            undo.callback(lock.close)
            process = await SuiteProcess.start("serve", config)
            undo.push_async_callback(process.stop)
            try:
                ready = await asyncio.wait_for(process.message(), START_TIMEOUT_S)
            except TimeoutError as error:
                raise SitesError(f"the sites were not ready after {START_TIMEOUT_S:.0f} s") from error
            undo.pop_all()
        return cls(process, int(ready["port"]), seed_dir, sessions_dir, lock)

    @property
    def proxy_url(self) -> str:
        """Address of the proxy that a session's browser context uses with the session's credentials."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """The id of the sites' process, whose workers are its children."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the sites still answer."""
        return self._process.alive

    async def wait_ended(self) -> str:
        """Returns when the sites' process has ended, and says how; wait for it to notice a crash."""
        return await self._process.last_words()

    async def open(self, clock: datetime) -> SiteSession:
        """A new session: a fresh copy of the seed whose time starts at `clock` (aware).

        Raises:
            SitesError: the sites have ended.
        """
        if not self.alive:
            raise SitesError(await self.wait_ended())
        return await asyncio.to_thread(create_session, self._sessions_dir, self._seed_dir, clock)

    async def stop(self) -> None:
        """Ends the process and removes all sessions; harmless if it has ended."""
        await self._process.stop()
        await asyncio.to_thread(shutil.rmtree, self._sessions_dir, ignore_errors=True)
        self._lock.close()

    async def __aenter__(self) -> SitesHost:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()


def _claim(run_dir: Path) -> tuple[Path, IO[str]]:
    """Locks a run directory for this process's life and makes its directory of sessions, empty."""
    run_dir.mkdir(parents=True, exist_ok=True)
    lock = (run_dir / "host.lock").open("a")
    try:
        fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise SitesError(f"another host uses {run_dir}; give each its own run directory") from None
    sessions_dir = run_dir.resolve() / "sessions"
    shutil.rmtree(sessions_dir, ignore_errors=True)
    sessions_dir.mkdir(mode=0o700)
    return sessions_dir, lock
