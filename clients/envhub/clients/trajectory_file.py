"""TrajectoryFile: the JSONL file many rollouts are written to as they finish, and from which they are resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from envhub.clients.opening import OpenOptions
from envhub.sdk.trajectory import TRAINABLE, Trajectory, read_trajectories

_MATCHED: dict[str, Callable[[Trajectory], Any]] = {
    "environment": lambda trajectory: trajectory.open.environment,
    "task": lambda trajectory: trajectory.open.task.id,
    "split": lambda trajectory: trajectory.open.task.split,
    "seed": lambda trajectory: trajectory.open.task.seed,
}
"""The options by which a request is recognised in a file."""


class TrajectoryFile:
    """A file that is appended to, one whole trajectory at a time.

    Args:
        path: made where it is not there, with its folder.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = open(path, "a+b")  # noqa: SIM115  # closed by __exit__
        self._drop_torn_line()
        self._finished = [one for one in read_trajectories(path) if one.end in TRAINABLE]

    def find_done(self, requests: Sequence[OpenOptions]) -> dict[int, Trajectory]:
        """Which requests the file already answers, by their index.

        Each trajectory answers one request: the same environment, task, split and seed where the request names them.
        Only episodes that ended with a reward count; failed ones are rolled out again.
        """
        done: dict[int, Trajectory] = {}
        used: set[str] = set()
        shapes = {index: tuple(name for name in _MATCHED if request.get(name) is not None)
                  for index, request in enumerate(requests)}  # fmt: skip
        for shape in sorted(set(shapes.values()), key=len, reverse=True):
            by_key: dict[tuple[Any, ...], list[Trajectory]] = {}
            for one in self._finished:
                if one.session not in used:
                    by_key.setdefault(tuple(_MATCHED[name](one) for name in shape), []).append(one)
            for index, request in enumerate(requests):
                found = by_key.get(tuple(request.get(name) for name in shape))
                if shapes[index] == shape and found:
                    done[index] = found.pop(0)
                    used.add(done[index].session)
        return done

    def append(self, trajectory: Trajectory) -> None:
        """Write one trajectory through to the operating system."""
        self._stream.write(trajectory.to_jsonl().encode())
        self._stream.flush()

    def _drop_torn_line(self) -> None:
        """Cut off a last line without its end, which a killed writer left."""
        size = end = self._stream.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - 65_536)
            self._stream.seek(start)
            newline = self._stream.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end != size:
            self._stream.truncate(end)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()


__all__ = ["TrajectoryFile"]
