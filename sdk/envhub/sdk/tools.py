"""`@tool`: a method the agent may call. Its JSON schema and argument checks follow from the signature."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import from_json

from envhub.sdk.errors import EnvironmentFailed, printable
from envhub.sdk.messages import ImagePart, JsonObject, TextPart, ToolCall, ToolResultPart
from envhub.sdk.origin import told

Method = TypeVar("Method", bound=Callable[..., Any])
Content = str | TextPart | ImagePart | tuple[TextPart | ImagePart, ...]
"""What a tool may return; None is allowed too and becomes empty content."""


class ToolError(Exception):
    """Raised by a tool for a failure the model should read about and may recover from: an ordinary observation."""


@dataclass(frozen=True)
class Tool:
    """A tool of an environment class."""

    name: str
    description: str
    parameters: JsonObject
    """JSON schema of the arguments object."""
    exclusive: bool
    """Never runs beside another tool call of the same action."""
    terminal: bool
    """Ends the episode once it has run without an error."""
    timeout_s: float | None
    """Seconds it may take; passing them is an ordinary error result. None: only the step's deadline."""
    arguments: type[BaseModel]
    attribute: str

    @property
    def schema(self) -> JsonObject:
        """What models and /v1/schema are given."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "exclusive": self.exclusive,
            "terminal": self.terminal,
        }


@dataclass(frozen=True)
class _Mark:
    name: str | None
    exclusive: bool
    terminal: bool
    timeout_s: float | None


@overload
def tool(method: Method, /) -> Method: ...
@overload
def tool(
    *, name: str | None = None, exclusive: bool = False, terminal: bool = False, timeout_s: float | None = None
) -> Callable[[Method], Method]: ...
def tool(
    method: Method | None = None,
    /,
    *,
    name: str | None = None,
    exclusive: bool = False,
    terminal: bool = False,
    timeout_s: float | None = None,
) -> Method | Callable[[Method], Method]:
    """Mark a plain or async method of an Environment as a tool.

    The docstring is the tool's description; annotate every argument, with `Annotated[int, Field(description=…)]`
    where the model should be told more.

    Args:
        name: what the agent calls it; default the method's name.
        exclusive: never run it beside another tool call of the same action.
        terminal: the episode ends once it has run without an error.
        timeout_s: seconds it may take; passing them is an error result the model reads.
    """

    def mark(function: Method) -> Method:
        function.__envhub_tool__ = _Mark(name, exclusive, terminal, timeout_s)  # type: ignore[attr-defined]
        return function

    return mark if method is None else mark(method)


def collect_tools(cls: type) -> dict[str, Tool]:
    """The tools of an environment class by name, in order of definition."""
    found: dict[str, Tool] = {}
    for owner in reversed(cls.__mro__):
        for attribute, function in vars(owner).items():
            mark = getattr(function, "__envhub_tool__", None)
            if isinstance(mark, _Mark):
                made = _make_tool(attribute, getattr(cls, attribute), mark)
                found[made.name] = made
    return found


def _make_tool(attribute: str, function: Callable[..., Any], mark: _Mark) -> Tool:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.name not in hints:
            raise TypeError(f"tool {attribute!r}: argument {parameter.name!r} needs a type annotation")
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        # Under an alias, so that an argument may be called `json` or `copy` as the model's own methods are.
        fields[f"argument_{parameter.name}"] = (hints[parameter.name], Field(default=default, alias=parameter.name))
    model = create_model(attribute, __config__=ConfigDict(extra="forbid"), **fields)
    parameters = model.model_json_schema()
    parameters.pop("title", None)
    return Tool(
        name=mark.name or attribute,
        description=inspect.cleandoc(function.__doc__ or ""),
        parameters=parameters,
        exclusive=mark.exclusive,
        terminal=mark.terminal,
        timeout_s=mark.timeout_s,
        arguments=model,
        attribute=attribute,
    )


def read_arguments(tool_: Tool, call: ToolCall) -> dict[str, Any]:
    """The checked arguments of a call.

    Raises:
        ToolError: not a JSON object, unknown or missing arguments, wrong types; the text tells the model which.
    """
    try:
        given = _as_object(call)
        checked = tool_.arguments.model_validate(given)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors()[:5])
        raise ToolError(f"{call.name}: {problems}") from error
    return {name.removeprefix("argument_"): getattr(checked, name) for name in tool_.arguments.model_fields}


def _as_object(call: ToolCall) -> JsonObject:
    given: Any = call.arguments
    if isinstance(given, str):
        try:
            given = from_json(given or "{}", allow_inf_nan=False)
        except ValueError as error:
            raise ToolError(f"{call.name}: the arguments are not JSON: {error}") from error
    if not isinstance(given, dict):
        raise ToolError(f"{call.name}: the arguments must be a JSON object, not {type(given).__name__}")
    return given


async def call_tool(owner: object, tools: dict[str, Tool], call: ToolCall) -> ToolResultPart:
    """Run one call on its owner. What the model did wrong, ToolError and the tool's own time-out are error
    results; anything else the tool raises passes through and fails the environment."""
    try:
        if call.name not in tools:
            raise ToolError(f"no tool {call.name!r}; the tools are {', '.join(tools)}")
        chosen = tools[call.name]
        content = await _run(owner, chosen, read_arguments(chosen, call))
    except ToolError as error:
        text = TextPart(text=printable(str(error)))
        return ToolResultPart(name=call.name, call_id=call.id, content=(text,), is_error=True)
    except (SystemExit, KeyboardInterrupt) as error:  # beside other calls it would end the whole process
        raise EnvironmentFailed(f"the tool {call.name!r} raised {told(error)}") from error
    return ToolResultPart(name=call.name, call_id=call.id, content=_as_content(chosen, content))


async def _run(owner: object, chosen: Tool, arguments: dict[str, Any]) -> Any:
    result = getattr(owner, chosen.attribute)(**arguments)
    if not inspect.isawaitable(result):
        return result
    if chosen.timeout_s is None:
        return await result
    scope = asyncio.timeout(chosen.timeout_s)
    try:
        async with scope:
            return await result
    except TimeoutError:
        if not scope.expired():
            raise
        raise ToolError(f"{chosen.name}: timed out after {chosen.timeout_s:g} s") from None


def _as_content(chosen: Tool, value: Any) -> tuple[TextPart | ImagePart, ...]:
    if value is None:
        return ()
    pieces = value if isinstance(value, tuple) else (value,)
    parts = tuple(TextPart(text=piece) if isinstance(piece, str) else piece for piece in pieces)
    if not all(isinstance(part, (TextPart, ImagePart)) for part in parts):
        raise TypeError(
            f"tool {chosen.name!r} returned {type(value).__name__}; return str, TextPart, ImagePart, a tuple"
        )
    return parts


__all__ = ["Content", "Tool", "ToolError", "call_tool", "collect_tools", "read_arguments", "tool"]
