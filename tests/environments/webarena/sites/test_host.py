"""The life of the sites' process: one build of the seed, its death with its parent, what it leaves behind."""

import asyncio
import os
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

pytestmark = pytest.mark.asyncio(loop_scope="session")

PARENT = """
import asyncio, importlib.util, pathlib, sys
folder, cache, run = map(pathlib.Path, sys.argv[1:])
spec = importlib.util.spec_from_file_location("sites", folder / "__init__.py", submodule_search_locations=[str(folder)])
sites = sys.modules["sites"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sites)

async def main():
    host = await sites.SitesHost.start(cache, run, lambda line: None)
    await host.open(sites.DEFAULT_CLOCK)
    print(host.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def silent(line: str) -> None:
    """Takes progress and says nothing."""


def content(seed_dir: Path) -> tuple[list[str], dict[str, bytes]]:
    """The rows of a seed, as SQL, and its files."""
    with closing(sqlite3.connect(f"file:{seed_dir / 'db.sqlite3'}?mode=ro", uri=True)) as connection:
        rows = list(connection.iterdump())
    media = seed_dir / "media"
    return rows, {str(file.relative_to(media)): file.read_bytes() for file in media.rglob("*") if file.is_file()}


async def ended(processes: list[psutil.Process], timeout_s: float = 10) -> list[psutil.Process]:
    """Those that still run after the time-out."""
    _, alive = await asyncio.to_thread(psutil.wait_procs, processes, timeout_s)
    return [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


async def test_two_starts_at_once_build_once_and_any_build_has_the_same_content(
    sites: Any, host: Any, seed_cache_dir: Path, tmp_path: Path
) -> None:
    lines: list[str] = []
    starts = [sites.SitesHost.start(tmp_path / "cache", tmp_path / f"run{n}", lines.append) for n in range(2)]
    for started in await asyncio.gather(*starts):
        await started.stop()
    assert sum("creating the tables" in line for line in lines) == 1
    assert sum("waiting for another process" in line for line in lines) == 1
    (rebuilt,) = (tmp_path / "cache").glob("webarena-seed-*/")
    assert content(rebuilt) == content(seed_cache_dir / rebuilt.name)


async def test_the_sites_die_with_a_killed_parent(sites: Any, host: Any, seed_cache_dir: Path, tmp_path: Path) -> None:
    folder = Path(sites.__file__).parent
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, str(folder), str(seed_cache_dir), str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    master = psutil.Process(int(await asyncio.wait_for(parent.stdout.readline(), 60)))
    processes = [master, *master.children(recursive=True)]
    assert len(processes) == 3
    parent.kill()
    await parent.wait()
    assert await ended(processes) == []
    assert len(os.listdir(tmp_path / "sessions")) == 1
    async with await sites.SitesHost.start(seed_cache_dir, tmp_path, silent):
        assert os.listdir(tmp_path / "sessions") == []


async def test_a_killed_worker_ends_the_host_with_a_reason(
    sites: Any, host: Any, seed_cache_dir: Path, tmp_path: Path
) -> None:
    doomed = await sites.SitesHost.start(seed_cache_dir, tmp_path, silent)
    try:
        master = psutil.Process(doomed.pid)
        workers = master.children()
        os.kill(workers[0].pid, signal.SIGKILL)
        reason = await asyncio.wait_for(doomed.wait_ended(), 20)
        assert f"worker {workers[0].pid} ended with status -9" in reason
        assert not doomed.alive
        assert await ended(workers) == []
        with pytest.raises(sites.SitesError, match="worker"):
            await doomed.open(sites.DEFAULT_CLOCK)
    finally:
        await doomed.stop()


async def test_stopping_leaves_no_process_and_no_session(
    sites: Any, host: Any, seed_cache_dir: Path, tmp_path: Path
) -> None:
    stopped = await sites.SitesHost.start(seed_cache_dir, tmp_path, silent)
    master = psutil.Process(stopped.pid)
    processes = [master, *master.children()]
    await stopped.open(sites.DEFAULT_CLOCK)
    await stopped.stop()
    await stopped.stop()
    assert await ended(processes) == []
    assert os.listdir(tmp_path) == ["host.lock"]


async def test_a_run_directory_has_one_host(sites: Any, host: Any, seed_cache_dir: Path, tmp_path: Path) -> None:
    async with await sites.SitesHost.start(seed_cache_dir, tmp_path, silent):
        with pytest.raises(sites.SitesError, match="own run directory"):
            await sites.SitesHost.start(seed_cache_dir, tmp_path, silent)


async def test_a_failing_start_says_why(sites: Any, host: Any, seed_cache_dir: Path, tmp_path: Path) -> None:
    (seed,) = seed_cache_dir.glob("webarena-seed-*/")
    (tmp_path / "cache" / seed.name).mkdir(parents=True)
    with pytest.raises(sites.SitesError, match=r"(?s)exit code 1.*No such file.*db\.sqlite3"):
        await sites.SitesHost.start(tmp_path / "cache", tmp_path / "run", silent)


async def test_sessions_may_close_while_requests_run(sites: Any, host: Any, visit: Any) -> None:
    statuses: set[int] = set()

    async def browse(session: Any) -> None:
        visitor = await visit(session)
        for _ in range(6):
            statuses.add((await visitor.get("http://forum.test/")).status_code)

    async def one_life() -> None:
        session = await host.open(sites.DEFAULT_CLOCK)
        async with asyncio.TaskGroup() as group:
            for _ in range(2):
                group.create_task(browse(session))
            await asyncio.sleep(0.15)
            await session.close()

    await asyncio.gather(*(one_life() for _ in range(4)))
    assert statuses <= {200, 407, 503}
    assert 407 in statuses
    assert host.alive
