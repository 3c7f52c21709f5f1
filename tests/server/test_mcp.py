"""The MCP endpoint, with the SDK's own client against the real application."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ImageContent, TextContent

from envhub.sdk import load
from envhub.sdk.wire import Opened, OpenRequest
from envhub.server.app import Server, open_server
from envhub.server.config import ServeOptions

MANIFEST = """
name = "{name}"
summary = "For tests."
isolation = "inline"
licences = {{ wrapper = "Apache-2.0", data = "CC0-1.0" }}
"""
TOOLS = '''
import asyncio
from envhub.sdk import *

class Environment(Environment):
    rubric = Rubric(Criterion("solved", lambda environment: 1.0))

    @classmethod
    def tasks(cls):
        prompt = (Message(role="system", content="Be brief."), Message(role="user", content="Find the key."))
        return ListedTasks([Task(id="one", prompt=prompt, private={"answer": "42"})])

    def reset(self, task):
        return Observation.of("You are in a room.", ImagePart(data="aW1hZ2U="))

    @tool
    async def wait(self, seconds: float) -> str:
        """Wait a while."""
        await asyncio.sleep(seconds)
        self.add_reward("patience", 0.25)
        return f"waited {seconds:g} s"

    @tool
    def look(self) -> tuple[TextPart | ImagePart, ...]:
        """Look around."""
        return TextPart(text="a picture"), ImagePart(data="aW1hZ2U=")

    @tool
    def stumble(self) -> str:
        """Go wrong."""
        raise ToolError("there is no way")

    @tool
    def crash(self) -> str:
        """Break."""
        raise KeyError(self.task.private["answer"])

    @tool(terminal=True)
    def leave(self) -> str:
        """Leave the room."""
        return "you left"
'''
TALK = """
from envhub.sdk import *

class Environment(Environment):
    @classmethod
    def tasks(cls):
        return ListedTasks([Task(id="one")])

    def reset(self, task):
        return "Say something."

    async def step(self, action):
        return StepResult(observation=Observation.of(f"you said {action.message}"), reward=1.0, rewards={"talk": 1.0})
"""
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


def written(folder: Path, name: str, code: str) -> Path:
    folder.mkdir()
    (folder / "envhub.toml").write_text(MANIFEST.format(name=name))
    (folder / "env.py").write_text(code)
    return folder


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    folders = [written(tmp_path / "tools", "tools", TOOLS), written(tmp_path / "talk", "talk", TALK)]
    environments = [load(str(folder)) for folder in folders]
    async with open_server(environments, ServeOptions(environments=("tools", "talk"))) as server:
        yield server


async def opened(server: Server, environment: str = "tools", driver: str = "mcp") -> Opened:
    request = OpenRequest.model_validate({"environment": environment, "driver": driver})
    return (await server.registry.open(request))[0]


def web(server: Server, token: str | None) -> httpx2.AsyncClient:
    """An HTTP client of the in-memory application, as it is reached on loopback."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=server), base_url="http://127.0.0.1:8400", headers=headers
    )


@asynccontextmanager
async def agent(server: Server, session: Opened, mode: str = "auto") -> AsyncIterator[Client]:
    """The SDK's own client, with the session's agent token."""
    async with web(server, session.agent_token) as http:
        transport = streamable_http_client(f"http://127.0.0.1:8400{session.mcp_path}", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


def texts(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, TextContent)]


