"""The plain face of the client: the same names, without async. `with connect(url) as client: …`

The asynchronous client runs in one background thread, so this works in scripts, in notebooks (whose loop it does not
touch) and from several threads at once. Policies stay asynchronous: they run on that thread's loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self, Unpack

from envhub.clients import connection
from envhub.clients.client import TASKS_A_PAGE
from envhub.clients.client import Client as AsyncClient
from envhub.clients.connection import ConnectOptions
from envhub.clients.opening import OpenOptions
from envhub.clients.policy import Policy
from envhub.clients.portal import Portal
from envhub.clients.progress import Report
from envhub.clients.rollout import PATIENCE_S
from envhub.clients.rollout import rollout as rollout_async
from envhub.clients.rollouts import PolicyFactory
from envhub.clients.rollouts import rollouts as rollouts_async
from envhub.clients.session import ActionLike, SessionFacts, SessionTokens
from envhub.clients.session import Session as AsyncSession
from envhub.sdk.errors import EnvhubError
from envhub.sdk.messages import EndReason, Message, Observation, StepResult
from envhub.sdk.task import Task
from envhub.sdk.trajectory import Trajectory
from envhub.sdk.wire import EnvironmentInfo, EnvironmentSchema, ServerInfo, SessionStatus

USE_ASYNC = "this is the plain client: use `with`, or `from envhub.clients import connect` for `async with`"


def connect(url_or_name: str, token: str | None = None, **options: Unpack[ConnectOptions]) -> Connection:
    """As `envhub.clients.connect`, for `with`."""
    return Connection(connection.connect(url_or_name, token, **options))


class Connection:
    """What `connect` returns: enter it with `with`."""

    def __init__(self, inner: connection.Connection) -> None:
        self._inner = inner
        self._portal = Portal()

    def __enter__(self) -> Client:
        self._portal.start()
        try:
            return Client(self._portal, self._portal.call(self._inner.__aenter__))
        except BaseException:
            self._portal.stop()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._portal.call(self._inner.__aexit__, kind, error, trace)
        finally:
            self._portal.stop()

    async def __aenter__(self) -> NoReturn:
        raise TypeError(USE_ASYNC)

    async def __aexit__(self, *_: object) -> None: ...

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"connect() is not yet a client, so it has no {name!r}: use `with connect(…) as client`")


class Client:
    """As `envhub.clients.Client`; every method gives its result."""

    def __init__(self, portal: Portal, inner: AsyncClient) -> None:
        self._portal = portal
        self._inner = inner

    @property
    def url(self) -> str:
        """Address of the server."""
        return self._inner.url

    def info(self) -> ServerInfo:
        """What is hosted, limits, versions."""
        return self._portal.call(self._inner.info)

    def schema(self, environment: str | None = None) -> EnvironmentSchema:
        """Tools and criteria of an environment."""
        return self._portal.call(self._inner.schema, environment)

    def environment(self, name: str | None = None) -> EnvironmentInfo:
        """Title, version, limits of one hosted environment."""
        return self._portal.call(self._inner.environment, name)

    def tasks(
        self, split: str | None = None, *, environment: str | None = None, offset: int = 0, limit: int = TASKS_A_PAGE
    ) -> list[Task]:
        """At most `limit` tasks of a split from `offset` on."""
        return self._portal.call(self._inner.tasks, split, environment=environment, offset=offset, limit=limit)

    def iter_tasks(self, split: str | None = None, *, environment: str | None = None) -> Iterator[Task]:
        """All tasks of a split, page by page."""
        offset = 0
        while page := self.tasks(split, environment=environment, offset=offset):
            yield from page
            offset += len(page)

    def session(self, **options: Unpack[OpenOptions]) -> Session:
        """`with client.session(task=…, seed=…) as s`: open a session; closed at the end of the block."""
        return self.open(**options)

    def open(self, **options: Unpack[OpenOptions]) -> Session:
        """Open a session that lives until it is closed."""
        return Session(self._portal, self._portal.call(self._inner.open, **options))

    def resume(self, session_id: str, session_token: str) -> Session:
        """Take over a live session."""
        return Session(self._portal, self._portal.call(self._inner.resume, session_id, session_token))

    def step_batch(self, steps: Sequence[tuple[Session, ActionLike]]) -> list[StepResult | EnvhubError]:
        """Step many sessions in one frame; (B,) results in the same order."""
        return self._portal.call(self._inner.step_batch, [(session.inner, action) for session, action in steps])

    @property
    def portal(self) -> Portal:
        """The thread it runs on."""
        return self._portal

    @property
    def inner(self) -> AsyncClient:
        """The asynchronous client, for use on the portal's loop only."""
        return self._inner

    async def __aenter__(self) -> NoReturn:
        raise TypeError(USE_ASYNC)

    async def __aexit__(self, *_: object) -> None: ...


