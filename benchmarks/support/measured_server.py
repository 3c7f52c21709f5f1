"""A server to measure: `envhub serve` as shipped (tokens, leases, deadlines, recording on) in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class MeasuredServer:
    """A running server and what it used."""

    url: str
    token: str
    process: psutil.Process

    @property
    def cpu_s(self) -> float:
        """User and system seconds so far."""
        times = self.process.cpu_times()
        return float(times.user + times.system)

    @property
    def memory_kb(self) -> float:
        """Memory that is its own (unique set size)."""
        return float(self.process.memory_full_info().uss) / 1024


@contextmanager
def measured_server(folder: str, *options: str) -> Iterator[MeasuredServer]:
    """Serve a folder with recording on; stopped at exit."""
    with tempfile.TemporaryDirectory() as record:
        command = [sys.executable, "-m", "envhub.cli.main", "serve", folder, "--port", "0", "--json"]
        command += ["--record", record, "--log-level", "warning", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            ready = json.loads(process.stdout.readline() if process.stdout else "")
            yield MeasuredServer(ready["url"], ready["token"], psutil.Process(process.pid))
        finally:
            process.terminate()
            process.wait(timeout=30)


__all__ = ["MeasuredServer", "measured_server"]
