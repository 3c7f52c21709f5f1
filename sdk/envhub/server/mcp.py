"""McpEndpoint: a session's tools for stock MCP clients, by the official SDK, at /v1/sessions/{id}/mcp.

Stateless Streamable HTTP: the session lives in the URL and the token, so clients of the handshake revisions and of
2026-07-28 both work, and the answers of two connections never meet. One SDK server serves every session; which one a
request is for travels in a context variable. Nothing here knows a reward.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from importlib.metadata import version
from typing import Any, Protocol
from urllib.parse import urlsplit

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.models import InitializationOptions
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from envhub.sdk.environment import Environment
from envhub.sdk.errors import (
    EnvhubError,
    Forbidden,
    LeaseLost,
    NotFound,
    RequestError,
    SessionEnded,
    StepTimeout,
    TooLarge,
)
from envhub.sdk.messages import Action, Message, Observation, StepResult, ToolCall
from envhub.server.config import Limits
from envhub.server.hosting import HostedEnvironment
from envhub.server.http import problem_response
from envhub.server.mcp_content import instructions_of, prompt_messages, refusal, result_of

PROMPT = "task"
ENDED = "the episode has ended"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_ENVELOPE_BYTES = 65_536
"""What a JSON-RPC request may have around its action."""
_ACT = types.Tool(
    name="act",
    description="Send a message to the environment and read its answer.",
    input_schema={
        "type": "object",
        "properties": {"message": {"type": "string"}},
        "required": ["message"],
        "additionalProperties": False,
    },
)


class AgentSession(Protocol):
    """What an agent may do with its session."""

    @property
    def hosted(self) -> HostedEnvironment: ...
    @property
    def prompt(self) -> tuple[Message, ...]: ...
    @property
    def first_observation(self) -> Observation: ...
    @property
    def ended(self) -> bool: ...

    async def act(self, action: Action) -> StepResult:
        """Take the next step, after those already asked for.

        Raises:
            Conflict: the session is driven by `control`.
            SessionEnded, LeaseLost: the episode is over.
            EnvhubError: the step failed.
        """
        ...


class SessionsForAgents(Protocol):
    """Where sessions are found."""

    def for_agent(self, session_id: str, authorization: str | None) -> AgentSession:
        """The session of this id, for an Authorization header.

        Raises:
            Unauthorized: no valid token.
            Forbidden: not this session's agent token.
            NotFound: no such session.
        """
        ...


_session: ContextVar[AgentSession] = ContextVar("envhub_mcp_session")


class McpEndpoint:
    """An ASGI application for every /v1/sessions/{id}/mcp. Use within `run`."""

    def __init__(self, sessions: SessionsForAgents, limits: Limits | None = None) -> None:
        self._sessions = sessions
        self._limit_bytes = (limits or Limits()).action_bytes + _ENVELOPE_BYTES
        self._manager = StreamableHTTPSessionManager(
            _server(), json_response=True, stateless=True, max_request_body_size=self._limit_bytes
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve until the end of the block."""
        started, stop = asyncio.Event(), asyncio.Event()
        # The SDK's scope must be left by the task that entered it; a caller's exit stack does not promise that.
        async with asyncio.TaskGroup() as group:
            group.create_task(self._hold(started, stop))
            await started.wait()
            try:
                yield
            finally:
                stop.set()

    async def _hold(self, started: asyncio.Event, stop: asyncio.Event) -> None:
        async with self._manager.run():
            started.set()
            await stop.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            _check_source(scope, headers)
            if scope["method"] != "POST":
                not_here = Response("this endpoint has no stream of its own; POST to it", 405, {"Allow": "POST"})
                return await not_here(scope, receive, send)
            session = self._sessions.for_agent(_session_id(scope["path"]), headers.get("authorization"))
            self._check_size(headers)
        except EnvhubError as error:
            return await problem_response(error)(scope, receive, send)
        chosen = _session.set(session)
        try:
            await self._manager.handle_request(scope, receive, send)
        finally:
            _session.reset(chosen)

    def _check_size(self, headers: Headers) -> None:
        declared = headers.get("content-length", "0")
        if declared.isdigit() and int(declared) > self._limit_bytes:
            raise TooLarge(f"the body has {declared} bytes; at most {self._limit_bytes} are read")


