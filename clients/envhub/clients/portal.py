"""Portal: one background thread with an event loop, on which the plain face runs the asynchronous client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from envhub.sdk.errors import ConnectionLost

P = ParamSpec("P")
T = TypeVar("T")


class Portal:
    """Runs coroutines for threads that have no loop, or one that must not be entered again."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started = threading.Event()
        # A daemon, so that a program that forgot to close its client can still end.
        self._thread = threading.Thread(target=self._run, name="envhub portal", daemon=True)

    def start(self) -> None:
        """Start the thread; returns once its loop runs."""
        self._thread.start()
        self._started.wait()

    def call(self, function: Callable[P, Coroutine[Any, Any, T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of an asynchronous function, waited for in this thread; any thread may call.

        Raises:
            ConnectionLost: the portal was stopped.
            RuntimeError: called from within the portal's own loop, which would wait for itself.
        """
        loop = self._loop
        if loop is None or loop.is_closed():
            raise ConnectionLost("this client was closed; open another with `with connect(…)`")
        if threading.current_thread() is self._thread:
            raise RuntimeError("the plain client was called from its own event loop; use the asynchronous one there")
        running = asyncio.run_coroutine_threadsafe(function(*args, **kwargs), loop)
        try:
            return running.result()
        except BaseException:
            running.cancel()  # Control-C: stop what nobody waits for any more.
            raise

    def stop(self) -> None:
        """Stop the loop and end the thread."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = loop = runner.get_loop()
            loop.call_soon(self._started.set)
            loop.run_forever()


__all__ = ["Portal"]
