"""One session of the sites: its own database and files, the credentials that select it, and what happened in it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import secrets
import shutil
import sqlite3
from collections.abc import Sequence
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
        try:
            return await asyncio.to_thread(read_trace, self._directory / "trace.jsonl")
        except FileNotFoundError:
            raise self._failure("the trace is missing") from None

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
    if clock.tzinfo is None:
        raise ValueError(f"the clock of a session must say its time zone, got {clock.isoformat()}")
    name, password = secrets.token_hex(8), secrets.token_urlsafe(24)
    draft = sessions_dir / f".new-{name}"
    draft.mkdir(mode=0o700)
    shutil.copyfile(seed_dir / "db.sqlite3", draft / "db.sqlite3")
    known = {"password_sha256": hashlib.sha256(password.encode()).hexdigest(), "start": clock.isoformat()}
    (draft / "session.json").write_text(json.dumps(known))
    (draft / "ticks").touch()
    (draft / "trace.jsonl").touch()
    directory = sessions_dir / name
    draft.rename(directory)
    return SiteSession(directory, password, seed_dir / "db.sqlite3")


def remove_session(directory: Path) -> None:
    """Takes the session out of sight first, so that no request finds half of it."""
    gone = directory.with_name(f".closed-{directory.name}")
    try:
        os.rename(directory, gone)
    except FileNotFoundError:
        return
    shutil.rmtree(gone, ignore_errors=True)
