"""Configuration of the sites process: one JSON document in the variable SUITE_CONFIG, read here only."""

import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

VARIABLE = "SUITE_CONFIG"


@dataclass(frozen=True)
class SuiteConfig:
    """What the parent process decides about the sites."""

    seed_dir: Path
    """Directory with the seed: db.sqlite3, media/ and static/. Read-only except while it is built."""

    sessions_dir: Path
    """Directory with one subdirectory a session; its files are the only interface to the parent."""

    hosts: dict[str, str]
    """Site name (shop, forum, wiki) -> host name under which browsers reach it."""

    building: bool
    """True in the process that builds the seed: the seed's own database is then the one in use."""

    @property
    def site_of_host(self) -> dict[str, str]:
        """Host name -> site name."""
        return {host: site for site, host in self.hosts.items()}


@lru_cache(maxsize=1)
def load() -> SuiteConfig:
    """Reads the configuration this process was started with.

    Raises:
        RuntimeError: the variable is not set, so this process was not started by its host.
    """
    text = os.environ.get(VARIABLE)
    if text is None:
        raise RuntimeError(f"{VARIABLE} is not set: the sites are started by SitesHost, not by hand")
    values = json.loads(text)
    return SuiteConfig(
        seed_dir=Path(values["seed_dir"]),
        sessions_dir=Path(values["sessions_dir"]),
        hosts=dict(values["hosts"]),
        building=bool(values["building"]),
    )