def request(method: str, id_: int = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


ACCEPT = {"accept": "application/json, text/event-stream"}
INITIALIZE = request(
    "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "raw", "version": "1"}
)


@MODES
async def test_a_stock_client_lists_and_calls_tools_and_the_steps_are_recorded(server: Server, mode: str) -> None:
    session = await opened(server)
    async with agent(server, session, mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["wait", "look", "stumble", "crash", "leave"]
        assert tools["wait"].description == "Wait a while."
        assert tools["wait"].input_schema["properties"]["seconds"]["type"] == "number"
        assert texts(await client.call_tool("wait", {"seconds": 0})) == ["waited 0 s"]
        assert texts(await client.call_tool("leave", {})) == ["you left"]
    status = server.registry.session(session.session).status()
    assert (status.state, status.end, status.steps) == ("ended", "terminated", 2)
    assert status.rewards == {"patience": 0.25, "solved": 1.0}
    records = [json.loads(line) for line in server.registry.session(session.session).ledger.read().splitlines()]
    assert [record["record"] for record in records] == ["open", "step", "step", "end"]
    assert records[1]["action"]["tool_calls"][0]["name"] == "wait"


@MODES
async def test_a_client_is_told_the_task_and_what_is_seen_first(server: Server, mode: str) -> None:
    async with agent(server, await opened(server), mode) as client:
        assert client.instructions == "Be brief.\n\nFind the key.\n\nYou are in a room."
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["task"]
        messages = (await client.get_prompt("task")).messages
        assert [message.content.type for message in messages] == ["text", "text", "text", "image"]
        with pytest.raises(MCPError, match="no prompt 'other'"):
            await client.get_prompt("other")


async def test_pictures_come_as_image_content(server: Server) -> None:
    async with agent(server, await opened(server)) as client:
        text, image = (await client.call_tool("look", {})).content
        assert isinstance(text, TextContent)
        assert isinstance(image, ImageContent)
        assert (image.mime_type, base64.b64decode(image.data)) == ("image/png", b"image")


@MODES
async def test_results_never_hold_a_reward(server: Server, mode: str) -> None:
    async with agent(server, await opened(server), mode) as client:
        for tool, arguments in (("wait", {"seconds": 0}), ("leave", {})):
            said = (await client.call_tool(tool, arguments)).model_dump_json()
            assert not any(word in said for word in ("reward", "patience", "solved", "0.25", "terminated"))


async def test_what_the_model_did_wrong_is_an_error_result_and_a_step(server: Server) -> None:
    session = await opened(server)
    async with agent(server, session) as client:
        for tool, arguments, said in [
            ("stumble", {}, "there is no way"),
            ("fly", {}, "no tool 'fly'"),
            ("wait", {"seconds": "long"}, "seconds"),
            ("act", {"message": "hello"}, "no tool 'act'"),
        ]:
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert said in texts(result)[0]
    assert server.registry.session(session.session).status().steps == 4


async def test_a_message_only_environment_has_the_one_tool_act(server: Server) -> None:
    session = await opened(server, "talk")
    async with agent(server, session) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["act"]
        assert texts(await client.call_tool("act", {"message": "hello"})) == ["you said hello"]
        for wrong in ({}, {"message": 7}, {"message": "a", "more": "b"}):
            assert (await client.call_tool("act", wrong)).is_error
    assert server.registry.session(session.session).status().steps == 1


@MODES
async def test_after_the_end_every_call_is_an_error_result(server: Server, mode: str) -> None:
    session = await opened(server)
    async with agent(server, session, mode) as client:
        await client.call_tool("leave", {})
        for tool in ("look", "leave", "fly"):
            result = await client.call_tool(tool, {})
            assert (result.is_error, texts(result)) == (True, ["the episode has ended"])
    assert server.registry.session(session.session).status().steps == 1


async def test_a_failure_tells_the_agent_nothing_of_its_cause(server: Server) -> None:
    session = await opened(server)
    async with agent(server, session) as client:
        result = await client.call_tool("crash", {})
    assert (result.is_error, texts(result)) == (True, ["the environment broke; the episode has ended"])
    status = server.registry.session(session.session).status()
    assert (status.end, status.reward) == ("error", None)
    assert status.error is not None
    assert "KeyError" in status.error["detail"]


async def test_a_session_driven_by_control_refuses_calls(server: Server) -> None:
    session = await opened(server, driver="control")
    async with agent(server, session) as client:
        result = await client.call_tool("look", {})
    assert result.is_error
    assert "driven by control" in texts(result)[0]
    status = server.registry.session(session.session).status()
    assert (status.state, status.steps) == ("open", 0)


async def test_closing_the_session_answers_the_call_that_runs(server: Server) -> None:
    session = await opened(server)
    async with agent(server, session) as client:
        running = asyncio.create_task(client.call_tool("wait", {"seconds": 600}))
        while not server.registry.session(session.session).running:
            await asyncio.sleep(0.01)
        server.registry.session(session.session).cut("closed")
        result = await running
    assert (result.is_error, texts(result)) == (True, ["the episode has ended"])


async def test_only_the_sessions_own_agent_token_opens_it(server: Server) -> None:
    session, other = await opened(server), await opened(server)
    for token, status, code in [
        (None, 401, "unauthorized"),
        ("nonsense", 401, "unauthorized"),
        (server.token, 403, "forbidden"),
        (session.session_token, 403, "forbidden"),
        (other.agent_token, 403, "forbidden"),
    ]:
        async with web(server, token) as http:
            answer = await http.post(session.mcp_path, content=b"this is no JSON", headers=ACCEPT)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([], 200),
        ([("origin", "http://localhost:5173")], 200),
        ([("origin", "http://[::1]:80")], 200),
        ([("origin", "https://evil.example")], 403),
        ([("origin", "http://localhost.evil.example")], 403),
        ([("origin", "null")], 403),
        ([("origin", "http://localhost"), ("origin", "http://localhost")], 403),
        ([("host", "evil.example")], 403),
    ],
)
async def test_pages_of_other_origins_are_refused(server: Server, headers: list[tuple[str, str]], status: int) -> None:
    session = await opened(server)
    async with web(server, session.agent_token) as http:
        answer = await http.post(session.mcp_path, json=INITIALIZE, headers=[*ACCEPT.items(), *headers])
    assert answer.status_code == status


