"""SessionAgent: a session seen from the agent's side, for oracles and others that act and never look at rewards."""

from __future__ import annotations

from typing import Any

from envhub.clients.session import Session
from envhub.sdk.messages import Observation


class SessionAgent:
    """What `async def solve(task, agent)` of an environment's oracle.py acts through."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def observation(self) -> Observation:
        """What it saw last."""
        return self._session.observation

    @property
    def done(self) -> bool:
        """The episode is over."""
        return self._session.ended

    async def act(self, message: str) -> Observation:
        """Send a message."""
        return (await self._session.step(message)).observation

    async def call(self, tool: str, /, **arguments: Any) -> Observation:
        """Call a tool."""
        return (await self._session.call(tool, **arguments)).observation


__all__ = ["SessionAgent"]
