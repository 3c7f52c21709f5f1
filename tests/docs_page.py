"""Page: a documentation page whose code blocks can be run, in order, in a folder of its own.

The words after a block's language say what is done with it:

    python                    run, in one namespace a page; `await` works at the top level
    python file: PATH         written to PATH (any language)
    console                   each `$ command` is run; the lines under it must come out, in this order; … is anything
    console background        the command keeps running until the page ends; the next block waits until it is ready
    LANGUAGE no-run: REASON   not run

8400, the default port, is replaced by a free one everywhere.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
RUN = ("python", "console")
PORT = "8400"
COMMAND_S = 120.0
READY_S = 60.0


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    line: int
    language: str
    mode: str
    """What the words after the language begin with: "", "file", "background" or "no-run"."""
    argument: str
    text: str


def read_blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    source = page.read_text(encoding="utf-8")
    return [_block(source, found) for found in FENCE.finditer(source)]


def _block(source: str, found: re.Match[str]) -> Block:
    language, _, words = found.group(1).strip().partition(" ")
    mode, _, argument = words.partition(":")
    line = source.count("\n", 0, found.start()) + 1
    return Block(line, language, mode.strip(), argument.strip(), found.group(2))


@dataclass
class Page:
    """Runs the blocks of one page."""

    path: Path
    folder: Path
    """Working folder of its commands and programs."""
    home: Path
    """ENVHUB_HOME."""
    port: str = field(default_factory=lambda: _free_port())
    _namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "__docs__"})
    _running: ExitStack = field(default_factory=ExitStack)

    async def run(self) -> None:
        """Run everything; raises AssertionError, naming page and line, where something is not as it says."""
        with self._running:
            for block in read_blocks(self.path):
                try:
                    await self._run(block)
                except Exception as error:
                    raise AssertionError(f"{self.path.name}:{block.line}: {type(error).__name__}: {error}") from error

    async def _run(self, block: Block) -> None:
        text = block.text.replace(PORT, self.port)
        if block.mode == "file":
            target = self.folder / block.argument
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        elif block.mode == "background":
            await asyncio.to_thread(self._start, text)
        elif block.mode == "" and block.language == "python":
            await self._run_python(text, block.line)
        elif block.mode == "" and block.language == "console":
            for command, expected in _commands(text):
                await asyncio.to_thread(self._run_command, command, expected)

    async def _run_python(self, text: str, line: int) -> None:
        code = compile(
            "\n" * line + text, str(self.path), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
        )
        result = eval(code, self._namespace)
        if inspect.isawaitable(result):
            await result

    def _run_command(self, command: str, expected: list[str]) -> None:
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self._environment(), timeout=COMMAND_S, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert done.returncode == 0, f"`{command}` exited with {done.returncode}:\n{done.stdout}"
        pattern = ".*".join(re.escape(line.strip()).replace("…", ".*") for line in expected)
        assert re.search(pattern, done.stdout, re.DOTALL), f"`{command}` did not print this, but:\n{done.stdout}"

    def _start(self, text: str) -> None:
        """Start a server and wait until it is ready: its port listens long before its token can be found."""
        [(command, _)] = _commands(text)
        log = self._running.enter_context((self.folder / "background.log").open("w", encoding="utf-8"))
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command} --port {self.port}"], cwd=self.folder, env=self._environment(),
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
        self._running.callback(process.wait, timeout=30)
        self._running.callback(process.terminate)
        deadline = time.monotonic() + READY_S
        while not _is_ready(self.port):
            assert process.poll() is None, (self.folder / "background.log").read_text(encoding="utf-8")
            assert time.monotonic() < deadline, f"`{command}` is not ready at port {self.port}"
            time.sleep(0.05)

    def _environment(self) -> dict[str, str]:
        commands = str(Path(sys.executable).parent)
        wide = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
        return {**os.environ, **wide, "ENVHUB_HOME": str(self.home), "PATH": f"{commands}:{os.environ['PATH']}"}


def _commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each `$ command` (a backslash continues it) with the lines under it."""
    for part in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, *expected = part.rstrip("\n").split("\n")
        yield command, [line for line in expected if line.strip()]


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def _is_ready(port: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as reply:
            return reply.status == 200
    except OSError:  # nothing listens, nothing is answered yet, or not ready
        return False


__all__ = ["RUN", "Block", "Page", "read_blocks"]
