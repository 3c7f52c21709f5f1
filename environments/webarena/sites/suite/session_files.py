"""The files by which a session is known: its secret, its start time, its ticks and its trace.

There is no control port. The parent creates and removes session directories; a directory that exists is a session.
"""

import contextlib
import hashlib
import hmac
import json
import os
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

_NAME = re.compile(r"[0-9a-f]{16}\Z")
_NO_DIGEST = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class OpenSession:
    """An existing session whose password was right."""

    directory: Path
    start: datetime

    def moment(self, *, advance: bool) -> datetime:
        """The session's time: its start plus one second for each state-changing request so far, this one included.

        Ticks are bytes of a file: appending is atomic, so two processes never count the same one.
        """
        path = self.directory / "ticks"
        if advance:
            with path.open("ab", buffering=0) as ticks:
                ticks.write(b".")
        return self.start + timedelta(seconds=path.stat().st_size if path.exists() else 0)

    def record(self, entry: dict[str, str | int | float]) -> None:
        """Appends one request to the session's trace; a session closed meanwhile keeps none."""
        line = json.dumps(entry, separators=(",", ":")) + "\n"
        try:
            trace = os.open(self.directory / "trace.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except FileNotFoundError:
            return
        try:
            os.write(trace, line.encode())
        finally:
            os.close(trace)


def authenticate(sessions_dir: Path, name: str, password: str) -> OpenSession | None:
    """The session `name` if it exists and `password` is its password, else None."""
    values: dict[str, str] = {}
    directory = sessions_dir / name
    if _NAME.match(name):
        with contextlib.suppress(FileNotFoundError):
            values = json.loads((directory / "session.json").read_bytes())
    given = hashlib.sha256(password.encode()).hexdigest()
    if not hmac.compare_digest(given, values.get("password_sha256", _NO_DIGEST)):
        return None
    if not values:  # the empty password matches the digest compared for sessions that do not exist
        return None
    return OpenSession(directory, datetime.fromisoformat(values["start"]))
