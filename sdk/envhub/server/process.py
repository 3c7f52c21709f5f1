"""ProcessEpisode: an episode in a worker process of its own, which a deadline can really stop.

Environment code there may block, leak, crash or print: it ends its own session and nothing else. Cancelling a call
kills the worker's whole process group at once; what left the group by a session of its own is out of reach.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from envhub.sdk.environment import HostContext
from envhub.sdk.errors import EnvironmentFailed, ServerError, from_problem
from envhub.sdk.messages import Action, JsonObject, Observation, StepResult
from envhub.sdk.rubric import Score
from envhub.sdk.task import Task
from envhub.server import guard
from envhub.server.channel import Channel, ChannelClosed, FrameTooLarge

T = TypeVar("T")
REPLY_LIMIT_BYTES = 64 * 2**20
TAIL_BYTES = 4096
"""How much of a worker's standard error is kept for the message of its failure."""
_OBSERVATION: TypeAdapter[Observation] = TypeAdapter(Observation)
_RESULT: TypeAdapter[StepResult] = TypeAdapter(StepResult)
_SCORE: TypeAdapter[Score | None] = TypeAdapter(Score | None)
_REAP_S = 5.0


class ProcessEpisode:
    """Implements `envhub.server.episode.Episode`.

    Args:
        folder: the environment's folder.
        config: its [config] table with the user's overrides.
        context: the host's; the worker gets a run_dir of its own under this one's.
        close_s: seconds the environment's close may take before the worker is killed.
    """

    def __init__(self, folder: Path, config: JsonObject, context: HostContext, *, close_s: float = 5.0) -> None:
        self._worker = WorkerProcess(folder, config, context)
        self._close_s = close_s

    async def reset(self, task: Task) -> Observation:
        """Start the worker and begin the episode."""
        await self._worker.start()
        wanted = json.dumps({"task": task.id, "seed": task.seed}).encode()
        return _read(_OBSERVATION, await self._worker.call("reset", wanted))

    async def step(self, action: Action) -> StepResult:
        """Apply one action."""
        return _read(_RESULT, await self._worker.call("step", action.model_dump_json().encode()))

    async def grade(self) -> Score | None:
        """The rubric's score; None where the environment has no rubric."""
        return _read(_SCORE, await self._worker.call("grade"))

    async def close(self) -> None:
        """End the worker: by its environment's close where it is idle, by killing it where it is not."""
        await self._worker.stop(self._close_s)


def _read(kind: TypeAdapter[T], reply: bytes) -> T:
    try:
        return kind.validate_json(reply)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"])) or "it"
        raise EnvironmentFailed(f"the worker's reply cannot be used: {where}: {problem['msg']}") from error


