"""What a session changed: its database compared with the seed, row by row."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

SqlValue = str | int | float | bytes | None
Row = dict[str, SqlValue]


@dataclass(frozen=True)
class TableChange:
    """Rows of one table that only one of the two databases has; a changed row is in both lists."""

    added: tuple[Row, ...]
    """Rows of the session that the seed lacks."""

    removed: tuple[Row, ...]
    """Rows of the seed that the session lacks."""


VOLATILE_TABLES = frozenset({
    "analytics_productrecord",  # views of products,
    "analytics_userproductview",  # by whom,
    "analytics_userrecord",  # counted per user;
    "analytics_usersearch",  # what was searched for
    "django_session",  # visits and log-ins
    "forum_tracking_forumreadtrack",  # what a member has read
    "forum_tracking_topicreadtrack",
})  # fmt: skip
"""Tables that merely looking at pages changes, found by walking all sites as anyone, a member and the admin."""

VOLATILE_COLUMNS = frozenset({("auth_user", "last_login"), ("forum_conversation_topic", "views_count")})
"""Columns of other tables for which the same holds."""


def compare(session_db: Path, seed_db: Path) -> dict[str, TableChange]:
    """The tables in which something lasting changed.

    Left out is what changes by looking at pages or logging in: VOLATILE_TABLES and VOLATILE_COLUMNS.
    """
    with closing(sqlite3.connect(f"file:{session_db}?mode=ro", uri=True, timeout=5)) as connection:
        connection.execute("ATTACH DATABASE ? AS seed", (f"file:{seed_db}?mode=ro&immutable=1",))
        return dict(_changed_tables(connection))


def _changed_tables(connection: sqlite3.Connection) -> Iterator[tuple[str, TableChange]]:
    tables = connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    for (table,) in tables:
        if table in VOLATILE_TABLES or table.startswith("sqlite_"):
            continue
        columns = [row[1] for row in connection.execute(f'PRAGMA main.table_info("{table}")')]
        kept = [column for column in columns if (table, column) not in VOLATILE_COLUMNS]
        change = TableChange(_only_in(connection, "main", table, kept), _only_in(connection, "seed", table, kept))
        if change.added or change.removed:
            yield table, change


def _only_in(connection: sqlite3.Connection, schema: str, table: str, columns: list[str]) -> tuple[Row, ...]:
    other = "seed" if schema == "main" else "main"
    names = ", ".join(f'"{column}"' for column in columns)
    statement = f'SELECT {names} FROM {schema}."{table}" EXCEPT SELECT {names} FROM {other}."{table}"'
    return tuple(dict(zip(columns, row, strict=True)) for row in connection.execute(statement))
