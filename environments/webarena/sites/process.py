"""A child process of the suite: its JSON lines on stdout, its last words on stderr, its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections import deque
from pathlib import Path
from typing import Any

from .errors import SitesError

SITES_FOLDER = Path(__file__).parent
STOP_TIMEOUT_S = 5.0
STDERR_LINES = 30
LINE_LIMIT_BYTES = 1 << 20

log = logging.getLogger(__name__)


class SuiteProcess:
    """`python -m suite.<module>`, which ends when this process ends: its stdin is its lifeline.

    Start it from a thread that lives as long as it should: on Linux the kernel kills it with that thread.
    """

    def __init__(self, module: str, process: asyncio.subprocess.Process) -> None:
        self._module = module
        self._process = process
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)
        self._stderr_task = asyncio.create_task(self._read_stderr(), name=f"stderr of {module}")

    @classmethod
    async def start(cls, module: str, config: dict[str, Any]) -> SuiteProcess:
        """Starts the module with its configuration."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
        environment |= {"SUITE_CONFIG": json.dumps(config), "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            f"suite.{module}",
            cwd=SITES_FOLDER,
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LINE_LIMIT_BYTES,
            start_new_session=True,  # an interrupt from the keyboard is the parent's to handle
        )
        return cls(module, process)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.returncode is None

    async def message(self) -> dict[str, Any]:
        """The next JSON line of its stdout.

        Raises:
            SitesError: it ended instead; the message has its last lines on stderr.
        """
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise SitesError(await self.last_words())
        message: dict[str, Any] = json.loads(line)
        return message

    async def last_words(self) -> str:
        """Waits for its end, and says how it ended."""
        code = await self._process.wait()
        await asyncio.wait([self._stderr_task], timeout=STOP_TIMEOUT_S)
        said = "\n".join(self._stderr) or "(nothing)"
        return f"suite.{self._module} ended with exit code {code}; last lines on stderr:\n{said}"

    async def stop(self) -> None:
        """Ends it, at the latest by SIGKILL; harmless if it has ended."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), STOP_TIMEOUT_S)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        self._stderr_task.cancel()
        await asyncio.wait([self._stderr_task])

    async def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            text = line.decode(errors="replace").rstrip()
            self._stderr.append(text)
            log.debug("suite.%s: %s", self._module, text)
