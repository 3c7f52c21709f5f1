"""Directories that live as long as a process: what a killed server leaves is removed by the next one.

Each holds a file that its owner keeps locked; the kernel lets go of the lock however the owner dies.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from envhub.sdk.paths import home

LOCK = ".owner"
_NEW_S = 60.0
"""A directory without its lock file may be one that is just being made."""


@contextmanager
def run_directory(name: str) -> Iterator[Path]:
    """A fresh directory of this process, removed at exit."""
    root = home() / "run"
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    sweep(root)
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=root))
    lock = os.open(folder / LOCK, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def sweep(root: Path) -> list[Path]:
    """Remove the directories whose owners are gone; returns them."""
    removed = [folder for folder in root.iterdir() if folder.is_dir() and _abandoned(folder)]
    for folder in removed:
        shutil.rmtree(folder, ignore_errors=True)
    return removed


def _abandoned(folder: Path) -> bool:
    try:
        lock = os.open(folder / LOCK, os.O_WRONLY)
    except FileNotFoundError:
        return folder.exists() and time.time() - folder.stat().st_mtime > _NEW_S
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


__all__ = ["run_directory", "sweep"]
