"""The real command in real processes, with a home folder of its own."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

COMMAND = [sys.executable, "-m", "envhub.cli.main"]
DEADLINE_S = 120.0
Run = Callable[..., subprocess.CompletedProcess[str]]
Serve = Callable[..., dict[str, Any]]


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """Environment variables of the command's processes."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ENVHUB_")}
    return {**kept, "ENVHUB_HOME": str(tmp_path / "home"), "COLUMNS": "120", "NO_COLOR": "1"}


@pytest.fixture
def run(tmp_path: Path, variables: dict[str, str]) -> Run:
    """Run a command in the test's folder; its status, and what it wrote."""

    def run_command(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *arguments], cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=DEADLINE_S
        )

    return run_command


@pytest.fixture
def serve(tmp_path: Path, variables: dict[str, str]) -> Iterator[Serve]:
    """Start `envhub serve … --json` and wait for its first line; stopped when the test ends."""
    with ExitStack() as running:

        def start(*arguments: str) -> dict[str, Any]:
            command = [*COMMAND, "serve", *arguments, "--json", "--exit-with-parent"]
            process = running.enter_context(
                subprocess.Popen(
                    command, cwd=tmp_path, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            running.callback(process.kill)
            assert process.stdout is not None
            assert select.select([process.stdout], [], [], DEADLINE_S)[0], "no line from the server"
            event: dict[str, Any] = json.loads(process.stdout.readline())
            return event

        yield start