class Session:
    """As `envhub.clients.Session`; every method gives its result."""

    def __init__(self, portal: Portal, inner: AsyncSession) -> None:
        self._portal = portal
        self.inner = inner

    @property
    def id(self) -> str:
        """Its id."""
        return self.inner.id

    @property
    def facts(self) -> SessionFacts:
        """What stays the same through the session."""
        return self.inner.facts

    @property
    def tokens(self) -> SessionTokens:
        """The tokens of its two principals."""
        return self.inner.tokens

    @property
    def task(self) -> Task:
        """The public part of the task."""
        return self.inner.task

    @property
    def prompt(self) -> tuple[Message, ...]:
        """What the policy is told first."""
        return self.inner.prompt

    @property
    def observation(self) -> Observation:
        """What the policy sees now."""
        return self.inner.observation

    @property
    def steps(self) -> int:
        """Steps taken so far."""
        return self.inner.steps

    @property
    def reward(self) -> float | None:
        """The return so far; None where none was given, or the ending has none."""
        return self.inner.reward

    @property
    def end(self) -> EndReason | None:
        """Why the episode ended, as far as this client was told."""
        return self.inner.end

    @property
    def ended(self) -> bool:
        """The episode has ended, or was closed here."""
        return self.inner.ended

    def step(self, action: ActionLike) -> StepResult:
        """Take one step; see `envhub.clients.Session.step`."""
        return self._portal.call(self.inner.step, action)

    def call(self, tool: str, /, **arguments: Any) -> StepResult:
        """Take one step that is one tool call."""
        return self._portal.call(self.inner.call, tool, **arguments)

    def status(self, wait_s: float = 0.0) -> SessionStatus:
        """How it stands; with `wait_s`, once it has ended or so many seconds have passed."""
        return self._portal.call(self.inner.status, wait_s)

    def renew(self) -> SessionStatus:
        """Renew the lease now; the client also does it by itself."""
        return self._portal.call(self.inner.renew)

    def trajectory(self) -> Trajectory:
        """The server's record of the episode so far."""
        return self._portal.call(self.inner.trajectory)

    def close(self) -> SessionStatus:
        """End it on the server."""
        return self._portal.call(self.inner.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._portal.call(self.inner.__aexit__, kind, error, trace)

    async def __aenter__(self) -> NoReturn:
        raise TypeError(USE_ASYNC)

    async def __aexit__(self, *_: object) -> None: ...

    def __repr__(self) -> str:
        return repr(self.inner)


def rollout(
    client: Client, policy: Policy, *, patience_s: float = PATIENCE_S, **options: Unpack[OpenOptions]
) -> Trajectory:
    """As `envhub.clients.rollout`."""
    return client.portal.call(rollout_async, client.inner, policy, patience_s=patience_s, **options)


def rollouts(
    client: Client,
    policy_factory: PolicyFactory,
    requests: Sequence[OpenOptions],
    *,
    concurrency: int = 16,
    progress: bool | Report | None = None,
    out: Path | None = None,
    patience_s: float = PATIENCE_S,
) -> list[Trajectory]:
    """As `envhub.clients.rollouts`; a callable `progress` is told on the background thread."""
    return client.portal.call(
        rollouts_async,
        client.inner,
        policy_factory,
        requests,
        concurrency=concurrency,
        progress=progress,
        out=out,
        patience_s=patience_s,
    )


__all__ = ["Client", "Connection", "Session", "connect", "rollout", "rollouts"]
