"""The guard: one small process a server, which kills the workers' process groups once the server is gone.

The kernel kills a worker with its server, but not what the worker started itself. The guard is told of every group by a
pipe that only the server holds; the pipe's end is the server's, however it came.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress


def watch(group: int) -> None:
    """Have a process group killed with this process."""
    _tell(f"+{group}\n")


def forget(group: int) -> None:
    """A process group is gone."""
    _tell(f"-{group}\n")


def _tell(line: str) -> None:
    with suppress(BrokenPipeError):  # somebody killed the guard; workers still die with the server
        os.write(_pipe(), line.encode())


@functools.cache
def _pipe() -> int:
    """Start the guard, in a session of its own so that no terminal reaches it; it lives as long as this process."""
    reading, writing = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, reading, 0)]
    os.posix_spawn(
        sys.executable, [sys.executable, "-I", "-S", __file__], os.environ, file_actions=actions, setsid=True
    )
    os.close(reading)
    return writing


def main(lines: Iterable[str]) -> None:
    """Note groups until the lines end; then kill those that are left."""
    groups: set[int] = set()
    for line in lines:
        (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    main(sys.stdin)

__all__ = ["forget", "watch"]
