"""Agent: the handle an oracle acts through. It holds the agent token and nothing else, and speaks MCP by the
official SDK, as any stock client would."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ImageContent, TextContent

from envhub.sdk.messages import Action, ImagePart, Observation, TextPart
from envhub.sdk.wire import Opened
from envhub.validate.api import CALL_DEADLINE_S

ACT = "act"


class Agent:
    """What `solve(task, agent)` is given."""

    def __init__(self, client: Client, first: Observation, has_ended: Callable[[], Awaitable[bool]]) -> None:
        self._client = client
        self._has_ended = has_ended
        self.observation = first
        """The latest observation."""
        self.done = False
        """The episode has ended."""
        self.actions: list[Action] = []
        """What was done so far."""
        self.texts: list[str] = []
        """What was read after each action."""

    async def act(self, message: str) -> Observation:
        """Send a message as the next action."""
        return await self._send(Action(message=message), ACT, {"message": message})

    async def call(self, tool: str, /, **arguments: Any) -> Observation:
        """Call a tool as the next action."""
        return await self._send(Action.call(tool, **arguments), tool, arguments)

    async def _send(self, action: Action, tool: str, arguments: dict[str, Any]) -> Observation:
        result = await self._client.call_tool(tool, arguments)
        self.actions.append(action)
        self.observation = as_observation(result)
        self.texts.append(self.observation.text)
        # Only the control side may say that the episode is over, so the validator asks there.
        self.done = await self._has_ended()
        return self.observation


def as_observation(result: CallToolResult) -> Observation:
    """What an MCP client sees of a step."""
    parts: list[TextPart | ImagePart] = []
    for block in result.content:
        if isinstance(block, TextContent):
            parts.append(TextPart(text=block.text))
        elif isinstance(block, ImageContent):
            parts.append(ImagePart(media_type=block.mime_type, data=block.data))
    return Observation(parts=tuple(parts))


@asynccontextmanager
async def connect_mcp(url: str, opened: Opened) -> AsyncIterator[Client]:
    """A stock MCP client on a session, with its agent token."""
    headers = {"Authorization": f"Bearer {opened.agent_token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=CALL_DEADLINE_S) as http:
        transport = streamable_http_client(url + opened.mcp_path, http_client=http)
        async with Client(transport, read_timeout_seconds=CALL_DEADLINE_S) as client:
            yield client


__all__ = ["ACT", "Agent", "as_observation", "connect_mcp"]
