"""protocol.mcp_*: an agent's token and tools, and nothing of the control side."""

from __future__ import annotations

from typing import Any

from mcp import MCPError

from envhub.sdk.errors import EnvhubError
from envhub.sdk.messages import Action, JsonObject
from envhub.validate.agent import ACT, connect_mcp
from envhub.validate.bench import Bench
from envhub.validate.protocol.expect import refused, same, send_step, session
from envhub.validate.report import CheckFailed

CONTROL_KEYS = frozenset({"reward", "rewards", "end", "terminated", "truncated", "info", "private", "session_token"})
LIST_TOOLS: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
MCP_HEADERS = {"Accept": "application/json, text/event-stream"}


async def check_mcp_end(bench: Bench) -> None:
    """A tool call is a step, recorded with its end; results have no reward; after the end every call is an error."""
    action = _some_call(bench)
    name, arguments = _as_call(action)
    async with session(bench, driver="mcp", max_turns=1) as opened:
        async with connect_mcp(bench.api.url, opened) as client:
            if not client.instructions:
                raise CheckFailed("the MCP server has no instructions: the prompt and first observation belong there")
            result = await client.call_tool(name, arguments)
            status = await bench.api.status(opened, wait_s=30)
            after = await client.call_tool(name, arguments)
        same((status.steps, status.state), (1, "ended"), "a tool call of a session with max_turns = 1")
        if not after.is_error:
            raise CheckFailed("a tool call after the end was answered without isError")
        same((await bench.api.status(opened)).steps, 1, "a tool call after the end took a step")
    for each in (result, after):
        shown = CONTROL_KEYS & set(_keys(each.model_dump(mode="json")))
        if shown:
            raise CheckFailed(f"an MCP result has {', '.join(sorted(shown))}, which is for the control side")


async def check_mcp_token(bench: Bench) -> None:
    """Only the session's own agent token opens its MCP endpoint."""
    async with session(bench, driver="mcp") as opened, session(bench, driver="mcp") as other:
        path = opened.mcp_path
        for who, token, status in (
            ("no token", None, 401),
            ("a wrong token", "not-a-token", 401),
            ("another session's agent token", other.agent_token, 403),
            ("the session token", opened.session_token, 403),
            ("the server token", bench.api.token, 403),
        ):
            response = await bench.api.send(
                "POST", path, token=token, anonymous=token is None, body=LIST_TOOLS, headers=MCP_HEADERS
            )
            refused(response, status, "unauthorized" if status == 401 else "forbidden", f"MCP with {who}")


async def check_driver(bench: Bench) -> None:
    """One driver a session: the other's calls are refused and take no step."""
    async with session(bench, driver="mcp") as opened:
        refused(await send_step(bench, opened, 0), 409, "conflict", "a control step on a session driven by mcp")
        same((await bench.api.status(opened)).steps, 0, "a refused step was counted")
    async with session(bench, driver="control") as opened:
        try:
            async with connect_mcp(bench.api.url, opened) as client:
                name, arguments = _as_call(_some_call(bench))
                allowed = not (await client.call_tool(name, arguments)).is_error
        except (MCPError, EnvhubError, BaseExceptionGroup):  # refused already at the door
            allowed = False
        if allowed or (await bench.api.status(opened)).steps:
            raise CheckFailed("a tool call over MCP advanced a session that the control side drives")


def _some_call(bench: Bench) -> Action:
    if bench.schema.accepts_messages:
        return Action(message="hello")
    return Action.call(bench.schema.tools[0]["name"])


def _as_call(action: Action) -> tuple[str, dict[str, Any]]:
    if action.message is not None:
        return ACT, {"message": action.message}
    return action.tool_calls[0].name, {}


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*(_keys(each) for each in value.values()))
    if isinstance(value, list):
        return set().union(*(_keys(each) for each in value))
    return set()


__all__ = ["check_driver", "check_mcp_end", "check_mcp_token"]
