"""LocalServer: `envhub serve` as a child process, for `connect("webarena")`."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from envhub.sdk.errors import InvalidRequest, ServerError, from_problem

LINE_LIMIT_BYTES = 1 << 20
KEPT_LINES = 20
STOP_TIMEOUT_S = 10.0
NEEDED_MODULES = ("fastapi", "uvicorn", "envhub.cli.main")


@dataclass(frozen=True)
class Ready:
    """Where a started server listens."""

    url: str
    token: str


class LocalServer:
    """A server of this machine, for this process only. It ends with us, also where we are killed: it watches its
    standard input, which closes with our process.

    Args:
        name: environment name or folder, as for `envhub serve`.
        options: more arguments of `envhub serve`.
        start_timeout_s: seconds until it must be ready; a first start may build data and a virtual environment.
    """

    def __init__(self, name: str, options: Sequence[str], start_timeout_s: float) -> None:
        self._name = name
        self._options = options
        self._start_timeout_s = start_timeout_s
        self._process: asyncio.subprocess.Process | None = None
        self._tail: deque[str] = deque(maxlen=KEPT_LINES)
        self._show = True
        self._readers: list[asyncio.Task[None]] = []

    async def start(self) -> Ready:
        """Start it and wait until it is ready; what it says meanwhile is shown on stderr.

        Raises:
            InvalidRequest: the extra `serve` is not installed.
            EnvhubError: it stopped before it was ready; with its own words.
        """
        missing = [name for name in NEEDED_MODULES if importlib.util.find_spec(name) is None]
        if missing:
            raise InvalidRequest(
                f"starting a server for {self._name!r} needs {missing[0]}: pip install 'envhub[serve]', "
                "or connect to the http:// address of a running one"
            )
        try:
            async with asyncio.timeout(self._start_timeout_s):
                return await self._launch()
        except TimeoutError:
            await self.stop()
            raise ServerError(
                f"the server for {self._name!r} was not ready within {self._start_timeout_s:g} s{self._last_words()}"
            ) from None
        except BaseException:
            await self.stop()
            raise

    async def _launch(self) -> Ready:
        arguments = ["serve", self._name, "--port", "0", "--json", "--exit-with-parent", *self._options]
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "envhub.cli.main", *arguments,
            stdin=pipe, stdout=pipe, stderr=pipe, limit=LINE_LIMIT_BYTES,
        )  # fmt: skip
        stdout, stderr = self._process.stdout, self._process.stderr
        assert stdout is not None
        assert stderr is not None
        self._readers.append(asyncio.create_task(self._relay(stderr), name="envhub serve stderr"))
        ready = await self._wait_ready(stdout)
        self._show = False
        self._readers.append(asyncio.create_task(_drain(stdout), name="envhub serve stdout"))
        return ready

    async def _wait_ready(self, stdout: asyncio.StreamReader) -> Ready:
        async for line in stdout:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # Something the environment printed.
            if isinstance(event, dict) and event.get("event") == "ready":
                return Ready(event["url"], event["token"])
            if isinstance(event, dict) and "code" in event and "detail" in event:
                raise from_problem(event)
        assert self._process is not None
        code = await self._process.wait()
        await asyncio.wait(self._readers, timeout=1)
        raise ServerError(
            f"`envhub serve {self._name}` stopped with code {code} before it was ready{self._last_words()}"
        )

    async def _relay(self, stderr: asyncio.StreamReader) -> None:
        """Show its progress until it is ready; later only keep the last lines. Read to the end, or it would block."""
        while chunk := await stderr.read(65_536):
            text = chunk.decode(errors="replace")
            self._tail.extend(text.splitlines())
            if self._show:
                sys.stderr.write(text)
                sys.stderr.flush()

    def _last_words(self) -> str:
        return ". Its last words:\n" + "\n".join(self._tail) if self._tail else ""

    async def wait_ended(self) -> str:
        """Wait, after `start`, until it has ended; with its own words, since nobody asked it to."""
        assert self._process is not None
        code = await self._process.wait()
        await asyncio.wait(self._readers, timeout=1)
        return f"the server of {self._name!r} ended with code {code}{self._last_words()}"

    async def stop(self) -> None:
        """End it: its standard input closes and it is asked to stop; after a while it is killed."""
        process = self._process
        if process is None:
            return
        try:
            if process.returncode is None:
                await self._end(process)
        finally:
            for reader in self._readers:
                reader.cancel()
            if self._readers:
                await asyncio.wait(self._readers, timeout=1)

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.terminate()
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await process.wait()
        except ProcessLookupError:
            pass
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def _drain(stream: asyncio.StreamReader) -> None:
    while await stream.read(65_536):
        pass


__all__ = ["LocalServer", "Ready"]
