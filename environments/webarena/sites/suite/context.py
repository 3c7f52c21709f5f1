"""Which session, and which of its sites, the running request belongs to."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from suite import clock


@dataclass(frozen=True)
class RequestContext:
    """The session's directory and the site a request addresses."""

    directory: Path
    site: str
    host: str

    @property
    def database(self) -> Path:
        """The session's own sqlite file."""
        return self.directory / "db.sqlite3"


_current: ContextVar[RequestContext | None] = ContextVar("suite_request", default=None)


def current() -> RequestContext | None:
    """The running request's context, None outside of requests (start-up, building the seed)."""
    return _current.get()


@contextmanager
def serving(context: RequestContext, moment: datetime) -> Iterator[None]:
    """Makes `context` the current one, and `moment` the time every site code sees."""
    token = _current.set(context)
    try:
        with clock.at(moment):
            yield
    finally:
        _current.reset(token)
