"""Where envhub keeps things on this machine. The one place that reads the environment variables for it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TypedDict
from urllib.parse import urlsplit


class ServerRecord(TypedDict):
    """What a running server leaves for local clients, in a file only its user can read."""

    url: str
    token: str
    pid: int
    environments: list[str]


def home() -> Path:
    """ENVHUB_HOME, or ~/.envhub: state and caches of this user."""
    return Path(os.environ.get("ENVHUB_HOME") or Path.home() / ".envhub")


def cache_dir() -> Path:
    """What can be made again: virtual environments, built data."""
    return home() / "cache"


def servers_dir() -> Path:
    """One record a running server."""
    return home() / "servers"


def write_server_record(port: int, record: ServerRecord) -> Path:
    """Leave a server's address and token for local clients; mode 0600 from the first byte on."""
    folder = servers_dir()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder / f"{port}.json"
    file.unlink(missing_ok=True)
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
        json.dump(record, stream)
    return file


def find_server_token(url: str) -> str | None:
    """The token of a server on this machine, or None where none of this user's listens at that address."""
    for file in servers_dir().glob("*.json"):
        try:
            record: ServerRecord = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(record, dict) and _address(record.get("url", "")) == _address(url):
            return record.get("token")
    return None


def _address(url: str) -> tuple[str, str, int | None]:
    """What two spellings of an address have in common; `localhost` is 127.0.0.1 here."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    return parts.scheme, "127.0.0.1" if host == "localhost" else host, parts.port


__all__ = ["ServerRecord", "cache_dir", "find_server_token", "home", "servers_dir", "write_server_record"]
