"""The status page: a snapshot of the server as one HTML document that asks nobody for anything."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template

SHOWN_SESSIONS = 200


@dataclass(frozen=True)
class EnvironmentRow:
    """One hosted environment."""

    name: str
    title: str
    version: str
    status: str
    """proven, deterministic-only or unproven."""
    isolation: str
    splits: Mapping[str, int | None]
    """Tasks by split; None: infinite."""
    live: int
    steps: int


@dataclass(frozen=True)
class SessionRow:
    """One live session."""

    id: str
    environment: str
    task: str
    driver: str
    steps: int
    running: bool
    age_s: float
    lease_left_s: float


@dataclass(frozen=True)
class EndRow:
    """A session that ended lately."""

    id: str
    environment: str
    task: str
    end: str
    steps: int
    ago_s: float
    error: str | None = None
    """What failed; None where nothing did."""


@dataclass(frozen=True)
class StatusSnapshot:
    """What the page shows."""

    version: str
    uptime_s: float
    capacity: int
    waiting: int
    """Opens in the queue."""
    connections: int
    loop_lag_s: float
    environments: tuple[EnvironmentRow, ...]
    sessions: tuple[SessionRow, ...]
    """Live ones, newest first; the page shows the first 200."""
    ended: tuple[EndRow, ...] = ()
    """A few, latest first."""
    opened: int = 0
    """Sessions opened since the start."""
    steps: int = 0
    ends: Mapping[str, int] = field(default_factory=dict)
    """Sessions ended since the start, by reason."""
    errors: Mapping[str, int] = field(default_factory=dict)
    """Failures since the start, by `boundary: code`."""


def render(snapshot: StatusSnapshot) -> str:
    """The page. Everything in it is escaped: task ids and error texts come from environments."""
    return _template().render(s=snapshot, shown=snapshot.sessions[:SHOWN_SESSIONS])


def duration(seconds: float) -> str:
    """Seconds as people say them: `4 s`, `12 min`, `3 h 5 min`, `2 d 4 h`."""
    whole = int(max(0.0, seconds))
    if whole < 120:
        return f"{whole} s"
    minutes, hours, days = whole // 60, whole // 3600, whole // 86_400
    if minutes < 120:
        return f"{minutes} min"
    return f"{hours} h {minutes % 60} min" if hours < 48 else f"{days} d {hours % 24} h"


def count(number: int | None) -> str:
    """A number of tasks; None is infinite."""
    return "∞" if number is None else f"{number:,}"


@functools.cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # not needed until someone looks

    jinja = Environment(
        loader=PackageLoader("envhub.server"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    jinja.filters.update(duration=duration, count=count)
    return jinja.get_template("status.html")


__all__ = ["SHOWN_SESSIONS", "EndRow", "EnvironmentRow", "SessionRow", "StatusSnapshot", "count", "duration", "render"]
