"""Progress of many rollouts: a bar where rich is installed and somebody looks, lines on stderr otherwise."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

LINE_EVERY_S = 5.0


@dataclass(frozen=True)
class RolloutProgress:
    """How many rollouts stand."""

    done: int
    total: int
    failed: int
    """Ended in a way that has no reward."""
    mean_reward: float | None
    """Over those that have one; None where none has."""
    seconds: float
    """Since the start."""

    def __str__(self) -> str:
        reward = "–" if self.mean_reward is None else f"{self.mean_reward:.3f}"
        failed = f", {self.failed} failed" if self.failed else ""
        return f"rollouts {self.done}/{self.total}, mean reward {reward}{failed}, {self.seconds:.0f} s"


Report = Callable[[RolloutProgress], None]


@contextmanager
def report_to(progress: bool | Report | None) -> Iterator[Report]:
    """Where progress goes: True to the terminal, a callable to it, None and False nowhere."""
    if callable(progress):
        yield progress
    elif not progress:
        yield _ignore
    elif sys.stderr.isatty() and importlib.util.find_spec("rich") is not None:
        with _bar() as report:
            yield report
    else:
        yield _Lines()


def _ignore(_: RolloutProgress) -> None:
    """Nobody asked."""


class _Lines:
    """A line now and then, and one at the end."""

    def __init__(self) -> None:
        self._next = time.monotonic() + LINE_EVERY_S

    def __call__(self, progress: RolloutProgress) -> None:
        now = time.monotonic()
        if now >= self._next or progress.done == progress.total:
            self._next = now + LINE_EVERY_S
            print(progress, file=sys.stderr, flush=True)


@contextmanager
def _bar() -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        line = bar.add_task("rollouts", total=None)

        def report(progress: RolloutProgress) -> None:
            bar.update(line, description=str(progress), completed=progress.done, total=progress.total)

        yield report


__all__ = ["Report", "RolloutProgress", "report_to"]
