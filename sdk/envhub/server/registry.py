"""Registry: all sessions of this process, from admission to the day they are forgotten."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from envhub.sdk.errors import (
    Conflict,
    EnvhubError,
    EnvironmentFailed,
    InvalidRequest,
    NotFound,
    ServerError,
    StepTimeout,
)
from envhub.sdk.task import Task
from envhub.sdk.trajectory import OpenRecord
from envhub.sdk.wire import Opened, OpenRequest
from envhub.server.admission import Admission
from envhub.server.agent import Agent
from envhub.server.config import Limits
from envhub.server.deadline import within
from envhub.server.hosting import HostedEnvironment
from envhub.server.ledger import Ledger
from envhub.server.logging import get_logger
from envhub.server.metrics import Metrics
from envhub.server.recording import Recorder
from envhub.server.session import Session
from envhub.server.terms import Terms, agree, find_task
from envhub.server.tokens import Tokens, bearer

log = get_logger()


@dataclass(slots=True)
class _Opening:
    """An open by its client key."""

    request: OpenRequest
    work: asyncio.Task[Opened]


class Registry:
    """All sessions of this process."""

    def __init__(
        self,
        hosted: Mapping[str, HostedEnvironment],
        tokens: Tokens,
        recorder: Recorder,
        capacity: int,
        limits: Limits,
        metrics: Metrics,
    ) -> None:
        self.hosted, self.tokens, self.recorder, self.limits, self.metrics = hosted, tokens, recorder, limits, metrics
        self.started_s = time.time()
        self.stopping = False
        """No new session is opened any more."""
        self.admission = Admission(capacity, limits.queue)
        metrics.capacity = lambda: self.admission.capacity
        metrics.waiting = lambda: self.admission.waiting
        self.sessions: dict[str, Session] = {}
        self._opens: dict[str, _Opening] = {}
        self._opening: set[asyncio.Task[Opened]] = set()
        self._keys: dict[str, str] = {}
        self._ended: deque[tuple[float, str]] = deque()
        self._tasks: set[asyncio.Task[Any]] = set()

    # -- look-ups ---------------------------------------------------------------------------------------------

    def environment(self, name: str | None) -> HostedEnvironment:
        """The hosted environment of that name; of None the only one.

        Raises:
            NotFound: not hosted here.
            InvalidRequest: several are hosted and none was named.
        """
        if name is None and len(self.hosted) == 1:
            return next(iter(self.hosted.values()))
        names = ", ".join(self.hosted)
        if name is None:
            raise InvalidRequest(f"say which environment; this server hosts {names}")
        if name not in self.hosted:
            raise NotFound(f"no environment {name!r} on this server; it hosts {names}")
        return self.hosted[name]

    def session(self, id_: str) -> Session:
        """
        Raises:
            NotFound: never opened here, or forgotten.
        """
        try:
            return self.sessions[id_]
        except KeyError:
            raise NotFound(f"no session {id_!r} on this server; it may have ended long ago", session=id_) from None

    def for_agent(self, session_id: str, authorization: str | None) -> Agent:
        """The session an agent's request is for."""
        self.tokens.require(bearer(authorization), "agent", session_id)
        return Agent(self.session(session_id))

    # -- opening ----------------------------------------------------------------------------------------------

    async def open(self, request: OpenRequest) -> tuple[Opened, bool]:
        """Open a session, or return the one the same key already opened. The flag: it is new.

        Raises:
            EnvhubError: the request does not fit, there is no place, or the environment failed to reset.
        """
        known = self._opens.get(request.key) if request.key else None
        if known is not None:
            if known.request != request:
                raise Conflict(f"key {request.key!r} was used to open something else")
            return await asyncio.shield(known.work), False
        work = self._spawn(self._open(request))
        self._opening.add(work)
        work.add_done_callback(self._opening.discard)
        if request.key:
            self._opens[request.key] = _Opening(request, work)
        return await asyncio.shield(work), True

    async def _open(self, request: OpenRequest) -> Opened:
        try:
            if self.stopping:
                raise ServerError("the server is stopping; it opens no session any more")
            hosted = self.environment(request.environment)
            task, terms = find_task(hosted, request), agree(hosted, request)
            await self.admission.take(min(request.wait_s, self.limits.wait_s))
            return await self._admitted(hosted, task, terms, request.key)
        except BaseException as error:
            if request.key:
                self._opens.pop(request.key, None)
            if isinstance(error, asyncio.CancelledError):
                raise ServerError("the server stopped while the session was opened") from error
            if isinstance(error, EnvhubError):
                self.metrics.failed(error)
            raise

    async def _admitted(self, hosted: HostedEnvironment, task: Task, terms: Terms, key: str | None) -> Opened:
        try:
            episode = hosted.new_episode()
        except BaseException:
            self.admission.release()
            raise
        ledger = Ledger(secrets.token_hex(10), self.recorder)
        session = Session(hosted, task, terms, episode, self, ledger)
        try:
            await _reset(session, hosted.manifest.deadlines.open_s)
            session.ledger.begin(self._open_record(session))
        except BaseException:
            session.abandon()
            self._spawn(self._release(session))
            raise
        return self._admit(session, key)

    def _admit(self, session: Session, key: str | None) -> Opened:
        self.sessions[session.id] = session
        if key:
            self._keys[session.id] = key
        self.metrics.opened(session.hosted.name)
        log.debug("session opened", session=session.id, environment=session.hosted.name, task=session.task.id)
        return Opened(
            session=session.id,
            session_token=self.tokens.mint("ehs", session.id),
            agent_token=self.tokens.mint("eha", session.id),
            environment=session.hosted.name,
            task=session.task,
            task_digest=session.task.digest,
            observation=session.observation,
            driver=session.terms.driver,
            max_turns=session.terms.max_turns,
            lease_s=session.terms.lease_s,
            mcp_path=f"/v1/sessions/{session.id}/mcp",
        )

    def _open_record(self, session: Session) -> OpenRecord:
        return OpenRecord(
            session=session.id,
            environment=session.hosted.name,
            environment_version=session.hosted.manifest.version,
            task=session.task,
            task_digest=session.task.digest,
            driver=session.terms.driver,
            observation=self.recorder.stored(session.observation),
            opened_s=session.opened_s,
        )

    # -- what sessions tell -----------------------------------------------------------------------------------

    def spawn(self, work: asyncio.Task[None]) -> None:
        """Hold a task until it is done."""
        self._tasks.add(work)
        work.add_done_callback(self._tasks.discard)

    def stepped(self, session: Session, duration_s: float) -> None:
        """A step was acknowledged."""
        self.metrics.observe_step(session.hosted.name, duration_s)

    def ended(self, session: Session) -> None:
        """An episode is over: close its environment, keep its record readable for a while."""
        self._ended.append((time.monotonic(), session.id))
        self.metrics.ended(session.hosted.name, session.end or "error")
        if session.error is not None:
            self.metrics.failed(session.error)
        log.info(
            "session ended",
            session=session.id,
            environment=session.hosted.name,
            task=session.task.id,
            end=session.end,
            steps=session.steps,
            error=session.error.message if session.error else None,
        )
        self._spawn(self._release(session))
        self._forget()

    async def _release(self, session: Session) -> None:
        """Close an environment within a deadline and give its place back: the boundary for failures of close."""
        close_s = self.limits.close_s
        try:
            await within(close_s, session.release(), EnvironmentFailed(f"it passed its deadline of {close_s:g} s"))
        except EnvhubError as error:
            log.warning("close failed", session=session.id, error=error.message)
        finally:
            self.admission.release()

    def _forget(self) -> None:
        horizon = time.monotonic() - self.limits.retain_s
        while self._ended and (self._ended[0][0] < horizon or len(self._ended) > self.limits.retain_sessions):
            _, id_ = self._ended.popleft()
            self.sessions.pop(id_, None)
            key = self._keys.pop(id_, None)
            if key:
                self._opens.pop(key, None)

    def _spawn(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # an open's error reaches whoever awaits it; nobody left is no unhandled error

    # -- lifetime ---------------------------------------------------------------------------------------------

    @property
    def live(self) -> list[Session]:
        """Sessions that have not ended."""
        return [session for session in self.sessions.values() if session.end is None]

    def recent_ends(self, limit: int) -> list[tuple[Session, float]]:
        """Sessions that ended lately and how many seconds ago, latest first."""
        now = time.monotonic()
        last = list(self._ended)[-limit:][::-1]
        return [(self.sessions[id_], now - at) for at, id_ in last if id_ in self.sessions]

    async def sweep(self) -> None:
        """Forget ended sessions as their time comes; runs until cancelled."""
        while True:
            await asyncio.sleep(min(30.0, self.limits.retain_s))
            self._forget()

    async def shutdown(self) -> None:
        """End every session and wait until their environments are closed."""
        self.stopping = True
        for session in self.live:
            session.abort(ServerError("the server stopped", session=session.id))
        for opening in self._opening:
            opening.cancel()
        deadline = time.monotonic() + self.limits.close_s + 5.0
        while self._tasks and time.monotonic() < deadline:  # a cancelled open leaves an environment to close
            await asyncio.wait(self._tasks, timeout=deadline - time.monotonic(), return_when=asyncio.FIRST_COMPLETED)
        self.recorder.close()


async def _reset(session: Session, open_s: float) -> None:
    late = StepTimeout(f"the environment's reset passed its deadline of {open_s:g} s")
    await within(open_s, session.start(), late)


__all__ = ["Registry"]
