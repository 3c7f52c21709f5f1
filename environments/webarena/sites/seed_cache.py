"""The seed of all sessions, built once for a version of the suite and kept in a cache directory."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import secrets
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .errors import SitesError
from .process import SITES_FOLDER, SuiteProcess

Progress = Callable[[str], None]

BUILD_TIMEOUT_S = 300.0
LOCK_POLL_S = 0.1
PACKAGES = ("Django", "django-oscar", "django-machina", "wiki", "django-mptt", "django-treebeard", "pillow", "Markdown")


async def ensure_seed(cache_dir: Path, hosts: dict[str, str], progress: Progress) -> Path:
    """The directory of the seed (db.sqlite3, media/, static/), built if the cache lacks it.

    Several processes may ask at once; one builds and the others wait for it.

    Raises:
        SitesError: packages are missing, or the build failed or took too long.
    """
    seed_dir = await asyncio.to_thread(_seed_dir, cache_dir, hosts)
    if seed_dir.is_dir():
        return seed_dir
    try:
        async with asyncio.timeout(BUILD_TIMEOUT_S), _lock(cache_dir / "webarena-seed.lock", progress):
            if not seed_dir.is_dir():
                await _build(seed_dir, hosts, progress)
    except TimeoutError as error:
        raise SitesError(f"the sites' seed was not built in {cache_dir} within {BUILD_TIMEOUT_S:.0f} s") from error
    return seed_dir


def _seed_dir(cache_dir: Path, hosts: dict[str, str]) -> Path:
    cache_dir.mkdir(parents=True, exist_ok=True)
    return cache_dir.resolve() / f"webarena-seed-{_key(hosts)}"


def _key(hosts: dict[str, str]) -> str:
    """Changes with everything the seed follows from: the suite's files, the packages, Python, the host names."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {sorted(hosts.items())}".encode())
    for package in PACKAGES:
        try:
            digest.update(f"{package}=={version(package)}\n".encode())
        except PackageNotFoundError:
            raise SitesError(f"the sites need {package}; install what webarena's manifest requires") from None
    suite = SITES_FOLDER / "suite"
    for file in sorted(path for path in suite.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        digest.update(f"{file.relative_to(suite)}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


@asynccontextmanager
async def _lock(path: Path, progress: Progress) -> AsyncIterator[None]:
    """Holds an exclusive lock on a file; the kernel frees it when its holder dies."""
    with path.open("a") as file:
        waiting = False
        while not _try_lock(file.fileno()):
            if not waiting:
                progress("waiting for another process that builds the sites")
            waiting = True
            await asyncio.sleep(LOCK_POLL_S)
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def _build(seed_dir: Path, hosts: dict[str, str], progress: Progress) -> None:
    unfinished = seed_dir.with_name(f"{seed_dir.name}.{secrets.token_hex(4)}")
    unfinished.mkdir()
    try:
        config = {"seed_dir": str(unfinished), "sessions_dir": str(unfinished), "hosts": hosts, "building": True}
        process = await SuiteProcess.start("build", config)
        try:
            while "built" not in (message := await process.message()):
                progress(f"sites: {message['progress']}")
        finally:
            await process.stop()
        os.rename(unfinished, seed_dir)
    finally:
        await asyncio.to_thread(shutil.rmtree, unfinished, ignore_errors=True)
