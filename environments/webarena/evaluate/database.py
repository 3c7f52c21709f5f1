"""db and unchanged: what the session's database holds, and that nothing beside it was touched."""

from __future__ import annotations

from collections.abc import Mapping

from .evidence import Evidence, TableChange
from .spec import DatabaseCheck, Unchanged


async def check_rows(checks: tuple[DatabaseCheck, ...], evidence: Evidence) -> str:
    """Which query gave other rows than it should; empty if none."""
    for check in checks:
        rows = tuple(tuple(row) for row in await evidence.rows(check.sql))
        if rows != check.equals:
            return f"{check.sql} gave {list(rows)[:5]}, not {list(check.equals)[:5]}"
    return ""


async def check_unchanged(unchanged: Unchanged, evidence: Evidence) -> str:
    """Which tables changed more than they may; empty if none."""
    return too_much(await evidence.changes(), unchanged)


def too_much(changes: Mapping[str, TableChange], unchanged: Unchanged) -> str:
    """The tables in which more rows were added or removed than is allowed."""
    problems = []
    for table, change in sorted(changes.items()):
        added, removed = unchanged.allowed.get(table, (0, 0))
        if len(change.added) > added or len(change.removed) > removed:
            problems.append(f"{table} +{len(change.added)} -{len(change.removed)} (allowed +{added} -{removed})")
    return "; ".join(problems)
