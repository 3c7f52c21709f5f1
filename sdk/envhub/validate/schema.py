"""schema.*: tools that a model can be given, and observations that give nothing away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from envhub.sdk.messages import JsonObject
from envhub.sdk.task import Task
from envhub.validate.agent import ACT, connect_mcp
from envhub.validate.bench import Bench
from envhub.validate.report import CheckFailed

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MIN_SECRET_LENGTH = 6
MIN_SECRET_TASKS = 3


async def check_tools(bench: Bench) -> None:
    """Every tool has a plain name, a description and an object schema; MCP lists the same tools."""
    names = [tool["name"] for tool in bench.schema.tools]
    if len(set(names)) != len(names):
        raise CheckFailed(f"two tools have one name: {names}")
    if not names and not bench.schema.accepts_messages:
        raise CheckFailed("the environment has no tools and takes no messages, so that nobody can act in it")
    for tool in bench.schema.tools:
        _check_tool(tool)
    expected = {*names, ACT} if bench.schema.accepts_messages else set(names)
    async with (
        bench.api.session(environment=bench.name, task=bench.tasks[0].id, driver="mcp") as opened,
        connect_mcp(bench.api.url, opened) as client,
    ):
        listed = {tool.name for tool in (await client.list_tools()).tools}
    if listed != expected:
        raise CheckFailed(f"MCP lists the tools {sorted(listed)}, the schema says {sorted(expected)}")


def _check_tool(tool: JsonObject) -> None:
    name, parameters = tool["name"], tool["parameters"]
    if not TOOL_NAME.fullmatch(name):
        raise CheckFailed(f"tool {name!r}: use 1 to 64 letters, digits, '_' and '-'")
    if not tool["description"].strip():
        raise CheckFailed(f"tool {name!r} has no description; write its docstring")
    if parameters.get("type") != "object":
        raise CheckFailed(f"tool {name!r}: its parameters are no object schema")
    for argument, schema in parameters.get("properties", {}).items():
        if not {"type", "anyOf", "enum", "const", "$ref", "allOf", "oneOf"} & set(schema):
            raise CheckFailed(f"tool {name!r}: argument {argument!r} has no type")


async def check_observation(bench: Bench) -> None:
    """The first observation says something, and the private part does not shine through.

    A heuristic: private texts of some length that the public part does not have are looked for in the first
    observation. A page may show an answer by chance, so only a leak on most tasks fails.
    """
    leaks: list[str] = []
    searched: list[str] = []

    async def one(task: Task) -> None:
        async with bench.api.session(environment=bench.name, task=task.id, seed=task.seed) as opened:
            pass
        if not opened.observation.parts and not opened.task.prompt:
            raise CheckFailed("neither a prompt nor a first observation: the policy is told nothing")
        public = opened.task.model_dump_json()
        secrets = [text for text in _texts(task.private) if len(text) >= MIN_SECRET_LENGTH and text not in public]
        if secrets:
            searched.append(task.id)
        leaks.extend(f"{task.id} shows {text!r}" for text in secrets[:1] if text in opened.observation.text)

    await bench.each(bench.spread(12), one, "schema.observation")
    if len(searched) >= MIN_SECRET_TASKS and len(leaks) * 2 > len(searched):
        raise CheckFailed(f"private parts are in the first observation of {len(leaks)} tasks, for example {leaks[0]}")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


__all__ = ["check_observation", "check_tools"]
