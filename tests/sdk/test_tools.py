"""@tool: schemas, argument checks and what a call gives back."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from pydantic import Field

from envhub.sdk import Environment, ImagePart, TextPart, ToolCall, ToolError, ToolResultPart, tool
from envhub.sdk.tools import call_tool, read_arguments


class Desk(Environment):
    """Tools of every kind."""

    @tool
    def add(self, left: int, right: Annotated[int, Field(description="second summand", ge=0)] = 1) -> str:
        """Add two numbers.

        More text.
        """
        return str(left + right)

    @tool(name="look-up", exclusive=True)
    async def look_up(self, json: str, copy: list[str] | None = None) -> str:
        """Arguments named like a model's methods."""
        return json + ",".join(copy or [])

    @tool
    def refuse(self) -> str:
        raise ToolError("the drawer is locked")

    @tool
    def raises(self) -> str:
        raise OSError("disk gone")

    @tool(timeout_s=0.01)
    async def hang(self) -> str:
        await asyncio.Event().wait()
        return "never"

    @tool(timeout_s=60)
    async def inner_timeout(self) -> str:
        raise TimeoutError("its own")

    @tool
    def nothing(self) -> None:
        """Returns None."""

    @tool
    def picture(self) -> tuple[str, ImagePart] | Any:
        return "a cat", ImagePart(data="aGk=")

    @tool
    def number(self) -> Any:
        return 3

    def not_a_tool(self) -> str:
        return "hidden"


async def call(name: str, arguments: Any = None) -> ToolResultPart:
    return await call_tool(Desk(), Desk.tools, ToolCall(name=name, arguments=arguments or {}, id="call_1"))


def text(result: ToolResultPart) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextPart))


def test_only_marked_methods_are_tools_in_order_of_definition() -> None:
    assert list(Desk.tools)[:3] == ["add", "look-up", "refuse"]
    assert "not_a_tool" not in Desk.tools


def test_schema_follows_from_signature_and_docstring() -> None:
    schema = Desk.tools["add"].schema
    assert schema["description"] == "Add two numbers.\n\nMore text."
    assert schema["parameters"]["required"] == ["left"]
    assert schema["parameters"]["additionalProperties"] is False
    assert schema["parameters"]["properties"]["right"]["description"] == "second summand"
    assert schema["parameters"]["properties"]["right"]["default"] == 1
    assert (schema["exclusive"], schema["terminal"]) == (False, False)
    assert Desk.tools["look-up"].exclusive


def test_subclass_inherits_and_overrides_tools() -> None:
    class Bigger(Desk):
        def add(self, left: int, right: int = 1) -> str:
            return f"{left + right} exactly"

    assert Bigger.tools["add"].attribute == "add"
    assert set(Bigger.tools) == set(Desk.tools)


def test_argument_without_annotation_is_refused_when_the_class_is_made() -> None:
    with pytest.raises(TypeError, match="'left' needs a type annotation"):

        class Untyped(Environment):
            @tool
            def add(self, left) -> str:  # type: ignore[no-untyped-def]
                return str(left)


async def test_arguments_named_like_model_methods_work() -> None:
    assert text(await call("look-up", {"json": "x", "copy": ["y"]})) == "xy"


async def test_result_repeats_the_call_id_and_name() -> None:
    result = await call("add", {"left": 2})
    assert (result.name, result.call_id, result.is_error, text(result)) == ("add", "call_1", False, "3")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "left: Field required"),
        ({"left": 1, "middle": 2}, "middle: Extra inputs"),
        ({"left": 1, "argument_right": 2}, "argument_right: Extra inputs"),
        ({"left": "many"}, "left: Input should be a valid integer"),
        ({"left": 1, "right": -1}, "right: Input should be greater"),
        ('"{\\"left\\": 1}"', "must be a JSON object, not str"),
        ("[1]", "must be a JSON object, not list"),
        ("3", "must be a JSON object, not int"),
        ("null", "must be a JSON object, not NoneType"),
        ("", "left: Field required"),
        ("{left: 1}", "the arguments are not JSON"),
        ("[" * 100_000, "the arguments are not JSON"),
    ],
)
async def test_wrong_arguments_are_an_error_result_the_model_reads(arguments: Any, problem: str) -> None:
    part = await call_tool(Desk(), Desk.tools, ToolCall(name="add", arguments=arguments, id="call_1"))
    assert part.is_error
    assert part.call_id == "call_1"
    assert problem in text(part)


async def test_empty_arguments_mean_none_where_none_is_required() -> None:
    part = await call_tool(Desk(), Desk.tools, ToolCall(name="nothing", arguments=""))
    assert (part.is_error, part.content) == (False, ())


def test_arguments_may_come_as_the_models_own_json_text() -> None:
    assert read_arguments(Desk.tools["add"], ToolCall(name="add", arguments='{"left": 4}')) == {"left": 4, "right": 1}


async def test_unknown_tool_is_an_error_result_that_lists_the_tools() -> None:
    part = await call("fly")
    assert part.is_error
    assert "no tool 'fly'" in text(part)
    assert "look-up" in text(part)


async def test_tool_error_is_an_observation() -> None:
    part = await call("refuse")
    assert (part.is_error, text(part)) == (True, "the drawer is locked")


async def test_own_timeout_is_an_observation() -> None:
    part = await call("hang")
    assert (part.is_error, text(part)) == (True, "hang: timed out after 0.01 s")


async def test_timeout_error_of_the_tools_own_code_is_a_failure() -> None:
    with pytest.raises(TimeoutError, match="its own"):
        await call("inner_timeout")


async def test_any_other_exception_passes_through() -> None:
    with pytest.raises(OSError, match="disk gone"):
        await call("raises")


async def test_content_may_be_several_parts() -> None:
    part = await call("picture")
    assert [piece.type for piece in part.content] == ["text", "image"]


async def test_content_of_another_type_is_the_authors_mistake() -> None:
    with pytest.raises(TypeError, match="'number' returned int"):
        await call("number")
