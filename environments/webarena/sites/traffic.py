"""The network trace of a session, as the sites' process wrote it down."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RequestRecord:
    """One request of the session's browser, refused ones included; neither bodies nor cookies."""

    started_ns: int
    """Start, on the machine's monotonic clock, in nanoseconds; records are ordered by it."""

    method: str
    url: str
    """As asked for; host:port for CONNECT."""

    status: int
    """HTTP status; 403 for an address that is not a site's."""

    duration_ms: float
    bytes: int
    """Size of the response's body."""


def read_trace(path: Path) -> list[RequestRecord]:
    """All requests so far, in the order in which they started."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return sorted((RequestRecord(**json.loads(line)) for line in lines), key=lambda record: record.started_ns)
