"""ServeOptions: everything `envhub serve` can be told, and the limits that hold where nothing is said."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Limits(BaseModel):
    """What a client may ask of the server. Over any of them is a typed error, never a crash."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    frame_bytes: int = 16 * 2**20
    """Largest WebSocket frame or HTTP body."""
    action_bytes: int = 1_000_000
    """Largest action, as JSON."""
    in_flight: int = 4096
    """Requests a connection may have unanswered."""
    batch_items: int = 4096
    queue: int = 1024
    """Opens waiting for a place."""
    wait_s: float = 600.0
    """Longest long-poll."""
    retain_s: float = 600.0
    """How long an ended session can still be read."""
    retain_sessions: int = 10_000
    """How many ended sessions can still be read."""
    close_s: float = 15.0
    """How long an environment's close may take."""


class ServeOptions(BaseModel):
    """Options of `envhub serve`, one to one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    environments: tuple[str, ...]
    """Names or paths."""
    host: str = "127.0.0.1"
    port: int = Field(default=8400, ge=0, le=65535)
    """0: any free port."""
    max_sessions: int | None = Field(default=None, gt=0)
    """None: from the machine's size and what the environments say they need."""
    record: Path | None = None
    """Folder for recordings; None: kept in memory while the session can be read."""
    token: str | None = Field(default=None, min_length=16)
    """Server token; None: one is made and left in a private file for local clients."""
    config: dict[str, Any] = Field(default_factory=dict)
    """Overrides of the manifests' [config] tables."""
    exit_with_parent: bool = False
    """Stop when standard input closes."""
    log_level: str = "info"
    limits: Limits = Limits()


def default_capacity(memory_mb: int, cpus: float) -> int:
    """Sessions that fit this machine: four fifths of its memory, eight times its cores (agents mostly wait)."""
    total_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(int(total_mb * 0.8 / memory_mb), int(8 * cores / cpus), 10_000))


__all__ = ["Limits", "ServeOptions", "default_capacity"]
