"""Requests and replies of protocol v1, shared by server and clients. docs/protocol.md is normative."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from envhub.sdk.messages import Action, EndReason, JsonObject, Observation, StepResult, WireModel
from envhub.sdk.task import Task

PROTOCOL = "1.0"
SUBPROTOCOLS = ("envhub.v1.json", "envhub.v1.msgpack")
"""WebSocket subprotocols: JSON text frames, msgpack binary frames."""

Driver = Literal["control", "mcp"]
SessionState = Literal["open", "ended"]


class OpenRequest(WireModel):
    """POST /v1/sessions. Fields left out take the manifest's values."""

    environment: str | None = None
    """Name; may be left out where the server hosts one."""
    task: str | None = None
    """Task id; None: one is chosen from the split by the seed."""
    split: str | None = None
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    """The episode's seed; None: the task's own."""
    key: str | None = Field(default=None, min_length=8, max_length=128)
    """Client key: opening again with the same key and request returns the same session."""
    driver: Driver = "control"
    max_turns: int | None = Field(default=None, gt=0)
    """At most the manifest's max_turns."""
    lease_s: float | None = Field(default=None, gt=0, le=86_400)
    step_deadline_s: float | None = Field(default=None, gt=0, le=86_400)
    episode_deadline_s: float | None = Field(default=None, gt=0, le=86_400)
    wait_s: float = Field(default=10.0, ge=0, le=600)
    """How long to wait for a place where the server is full."""


class Opened(WireModel):
    """Reply to an open."""

    session: str
    session_token: str
    """Steps, reads and closes this session."""
    agent_token: str
    """Only calls this session's tools over MCP; for the agent's side."""
    environment: str
    task: Task
    task_digest: str
    observation: Observation
    driver: Driver
    max_turns: int
    lease_s: float
    mcp_path: str
    """Path of the session's MCP endpoint on this server."""


class StepRequest(WireModel):
    """POST /v1/sessions/{id}/step."""

    index: Annotated[int, Field(ge=0)]
    """The number of steps taken so far. The last index again, with the same action, returns the stored result."""
    action: Action


class Stepped(WireModel):
    """Reply to a step."""

    index: int
    result: StepResult


class SessionStatus(WireModel):
    """GET /v1/sessions/{id}, and the reply to renew and close."""

    session: str
    state: SessionState
    environment: str
    task: str
    driver: Driver
    steps: int
    """Steps taken: the next index."""
    running: bool
    """A step is being worked on."""
    reward: float | None
    """The return so far; final once the state is ended. None where the ending has none."""
    rewards: dict[str, float]
    end: EndReason | None
    error: JsonObject | None
    """Problem document of what ended it, where something failed."""
    lease_left_s: float


class TaskPage(WireModel):
    """GET /v1/tasks."""

    environment: str
    splits: dict[str, int | None]
    """Number of tasks by split; None: infinite."""
    tasks: tuple[Task, ...]
    next_offset: int | None
    """None: this was the last page."""


class EnvironmentInfo(WireModel):
    """One hosted environment."""

    name: str
    title: str
    version: str
    summary: str
    status: Literal["proven", "deterministic-only", "unproven"]
    isolation: Literal["inline", "process"]
    capabilities: tuple[str, ...]
    max_turns: int
    splits: dict[str, int | None]


class ServerInfo(WireModel):
    """GET /v1/info."""

    protocols: tuple[str, ...]
    server: str
    """envhub's version."""
    environments: tuple[EnvironmentInfo, ...]
    max_sessions: int
    sessions: int
    """Live now."""
    limits: dict[str, float]


class EnvironmentSchema(WireModel):
    """GET /v1/schema."""

    environment: str
    accepts_messages: bool
    tools: tuple[JsonObject, ...]
    """name, description, parameters (JSON schema), exclusive, terminal."""
    criteria: dict[str, float]
    """Weight by criterion of the rubric; empty where rewards come from the steps."""


class BatchReply(WireModel):
    """POST /v1/batch: one of `ok` or `error` per item, in order."""

    items: tuple[dict[str, Any], ...]


__all__ = [
    "PROTOCOL",
    "SUBPROTOCOLS",
    "BatchReply",
    "Driver",
    "EnvironmentInfo",
    "EnvironmentSchema",
    "OpenRequest",
    "Opened",
    "ServerInfo",
    "SessionState",
    "SessionStatus",
    "StepRequest",
    "Stepped",
    "TaskPage",
]