def _check_source(scope: Scope, headers: Headers) -> None:
    """Refuse what a web page elsewhere makes a browser send here: a foreign Origin, or a rebound Host name."""
    origins = headers.getlist("origin")
    if len(origins) > 1 or (origins and _host_of(origins[0]) not in LOOPBACK):
        raise Forbidden(f"requests of web pages ({', '.join(origins)}) are not accepted; send no Origin header")
    here = (scope.get("server") or ("", None))[0]
    host = headers.get("host", "")
    if here in LOOPBACK and _host_of(f"//{host}") not in LOOPBACK:
        raise Forbidden(f"this server listens on loopback; it is not called {host!r}")


def _session_id(path: str) -> str:
    """Of `/v1/sessions/{id}/mcp`."""
    parts = path.split("/")
    if len(parts) != 5:
        raise NotFound(f"no path {path!r} here; a session's tools are at /v1/sessions/ID/mcp")
    return parts[3]


def _host_of(address: str) -> str | None:
    with contextlib.suppress(ValueError):
        return urlsplit(address).hostname
    return None


# -- the SDK's server -------------------------------------------------------------------------------------------


class _Server(Server[Any]):
    """The SDK's server, whose instructions are those of the request's session."""

    def create_initialization_options(self, *args: Any, **kwargs: Any) -> InitializationOptions:
        options = super().create_initialization_options(*args, **kwargs)
        return options.model_copy(update={"instructions": _instructions()})


def _server() -> _Server:
    server = _Server(
        "envhub",
        version=version("envhub"),
        get_tool_input_schema=_input_schema,
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )
    server.middleware.clear()  # a tracing span for every call, which nobody collects

    async def discover(context: Any, _: types.RequestParams) -> types.DiscoverResult:
        return types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=server.get_capabilities(protocol_version=context.protocol_version),
            instructions=_instructions(),
        )

    server.add_request_handler("server/discover", types.RequestParams, discover)
    return server


def _environment() -> type[Environment]:
    return _session.get().hosted.loaded.cls


def _instructions() -> str:
    session = _session.get()
    return instructions_of(session.prompt, session.first_observation)


def _has_act(cls: type[Environment]) -> bool:
    return _ACT.name not in cls.tools and (cls.accepts_messages() or not cls.tools)


async def _list_tools(_: Any, __: Any) -> types.ListToolsResult:
    cls = _environment()
    tools = [
        types.Tool(name=tool.name, description=tool.description, input_schema=tool.parameters)
        for tool in cls.tools.values()
    ]
    return types.ListToolsResult(tools=[*tools, _ACT] if _has_act(cls) else tools)


def _input_schema(name: str) -> Mapping[str, Any] | None:
    cls = _environment()
    tool = cls.tools.get(name)
    if tool is not None:
        return tool.parameters
    return _ACT.input_schema if name == _ACT.name and _has_act(cls) else None


async def _call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    """One call is one step; what it may not be is an error the model reads, never a protocol error."""
    session = _session.get()
    arguments = params.arguments or {}
    if session.ended:
        return refusal(ENDED)
    if params.name == _ACT.name and _has_act(_environment()):
        message = arguments.get("message")
        if not isinstance(message, str) or len(arguments) != 1:
            return refusal("act takes one argument: message, a string")
        action = Action(message=message)
    else:
        action = Action(tool_calls=(ToolCall(name=params.name, arguments=arguments),))
    try:
        return result_of((await session.act(action)).observation)
    except EnvhubError as error:
        return refusal(_for_the_agent(error))


def _for_the_agent(error: EnvhubError) -> str:
    """What an agent may read of an error. The text of a failure is the control side's: it may hold answers."""
    if isinstance(error, (SessionEnded, LeaseLost)):
        return ENDED
    if isinstance(error, StepTimeout):
        return f"the step took too long and was stopped; {ENDED}"
    if isinstance(error, RequestError):
        return error.message
    return f"the environment broke; {ENDED}"


async def _list_prompts(_: Any, __: Any) -> types.ListPromptsResult:
    task = types.Prompt(name=PROMPT, title="The task", description="The task and what is seen first.")
    return types.ListPromptsResult(prompts=[task])


async def _get_prompt(_: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    if params.name != PROMPT:
        raise MCPError(types.INVALID_PARAMS, f"no prompt {params.name!r}; there is {PROMPT!r}")
    session = _session.get()
    messages = prompt_messages(session.prompt, session.first_observation)
    return types.GetPromptResult(description="The task and what is seen first.", messages=messages)


__all__ = ["AgentSession", "McpEndpoint", "SessionsForAgents"]
