"""Session: one live episode on a server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple, Self

from envhub.clients.channel import Channel, read_reply
from envhub.sdk.errors import EnvhubError, InvalidRequest, ServerError, SessionEnded
from envhub.sdk.messages import Action, EndReason, JsonObject, Message, Observation, StepResult, ToolCall
from envhub.sdk.task import Task
from envhub.sdk.trajectory import TRAINABLE, Trajectory, read_trajectories
from envhub.sdk.wire import Driver, SessionStatus

ActionLike = str | ToolCall | Action | Sequence[ToolCall]
"""What `step` takes: a message, one tool call, several, or a whole Action."""


class SessionTokens(NamedTuple):
    """The two principals of a session."""

    session: str
    """Steps, reads and closes it: keep it on the control side."""
    agent: str | None
    """Only calls its tools over MCP; None in a resumed session."""


@dataclass(frozen=True)
class SessionFacts:
    """What stays the same through a session."""

    id: str
    environment: str
    task: Task
    task_digest: str
    driver: Driver
    lease_s: float
    max_turns: int | None
    """None in a resumed session."""
    mcp_url: str | None
    """Where an MCP client with the agent token finds the tools; None in a resumed session."""


class Session:
    """One episode. Made by `Client.session`, `Client.open` and `Client.resume`.

    Not for concurrent steps: an episode is a sequence. Steps of different sessions run beside each other.
    """

    def __init__(
        self, channel: Channel, facts: SessionFacts, tokens: SessionTokens, observation: Observation, steps: int = 0
    ) -> None:
        self.facts = facts
        self.id = facts.id
        self.lease_s = facts.lease_s
        self.tokens = tokens
        self.observation = observation
        """What the policy sees now."""
        self.steps = steps
        """Steps taken so far."""
        self.end: EndReason | None = None
        """Why the episode ended, as far as this client was told; `status()` asks."""
        self.renewed_at = time.monotonic()
        self._given: list[float] = []
        self._channel = channel
        self._closed = False
        channel.transport.hold(self.id, tokens.session, self.lease_s)
        channel.leases.add(self)

    @property
    def task(self) -> Task:
        """The public part of the task."""
        return self.facts.task

    @property
    def prompt(self) -> tuple[Message, ...]:
        """What the policy is told first."""
        return self.facts.task.prompt

    @property
    def ended(self) -> bool:
        """The episode has ended, or was closed here."""
        return self.end is not None or self._closed

    @property
    def reward(self) -> float | None:
        """The return so far: the sum of the rewards given. None where none was, or the ending has none."""
        if not self._given or (self.end is not None and self.end not in TRAINABLE):
            return None
        return sum(self._given)

    async def step(self, action: ActionLike) -> StepResult:
        """Take one step and return what it gave.

        A step that was cancelled, or failed with ConnectionLost, may have run: the same action again gives its
        result, another one is a Conflict.

        Raises:
            SessionEnded: the episode is over.
            EnvironmentFailed, SandboxFailed: something broke; the episode ended without a reward.
            Conflict: the step was taken with another action, or the agent drives this session over MCP.
            LeaseLost: nobody stepped or renewed in time.
            ConnectionLost: the server could not be reached before the lease must have ended.
        """
        if self._closed:
            raise SessionEnded("this session was closed here. Open a new one", session=self.id)
        fields = {"session": self.id, "index": self.steps, "action": action_fields(action)}
        try:
            reply = await self._channel.transport.request("step", fields, self._channel.deadlines.work_s)
        except EnvhubError as error:
            self.note(error)
            raise
        return self.accept(reply)

    async def call(self, tool: str, /, **arguments: Any) -> StepResult:
        """Take one step that is one tool call; see `step`."""
        return await self.step(Action(tool_calls=(ToolCall(name=tool, arguments=arguments),)))

    def accept(self, reply: JsonObject) -> StepResult:
        """Take the reply to a step over into this session's state."""
        result = read_reply(StepResult, reply.get("result"))
        self.steps = int(reply["index"]) + 1
        self.observation = result.observation
        self.renewed_at = time.monotonic()
        if result.reward is not None:
            self._given.append(result.reward)
        if result.end is not None:
            self.end = result.end
        return result

    async def status(self, wait_s: float = 0.0) -> SessionStatus:
        """How it stands; with `wait_s`, once it has ended or so many seconds have passed."""
        status = await self._ask(
            "get", {"wait_s": wait_s} if wait_s else {}, self._channel.deadlines.request_s + wait_s
        )
        self.end = self.end or status.end
        return status

    async def renew(self) -> SessionStatus:
        """Renew the lease now. The client does this by itself for every session it has."""
        status = await self._ask("renew", {}, self._channel.deadlines.request_s)
        self.renewed_at = time.monotonic()
        return status

    async def trajectory(self) -> Trajectory:
        """The server's record of the episode so far."""
        asked = {"session": self.id, "token": self.tokens.session}
        reply = await self._channel.transport.request("trajectory", asked, self._channel.deadlines.request_s)
        return read_record(self.id, reply)

    async def close(self) -> SessionStatus:
        """End it on the server. An episode that had not ended has no reward then.

        Completes in the background where the caller is cancelled.
        """
        self._closed = True
        self._channel.leases.remove(self.id)
        return await asyncio.shield(self._channel.finish(self._close(), f"close {self.id}"))

    def restore(self, rewards: Sequence[float], end: EndReason | None) -> None:
        """Take over what a recorded episode had so far."""
        self._given, self.end = list(rewards), end

    async def _close(self) -> SessionStatus:
        try:
            status = await self._ask("close", {}, self._channel.deadlines.close_s)
            self.end = self.end or status.end
            return status
        finally:
            self._channel.transport.release(self.id)

    async def _ask(self, op: str, fields: JsonObject, timeout_s: float) -> SessionStatus:
        # With the token, so that it also works once the session is released here.
        whole = {"session": self.id, "token": self.tokens.session, **fields}
        return read_reply(SessionStatus, await self._channel.transport.request(op, whole, timeout_s))

    def note(self, error: EnvhubError) -> None:
        """Take over what a failed step tells about the episode."""
        if error.code in _ENDINGS:
            self.end = _ENDINGS[error.code]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it on the server unless it is known to have ended. That it cannot be closed is no reason to hide
        what happened within the block: its lease ends it."""
        self._channel.leases.remove(self.id)
        if self.ended:
            self._channel.transport.release(self.id)
            return
        try:
            await self.close()
        except EnvhubError:
            self._channel.transport.release(self.id)

    def __repr__(self) -> str:
        return f"<Session {self.id} of {self.facts.environment}, task {self.task.id}, {self.steps} steps>"


_ENDINGS: dict[str, EndReason] = {
    "lease_lost": "lease_lost",
    "step_timeout": "step_deadline",
    "environment": "error",
    "sandbox": "error",
    "grading": "unresolved",
}
"""Errors of a step that tell how the episode ended."""


def action_of(action: ActionLike) -> Action:
    """An action in its one form.

    Raises:
        InvalidRequest: no action, or an empty list of calls.
    """
    if isinstance(action, Action):
        return action
    if isinstance(action, str):
        return Action(message=action)
    if isinstance(action, ToolCall):
        return Action(tool_calls=(action,))
    calls = tuple(call for call in action if isinstance(call, ToolCall)) if isinstance(action, Sequence) else ()
    if calls and len(calls) == len(action):
        return Action(tool_calls=calls)
    raise InvalidRequest(f"an action is a str, a ToolCall, an Action or a list of ToolCall, not {action!r}")


def action_fields(action: ActionLike) -> JsonObject:
    """An action as it crosses the wire. The message, the most frequent one, is not validated here: the server does."""
    if isinstance(action, str):
        return {"message": action}
    whole = action_of(action)
    if whole.message is not None:
        return {"message": whole.message}
    return {"tool_calls": [_call_fields(call) for call in whole.tool_calls]}


def _call_fields(call: ToolCall) -> JsonObject:
    fields: JsonObject = {"name": call.name, "arguments": call.arguments}
    if call.id is not None:
        fields["id"] = call.id
    return fields


def read_record(session_id: str, reply: object) -> Trajectory:
    """The one trajectory in a server's JSONL: text over HTTP, the field `jsonl` over a WebSocket."""
    if isinstance(reply, dict):
        reply = reply.get("jsonl")
    if not isinstance(reply, str):
        raise ServerError(f"the server's record of session {session_id} is no JSONL text")
    found = read_trajectories(reply.split("\n"))
    if len(found) != 1:
        raise ServerError(f"the server's record of session {session_id} holds {len(found)} episodes, not one")
    return found[0]


__all__ = [
    "ActionLike",
    "Session",
    "SessionFacts",
    "SessionTokens",
    "action_fields",
    "action_of",
    "read_record",
]
