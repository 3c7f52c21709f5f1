"""One session of the sites: its own database and files, the credentials that select it, and what happened in it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import secrets
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from .changes import SqlValue, TableChange, compare
from .errors import SitesError
from .traffic import RequestRecord, read_trace

DEFAULT_CLOCK = datetime(2025, 6, 16, 9, 0, tzinfo=UTC)
"""A start time just after the last thing that happens in the seed."""

QUERY_TIMEOUT_S = 5.0
SESSION_COOKIE = "sessionid"
"""Name of the cookie that holds a log-in, Django's default."""

INSERT_LOGIN = (
    "INSERT INTO django_session (session_key, session_data, expire_date) VALUES (?, ?, '2100-01-01 00:00:00')"
)


class SiteSession:
    """Made by SitesHost.open; a directory while it is open, and nothing afterwards."""

    def __init__(self, directory: Path, password: str, seed_db: Path) -> None:
        self._directory = directory
        self._password = password
        self._seed_db = seed_db

    @property
    def username(self) -> str:
        """Name for the proxy of this session's browser context."""
        return self._directory.name

    @property
    def password(self) -> str:
        """Secret for the proxy of this session's browser context."""
        return self._password

    @property
    def directory(self) -> Path:
        """Where the session's files are."""
        return self._directory

    async def begin(self, clock: datetime, logins: Mapping[str, str]) -> dict[str, str]:
        """Sets the start time and logs people in: for a session made ahead of its task, before its first page.

        Args:
            clock: aware start time.
            logins: site name -> user name.

        Returns:
            Site name -> value of the cookie SESSION_COOKIE.

        Raises:
            SitesError: no such person, or the session is closed.
        """
        return await asyncio.to_thread(self._begin, clock, logins)

    async def query(self, sql: str, parameters: Sequence[SqlValue] = ()) -> list[tuple[SqlValue, ...]]:
        """Rows of the session's database, which this cannot change.

        Raises:
            SitesError: the session is closed, or sqlite refused the statement.
        """
        return await asyncio.to_thread(self._query, sql, parameters)

    async def requests(self) -> list[RequestRecord]:
        """Every request of the session's browser so far, in order of their starts.

        Raises:
            SitesError: the session is closed.
        """
        records = await asyncio.to_thread(read_trace, self._directory / "trace.jsonl")
        if not records and not self._directory.is_dir():
            raise self._failure("")
        return records

    async def changes(self) -> dict[str, TableChange]:
        """What differs from the seed, by table, apart from traces of merely looking at pages.

        Raises:
            SitesError: the session is closed.
        """
        try:
            return await asyncio.to_thread(compare, self._directory / "db.sqlite3", self._seed_db)
        except sqlite3.OperationalError as error:
            raise self._failure(f"comparing the database failed: {error}") from error

    async def close(self) -> None:
        """Ends the session and removes its files; harmless if it is closed."""
        await asyncio.to_thread(remove_session, self._directory)

    async def __aenter__(self) -> SiteSession:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _begin(self, clock: datetime, logins: Mapping[str, str]) -> dict[str, str]:
        try:
            set_start(self._directory, self._password, clock)
            return log_in(self._directory / "db.sqlite3", self._seed_db.parent / "logins.json", logins)
        except (OSError, sqlite3.Error) as error:
            raise self._failure(f"the session could not begin: {error}") from error

    def _query(self, sql: str, parameters: Sequence[SqlValue]) -> list[tuple[SqlValue, ...]]:
        try:
            address = f"file:{self._directory / 'db.sqlite3'}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, timeout=QUERY_TIMEOUT_S)) as connection:
                return connection.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise self._failure(f"{error} in: {sql}") from error

    def _failure(self, message: str) -> SitesError:
        closed = not self._directory.is_dir()
        return SitesError(f"the session {self.username} of the sites is closed" if closed else message)


def create_session(sessions_dir: Path, seed_dir: Path, clock: datetime) -> SiteSession:
    """A new session, visible to the sites' process at once and complete.

    Args:
        sessions_dir: directory that the sites' process watches over.
        seed_dir: the seed, see seed_cache.
        clock: aware start time of the session; pages show it, plus a second for each form sent.
    """
    name, password = secrets.token_hex(8), secrets.token_urlsafe(24)
    draft = sessions_dir / f".new-{name}"
    draft.mkdir(mode=0o700)
    shutil.copyfile(seed_dir / "db.sqlite3", draft / "db.sqlite3")
    set_start(draft, password, clock)
    directory = sessions_dir / name
    draft.rename(directory)
    return SiteSession(directory, password, seed_dir / "db.sqlite3")


def set_start(directory: Path, password: str, clock: datetime) -> None:
    """Writes what the sites' process knows of a session, in one piece."""
    if clock.tzinfo is None:
        raise ValueError(f"the clock of a session must say its time zone, got {clock.isoformat()}")
    known = {"password_sha256": hashlib.sha256(password.encode()).hexdigest(), "start": clock.isoformat()}
    draft = directory / "session.json.new"
    draft.write_text(json.dumps(known))
    draft.rename(directory / "session.json")


def log_in(database: Path, logins_file: Path, logins: Mapping[str, str]) -> dict[str, str]:
    """A row of django_session for each site, under a key that nobody can guess; the keys, by site."""
    if not logins:
        return {}
    known: dict[str, str] = json.loads(logins_file.read_bytes())
    keys = {site: secrets.token_hex(16) for site in logins}
    with closing(sqlite3.connect(f"file:{database}?mode=rw", uri=True, timeout=QUERY_TIMEOUT_S)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for site, user in logins.items():
            if user not in known:
                raise SitesError(f"nobody called {user!r} has an account; there are {', '.join(known)}")
            connection.execute(INSERT_LOGIN, (keys[site], known[user]))
        connection.commit()
    return keys


def remove_session(directory: Path) -> None:
    """Takes the session out of sight first, so that no request finds half of it."""
    gone = directory.with_name(f".closed-{directory.name}")
    try:
        os.rename(directory, gone)
    except FileNotFoundError:
        return
    shutil.rmtree(gone, ignore_errors=True)
