"""`serve`: run a server in this process until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import uvicorn

from envhub.sdk.errors import Forbidden, InvalidRequest
from envhub.sdk.loader import load
from envhub.sdk.paths import write_server_record
from envhub.server.app import Server, open_server
from envhub.server.config import ServeOptions
from envhub.server.logging import configure

Ready = Callable[[str, str], None]
Progress = Callable[[str], None]
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve(options: ServeOptions, on_ready: Ready, progress: Progress | None = None) -> None:
    """Host environments until SIGINT or SIGTERM, or until standard input closes with `exit_with_parent`.

    Args:
        options: what to host and how.
        on_ready: told the address and the server token once sessions can be opened.
        progress: told what a slow start is doing, one line a call.

    Raises:
        Forbidden: a public address without an explicit token.
        InvalidRequest: the port is taken or the address is not this machine's.
        EnvhubError: an environment cannot be loaded or started.
    """
    if options.host not in LOOPBACK and options.token is None:
        raise Forbidden(f"--host {options.host} can be reached by others; give --token (16 characters or more) with it")
    configure(options.log_level)
    listener = _bind(options.host, options.port)
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(options, listener, on_ready, progress or _to_stderr))
    finally:
        listener.close()


def _calm_collector() -> None:
    """Leave what the start made out of the garbage collector's rounds, and make rounds rarer: steps create no
    cycles, and a full round over a loaded process costs as much as a hundred steps."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)  # here, so that of two starts on one port one is told
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidRequest(
            f"cannot listen on {host}:{port}: {reason}; choose another --port (0: any free one)"
        ) from error
    return listener


async def _serve(options: ServeOptions, listener: socket.socket, on_ready: Ready, progress: Progress) -> None:
    environments = [load(name) for name in options.environments]
    async with open_server(environments, options, progress) as server:
        _calm_collector()
        await _run(server, options, listener, on_ready)


async def _run(server: Server, options: ServeOptions, listener: socket.socket, on_ready: Ready) -> None:
    config = uvicorn.Config(
        server,
        lifespan="off",
        log_config=None,
        access_log=False,
        ws_max_size=options.limits.frame_bytes,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=5,
        server_header=False,
    )
    runner = _Uvicorn(config)
    port = listener.getsockname()[1]
    shown = f"[{options.host}]" if ":" in options.host else options.host
    url = f"http://{shown}:{port}"
    names = list(server.registry.hosted)
    record = write_server_record(port, {"url": url, "token": server.token, "pid": os.getpid(), "environments": names})
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_announce(runner, lambda: on_ready(url, server.token)))
            parent = group.create_task(_watch_parent(runner)) if options.exit_with_parent else None
            await runner.serve(sockets=[listener])
            server.registry.stopping = True
            if parent is not None:
                parent.cancel()
    finally:
        record.unlink(missing_ok=True)


class _Uvicorn(uvicorn.Server):
    """uvicorn, but for one thing: its own raises the signal again once it has stopped, before sessions are closed."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        loop = asyncio.get_running_loop()
        main = threading.current_thread() is threading.main_thread()
        signals = (signal.SIGINT, signal.SIGTERM) if main else ()  # only the main thread can hear them
        for number in signals:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in signals:
                loop.remove_signal_handler(number)


async def _announce(runner: uvicorn.Server, tell: Callable[[], None]) -> None:
    while not runner.started:
        if runner.should_exit:
            return
        await asyncio.sleep(0.005)
    tell()


async def _watch_parent(runner: uvicorn.Server) -> None:
    """Stop when standard input closes: whoever started us is gone."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.read(1024):
        pass
    runner.should_exit = True


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


__all__ = ["serve"]