class WorkerProcess:
    """A worker process: started, asked one thing at a time, killed with all it started."""

    def __init__(self, folder: Path, config: JsonObject, context: HostContext) -> None:
        self._folder, self._config, self._context = folder, config, context
        self._run_dir: Path | None = None
        self._channel: Channel | None = None
        self._process: _Process | None = None
        self._started = self._busy = self._stopped = False

    @property
    def pid(self) -> int | None:
        """Process id, which is its group's too; None before the start."""
        return self._process.pid if self._process else None

    async def start(self) -> None:
        """Start the process and load the environment in it.

        Raises:
            EnvironmentFailed: it could not be loaded, or the worker was stopped meanwhile.
        """
        self._run_dir = Path(tempfile.mkdtemp(prefix="worker-", dir=self._context.run_dir))
        ours, theirs = socket.socketpair()
        with theirs:
            self._channel = await Channel.open(ours, REPLY_LIMIT_BYTES)
            self._process = await _spawn(theirs, self._run_dir)
        if self._stopped:
            self._process.kill()
        await self.call("start", json.dumps(self._setup()).encode())
        self._started = True

    def _setup(self) -> dict[str, Any]:
        return {
            "folder": str(self._folder),
            "config": self._config,
            "cache_dir": str(self._context.cache_dir),
            "run_dir": str(self._run_dir),
        }

    async def call(self, word: str, body: bytes = b"") -> bytes:
        """Ask the worker and wait for its answer. Cancelling kills the worker.

        Raises:
            EnvhubError: what the worker answered; EnvironmentFailed where it died.
        """
        if self._process is None or self._channel is None:
            raise EnvironmentFailed("the worker process was not started")
        self._busy = True
        try:
            self._channel.send(word, body)
            status, reply = await self._answer(self._channel, self._process)
        except BaseException:
            self._process.kill()
            raise
        finally:
            self._busy = False
        if status != "ok":
            raise from_problem(json.loads(reply))
        return reply

    async def _answer(self, channel: Channel, process: _Process) -> tuple[str, bytes]:
        """The next reply, or the reason why there is none."""
        try:
            return await channel.receive()
        except FrameTooLarge as error:
            raise EnvironmentFailed(f"the worker's reply is too large: {error}") from None
        except ChannelClosed:
            # A worker that ends closes its channel a moment before; one that lives on hung up.
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(process.gone), 1.0 if not self._stopped else _REAP_S)
            if self._stopped:
                raise EnvironmentFailed("the worker process was stopped, since its session was closed") from None
            how = process.how_it_ended() or "closed its channel and was killed"
            raise EnvironmentFailed(f"the worker process {how}{process.said()}") from None

    async def stop(self, close_s: float) -> None:
        """Close the environment where the worker is idle, kill the process group, reap it, remove its folder."""
        if self._stopped:
            return
        idle = self._started and not self._busy
        self._stopped = True
        try:
            if idle and self._process is not None and self._process.alive:
                async with asyncio.timeout(close_s):
                    await self.call("close")
        except TimeoutError:
            raise EnvironmentFailed(f"close took longer than {close_s:g} s; the worker was killed") from None
        finally:
            await self._bury()

    async def _bury(self) -> None:
        if self._process is not None:
            self._process.kill()
            await self._process.reap()
        if self._channel is not None:
            self._channel.close()
        if self._run_dir is not None:
            await asyncio.to_thread(shutil.rmtree, self._run_dir, ignore_errors=True)


class _Process(asyncio.SubprocessProtocol):
    """The process as the event loop sees it."""

    def __init__(self) -> None:
        self._transport: asyncio.SubprocessTransport | None = None
        self._tail = b""
        self._killed = False
        self.pid = 0
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done once it has ended and its standard error is read."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)  # uvloop's is no subclass of it
        self.pid = self._transport.get_pid()
        guard.watch(self.pid)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._tail = (self._tail + data)[-TAIL_BYTES:]

    def process_exited(self) -> None:
        self._kill_group()
        guard.forget(self.pid)
        # Its standard error ends with it, unless something out of reach holds it open.
        asyncio.get_running_loop().call_later(0.5, self.connection_lost, None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.gone.done():
            self.gone.set_result(None)

    @property
    def alive(self) -> bool:
        """It runs, and nobody killed it."""
        return not self._killed and self._transport is not None and self._transport.get_returncode() is None

    def kill(self) -> None:
        """Kill the whole group, unless it is gone."""
        if self.alive:
            self._killed = True
            self._kill_group()

    def _kill_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    async def reap(self) -> None:
        """Wait until it is gone, and let go of its pipe."""
        try:
            await asyncio.wait_for(asyncio.shield(self.gone), _REAP_S)
        except TimeoutError:
            raise ServerError(f"worker process {self.pid} does not end, though it was killed") from None
        finally:
            if self._transport is not None:
                self._transport.close()

    def how_it_ended(self) -> str | None:
        """The exit code or the signal in words; None while it runs."""
        code = self._transport.get_returncode() if self._transport else None
        if code is None:
            return None
        if self._killed:
            return "was stopped by a deadline or a close"
        if code >= 0:
            return f"exited with code {code}"
        hint = " (out of memory?)" if code == -signal.SIGKILL else ""
        return f"was killed by {signal.Signals(-code).name}{hint}"

    def said(self) -> str:
        """The end of its standard error, as part of a message."""
        tail = self._tail.decode(errors="replace").strip()
        return f"; its last words:\n{tail}" if tail else " without a word on standard error"


async def _spawn(end: socket.socket, run_dir: Path) -> _Process:
    """Start a worker in a session of its own, so that no terminal reaches it and its group can be killed."""
    arguments = (sys.executable, "-P", "-m", "envhub.server.worker", str(end.fileno()), str(os.getpid()))
    _, process = await asyncio.get_running_loop().subprocess_exec(
        _Process,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        cwd=run_dir,
        start_new_session=True,
        pass_fds=(end.fileno(),),
    )
    return process


__all__ = ["ProcessEpisode", "WorkerProcess"]
