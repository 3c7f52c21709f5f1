"""The sites' clock: every "now" of Django and the applications is the session's moment, not the machine's.

The idea: code says datetime.now(), date.today() or time.time() through a name in its own module. `install` rebinds
those names in the modules of the applications, so that waitress, logging and the trace keep the real time.
"""

import datetime as real_datetime
import sys
import time as real_time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType

_moment: ContextVar[real_datetime.datetime | None] = ContextVar("suite_moment", default=None)

FROZEN_PACKAGES = (
    "django", "django_nyt", "django_tables2", "extra_views", "haystack", "machina", "mptt", "oscar", "sorl",
    "treebeard", "wiki",
)  # fmt: skip

REAL_TIME_MODULES = frozenset({
    "django.contrib.sessions.middleware",  # these compute when a cookie expires,
    "django.http.response",  # which the browser compares with its own clock
})  # fmt: skip


class NoClock(RuntimeError):
    """Site code asked for the time where no session gives one."""


def now() -> real_datetime.datetime:
    """The moment of the running request (or seed step), aware, in UTC.

    Raises:
        NoClock: neither a request nor a seed step is running.
    """
    moment = _moment.get()
    if moment is None:
        raise NoClock("site code asked for the time outside of a request; wrap the caller in clock.at(...)")
    return moment


@contextmanager
def at(moment: real_datetime.datetime) -> Iterator[None]:
    """Freezes the clock at `moment` (aware) for the enclosed code."""
    token = _moment.set(moment.astimezone(real_datetime.UTC))
    try:
        yield
    finally:
        _moment.reset(token)


class _DateLike(type):
    """Accepts real dates in isinstance(), because the stand-ins below never create instances of themselves."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.__mro__[1])


class SessionDatetime(real_datetime.datetime, metaclass=_DateLike):
    """datetime.datetime, except that now() is the session's; creates plain datetimes."""

    def __new__(cls, *args, **kwargs):  # type: ignore[no-untyped-def]
        return real_datetime.datetime(*args, **kwargs)

    @classmethod
    def now(cls, tz: real_datetime.tzinfo | None = None) -> real_datetime.datetime:  # type: ignore[override]
        return now().replace(tzinfo=None) if tz is None else now().astimezone(tz)

    @classmethod
    def today(cls) -> real_datetime.datetime:  # type: ignore[override]
        return cls.now()

    @classmethod
    def utcnow(cls) -> real_datetime.datetime:  # type: ignore[override]
        return cls.now()


class SessionDate(real_datetime.date, metaclass=_DateLike):
    """datetime.date, except that today() is the session's; creates plain dates."""

    def __new__(cls, *args, **kwargs):  # type: ignore[no-untyped-def]
        return real_datetime.date(*args, **kwargs)

    @classmethod
    def today(cls) -> real_datetime.date:  # type: ignore[override]
        return now().date()


def _stand_in(module: ModuleType, **replaced: object) -> ModuleType:
    copy = ModuleType(module.__name__)
    copy.__dict__.update({name: value for name, value in vars(module).items() if not name.startswith("__")})
    copy.__dict__.update(replaced)
    return copy


_REPLACEMENTS: dict[int, object] = {
    id(real_datetime): _stand_in(real_datetime, datetime=SessionDatetime, date=SessionDate),
    id(real_datetime.datetime): SessionDatetime,
    id(real_datetime.date): SessionDate,
    id(real_time): _stand_in(real_time, time=lambda: now().timestamp()),
}


def install() -> None:
    """Rebinds the clock names in every loaded module of the applications; call it once all are imported."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in FROZEN_PACKAGES and name not in REAL_TIME_MODULES:
            for attribute, value in list(vars(module).items()):
                replacement = _REPLACEMENTS.get(id(value))
                if replacement is not None:
                    setattr(module, attribute, replacement)
