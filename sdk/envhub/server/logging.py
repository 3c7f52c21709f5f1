"""Structured logs on standard error: JSON lines, or readable ones on a terminal. Never a token, no line a request."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from typing import Literal, cast

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor

from envhub.sdk.errors import InvalidRequest

Level = Literal["debug", "info", "warning", "error"]
LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error")
HIDDEN = ("token", "authorization", "password", "secret")
"""A field whose name contains one of these is never written."""

_NUMBERS = logging.getLevelNamesMapping()
_threshold = [logging.WARNING]
"""What is written until `configure` says otherwise: a server within another program stays quiet."""


def configure(level: str) -> None:
    """Write this process's logs from `level` on.

    Raises:
        InvalidRequest: no such level.
    """
    if level not in LEVELS:
        raise InvalidRequest(f"no log level {level!r}; there are {', '.join(LEVELS)}")
    _threshold[0] = _NUMBERS[level.upper()]
    # The libraries below us speak up only where something is wrong.
    libraries = max(_threshold[0], logging.WARNING)
    logging.basicConfig(stream=sys.stderr, level=libraries, format="%(levelname)s %(name)s %(message)s")


def get_logger() -> FilteringBoundLogger:
    """A logger. `log.info("session opened", session=id)`: say what happened, put the facts in fields."""
    processors: list[Processor] = [_wanted, _hide, structlog.processors.TimeStamper(fmt="iso", utc=True), _render]
    wrapper = structlog.make_filtering_bound_logger(logging.NOTSET)
    return cast(FilteringBoundLogger, structlog.wrap_logger(_Stderr(), processors=processors, wrapper_class=wrapper))


class _Stderr:
    """Whatever standard error is when a line is written."""

    def info(self, line: str) -> None:
        with suppress(OSError, ValueError):  # that nobody reads it any more is no reason to fail
            print(line, file=sys.stderr, flush=True)

    debug = warning = error = info


def _wanted(_: object, method: str, event: EventDict) -> EventDict:
    if _NUMBERS[method.upper()] < _threshold[0]:
        raise structlog.DropEvent
    event["level"] = method
    return event


def _hide(_: object, __: str, event: EventDict) -> EventDict:
    """Drop what might be a token, whoever put it there."""
    return {key: value for key, value in event.items() if not any(word in key.lower() for word in HIDDEN)}


_as_json: Processor = structlog.processors.JSONRenderer()
_for_people: Processor = structlog.dev.ConsoleRenderer()


def _render(logger: object, method: str, event: EventDict) -> str:
    if sys.stderr.isatty():
        return str(_for_people(logger, method, event))
    return str(_as_json(logger, method, structlog.processors.format_exc_info(logger, method, event)))


__all__ = ["LEVELS", "Level", "configure", "get_logger"]
