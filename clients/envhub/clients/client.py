"""Client: what a server offers, and sessions on it. `connect` makes one."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Sequence
from typing import Any, Unpack

from envhub.clients.channel import Channel, read_reply
from envhub.clients.opening import OpenOptions, SessionContext, open_fields
from envhub.clients.session import ActionLike, Session, SessionFacts, SessionTokens, action_fields, read_record
from envhub.sdk.errors import EnvhubError, NotFound, from_problem
from envhub.sdk.messages import JsonObject, StepResult
from envhub.sdk.task import Task
from envhub.sdk.wire import (
    BatchReply,
    EnvironmentInfo,
    EnvironmentSchema,
    Opened,
    OpenRequest,
    ServerInfo,
    SessionStatus,
    TaskPage,
)

TASKS_A_PAGE = 100


class Client:
    """A connection to one server, for any number of sessions at once.

    Args:
        channel: with a started transport.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._schemas: dict[str | None, EnvironmentSchema] = {}
        self._hosted: dict[str, EnvironmentInfo] | None = None
        self._facts_lock = asyncio.Lock()

    @property
    def url(self) -> str:
        """Address of the server."""
        return self._channel.url

    async def info(self) -> ServerInfo:
        """What is hosted, limits, versions."""
        return read_reply(ServerInfo, await self._ask("info", {}))

    async def schema(self, environment: str | None = None) -> EnvironmentSchema:
        """Tools and criteria of an environment; asked once and kept.

        Raises:
            NotFound: it is not hosted here.
        """
        async with self._facts_lock:
            if environment not in self._schemas:
                fields = {} if environment is None else {"environment": environment}
                self._schemas[environment] = read_reply(EnvironmentSchema, await self._ask("schema", fields))
            return self._schemas[environment]

    async def environment(self, name: str | None = None) -> EnvironmentInfo:
        """Title, version, limits of one hosted environment; asked once and kept.

        Args:
            name: may be left out where the server hosts one.

        Raises:
            NotFound: it is not hosted here.
        """
        async with self._facts_lock:
            if self._hosted is None:
                self._hosted = {one.name: one for one in (await self.info()).environments}
        if name is None and len(self._hosted) == 1:
            return next(iter(self._hosted.values()))
        if name not in self._hosted:
            raise NotFound(f"no environment {name!r} at {self.url}; there are {', '.join(self._hosted)}")
        return self._hosted[name]

    async def tasks(
        self, split: str | None = None, *, environment: str | None = None, offset: int = 0, limit: int = TASKS_A_PAGE
    ) -> list[Task]:
        """At most `limit` tasks of a split from `offset` on, in a stable order.

        Raises:
            NotFound: no such environment or split.
        """
        found: list[Task] = []
        while len(found) < limit:
            wanted = min(TASKS_A_PAGE, limit - len(found))
            page = await self._page(environment, split, offset + len(found), wanted)
            found += page.tasks
            if page.next_offset is None or not page.tasks:
                break
        return found

    async def iter_tasks(self, split: str | None = None, *, environment: str | None = None) -> AsyncIterator[Task]:
        """All tasks of a split, page by page; without end where the split is infinite."""
        offset: int | None = 0
        while offset is not None:
            page = await self._page(environment, split, offset, TASKS_A_PAGE)
            for task in page.tasks:
                yield task
            offset = page.next_offset

    def session(self, **options: Unpack[OpenOptions]) -> SessionContext:
        """`async with client.session(task=…, seed=…) as s`: open a session; closed at the end of the block.

        Raises:
            NotFound: no such environment, task or split.
            AtCapacity: the server is full; `retry_after_s` says when to ask again.
            EnvironmentFailed, SandboxFailed: it could not be opened.
        """
        return SessionContext(functools.partial(self.open, **options))

    async def open(self, **options: Unpack[OpenOptions]) -> Session:
        """Open a session that lives until it is closed, also past this client while somebody renews its lease.

        Where the caller is cancelled while the server still opens, the session is closed as soon as it is there.
        Raises as `session`.
        """
        fields = open_fields(options)
        wait_s = float(options.get("wait_s", OpenRequest.model_fields["wait_s"].default))
        asked = self._channel.transport.request("open", fields, self._channel.deadlines.work_s + wait_s)
        opening = self._channel.finish(asked, "open")
        try:
            reply = await asyncio.shield(opening)
        except asyncio.CancelledError:
            self._channel.finish(self._discard(opening), "close a session nobody waits for")
            raise
        return self._adopt(read_reply(Opened, reply))

    async def resume(self, session_id: str, session_token: str) -> Session:
        """Take over a live session that another client, connection or process opened.

        Raises:
            NotFound: no such session any more.
            Forbidden: the token is another session's.
        """
        asked = {"session": session_id, "token": session_token}
        request_s = self._channel.deadlines.request_s
        await self._channel.transport.request("attach", asked, request_s)
        self._channel.transport.hold(session_id, session_token, request_s)
        try:
            return await self._take_over(session_id, session_token)
        except BaseException:
            self._channel.transport.release(session_id)
            raise

    async def step_batch(self, steps: Sequence[tuple[Session, ActionLike]]) -> list[StepResult | EnvhubError]:
        """Step many sessions in one frame.

        Steps of one session run in order, of different ones beside each other.

        Args:
            steps: (B,) sessions with their actions.

        Returns:
            (B,) results in the same order; the typed error where a step failed, which never affects the others.

        Raises:
            TooLarge: over the server's item or byte limit; nothing was executed.
            ConnectionLost: as for `Session.step`.
        """
        items: list[JsonObject] = []
        ahead: dict[str, int] = {}
        for session, action in steps:
            index = ahead.get(session.id, session.steps)
            ahead[session.id] = index + 1
            items.append({"op": "step", "session": session.id, "index": index, "action": action_fields(action)})
        asked = {"items": items}
        reply = read_reply(
            BatchReply, await self._channel.transport.request("batch", asked, self._channel.deadlines.work_s)
        )
        return [_outcome(session, item) for (session, _), item in zip(steps, reply.items, strict=True)]

    async def _ask(self, op: str, fields: JsonObject) -> Any:
        return await self._channel.transport.request(op, fields, self._channel.deadlines.request_s)

    async def _page(self, environment: str | None, split: str | None, offset: int, limit: int) -> TaskPage:
        given = {"environment": environment, "split": split}
        named = {name: value for name, value in given.items() if value is not None}
        return read_reply(TaskPage, await self._ask("tasks", {**named, "offset": offset, "limit": limit}))

    def _adopt(self, opened: Opened) -> Session:
        facts = SessionFacts(
            id=opened.session,
            environment=opened.environment,
            task=opened.task,
            task_digest=opened.task_digest,
            driver=opened.driver,
            lease_s=opened.lease_s,
            max_turns=opened.max_turns,
            mcp_url=self.url + opened.mcp_path,
        )
        return Session(
            self._channel, facts, SessionTokens(opened.session_token, opened.agent_token), opened.observation
        )

    async def _take_over(self, session_id: str, token: str) -> Session:
        """The state of a session from the server's record of it."""
        status = read_reply(SessionStatus, await self._ask("get", {"session": session_id}))
        if status.end is None:
            # The renewed lease, seen from its beginning, is the lease's length.
            status = read_reply(SessionStatus, await self._ask("renew", {"session": session_id}))
        record = read_record(session_id, await self._ask("trajectory", {"session": session_id}))
        facts = SessionFacts(
            id=session_id,
            environment=status.environment,
            task=record.open.task,
            task_digest=record.open.task_digest,
            driver=record.open.driver,
            lease_s=max(status.lease_left_s, 1.0),
            max_turns=None,
            mcp_url=None,
        )
        seen = record.steps[-1].result.observation if record.steps else record.open.observation
        session = Session(self._channel, facts, SessionTokens(token, None), seen, status.steps - status.running)
        results = [one.result for one in record.steps]
        if record.ended is not None and record.ended.result is not None:
            results.append(record.ended.result)
        session.restore([one.reward for one in results if one.reward is not None], status.end)
        return session

    async def _discard(self, opening: asyncio.Task[Any]) -> None:
        try:
            session = self._adopt(read_reply(Opened, await opening))
        except EnvhubError:
            return  # It was never opened: nothing to close.
        await session.close()


def _outcome(session: Session, item: JsonObject) -> StepResult | EnvhubError:
    if "ok" in item:
        return session.accept(item["ok"])
    error = from_problem(item["error"])
    session.note(error)
    return error


__all__ = ["TASKS_A_PAGE", "Client"]
