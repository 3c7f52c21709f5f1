"""url_match: whether the agent ended at the address it was asked for.

Addresses are compared by host, path (percent-decoded, without a slash at its end) and query; fragments do not count.

- "GOLD in PRED", WebArena's rule: the path is the wanted one or lies below it, and every wanted query parameter has
  one of its wanted values. WebArena takes any substring of host and path; here it ends at a slash.
- "EXACT": the same path and the same query, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlsplit

OR = " |OR| "
Rule = Literal["GOLD in PRED", "EXACT"]


@dataclass(frozen=True, slots=True)
class _Address:
    site: str
    path: str
    query: tuple[tuple[str, str], ...]


def is_at(address: str, wanted: str, rule: Rule) -> bool:
    """Whether an address is one of the wanted ones (joined by " |OR| ")."""
    here = _parse(address)
    fits = _is_exactly if rule == "EXACT" else _is_within
    return any(fits(here, _parse(option)) for option in wanted.split(OR))


def _parse(address: str) -> _Address:
    parts = urlsplit(address.strip())
    query = tuple(sorted(parse_qsl(parts.query, keep_blank_values=True)))
    return _Address(f"{parts.scheme}://{parts.netloc}".lower(), unquote(parts.path).rstrip("/"), query)


def _is_exactly(here: _Address, wanted: _Address) -> bool:
    return here == wanted


def _is_within(here: _Address, wanted: _Address) -> bool:
    if here.site != wanted.site or not f"{here.path}/".startswith(f"{wanted.path}/"):
        return False
    names = {name for name, _ in wanted.query}
    return all(any(pair in wanted.query for pair in here.query if pair[0] == name) for name in names)
