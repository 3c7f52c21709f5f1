"""Evidence: all that evaluators may look at. They read; nothing here acts on the session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class TableChange(Protocol):
    """Rows of one table that the session's database and its seed do not share; a changed row is in both."""

    @property
    def added(self) -> Sequence[Mapping[str, Any]]: ...

    @property
    def removed(self) -> Sequence[Mapping[str, Any]]: ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an episode left behind."""

    answer: str
    """What the agent gave to stop; empty where it did not stop."""
    address: str
    """Of the tab that the agent was on."""
    resolve: Callable[[str], str]
    """Puts the sites' addresses in place of __SHOP__ and its like."""
    look: Callable[[str, str], Awaitable[Any]]
    """(address, expression) -> the expression's value on a fresh page, which the agent never touched."""
    rows: Callable[[str], Awaitable[Sequence[Sequence[Any]]]]
    """SQL -> rows of the session's database, read-only."""
    changes: Callable[[], Awaitable[Mapping[str, TableChange]]]
    """What became different from the seed, by table."""
