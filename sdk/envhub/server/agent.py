"""Agent: a session as its agent has it. What the MCP endpoint shows of a result is its observation alone."""

from __future__ import annotations

from envhub.sdk.messages import Action, Message, Observation, StepResult
from envhub.sdk.wire import Stepped
from envhub.server.hosting import HostedEnvironment
from envhub.server.session import Session


class Agent:
    """Implements `envhub.server.mcp.AgentSession`."""

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def hosted(self) -> HostedEnvironment:
        """Its environment."""
        return self._session.hosted

    @property
    def prompt(self) -> tuple[Message, ...]:
        """The task's prompt."""
        return self._session.task.prompt

    @property
    def first_observation(self) -> Observation:
        """What reset returned."""
        return self._session.observation

    @property
    def ended(self) -> bool:
        """The episode is over."""
        return self._session.end is not None

    async def act(self, action: Action) -> StepResult:
        """Take the next index, after whatever runs now: how an agent's tool calls become steps."""
        session = self._session
        if session.terms.driver == "mcp":
            await session.idle()
        reply = await session.submit(session.steps, action, "mcp").wait()
        return Stepped.model_validate_json(reply).result


__all__ = ["Agent"]