async def test_the_same_request_id_in_flight_twice_never_crosses(server: Server) -> None:
    session = await opened(server)
    slow = request("tools/call", name="wait", arguments={"seconds": 0.2})
    fast = request("tools/call", name="wait", arguments={"seconds": 0})
    async with web(server, session.agent_token) as one, web(server, session.agent_token) as two:
        first = asyncio.create_task(one.post(session.mcp_path, json=slow, headers=ACCEPT))
        await asyncio.sleep(0.05)
        second = await two.post(session.mcp_path, json=fast, headers=ACCEPT)
        answers = [(await first).json(), second.json()]
    assert [answer["result"]["content"][0]["text"] for answer in answers] == ["waited 0.2 s", "waited 0 s"]


async def test_sessions_side_by_side_keep_their_own(server: Server) -> None:
    tools, talk = await opened(server), await opened(server, "talk")
    async with agent(server, tools) as one, agent(server, talk, "legacy") as two:
        results = await asyncio.gather(
            *(one.call_tool("wait", {"seconds": number / 1000}) for number in range(5)),
            *(two.call_tool("act", {"message": str(number)}) for number in range(5)),
        )
    expected = [*(f"waited {number / 1000:g} s" for number in range(5)), *(f"you said {number}" for number in range(5))]
    assert [texts(result)[0] for result in results] == expected


async def test_ping_is_answered(server: Server) -> None:
    session = await opened(server)
    async with web(server, session.agent_token) as http:
        answer = await http.post(session.mcp_path, json=request("ping"), headers=ACCEPT)
    assert answer.json() == {"jsonrpc": "2.0", "id": 1, "result": {}}


async def test_bad_requests_are_refused_and_harm_nothing(server: Server) -> None:
    session = await opened(server)
    async with web(server, session.agent_token) as http:
        for method in ("GET", "DELETE"):
            assert (await http.request(method, session.mcp_path, headers=ACCEPT)).status_code == 405
        json_type = {**ACCEPT, "content-type": "application/json"}
        assert (await http.post(session.mcp_path, content=b"{", headers=json_type)).status_code == 400
        large = await http.post(session.mcp_path, content=b" " * 2_000_000, headers=json_type)
        assert (large.status_code, large.json()["code"]) == (413, "too_large")
        unknown = await http.post(session.mcp_path, json=request("tools/fly"), headers=ACCEPT)
        assert unknown.json()["error"]["code"] == -32601
    assert server.registry.session(session.session).status().steps == 0
