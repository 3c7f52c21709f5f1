"""Junk: policies that know nothing and must earn exactly 0."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from envhub.sdk.errors import EnvhubError
from envhub.sdk.messages import Action, JsonObject
from envhub.sdk.task import Task
from envhub.sdk.wire import Opened
from envhub.validate.bench import Bench
from envhub.validate.episodes import END_WAIT_S, graded
from envhub.validate.report import CheckFailed, reason_of

MAX_TURNS = 4
"""Length of a junk episode, at most."""


@dataclass(frozen=True)
class Scene:
    """What a junk policy may look at."""

    opened: Opened
    tools: tuple[JsonObject, ...]
    random: random.Random
    turn: int


Policy = Callable[[Scene], Action]


def empty(scene: Scene) -> Action:
    """Tool calls without arguments, one tool after the other; empty messages where there is no tool."""
    if not scene.tools or scene.turn == 0:
        return Action(message="")
    return Action.call(scene.tools[(scene.turn - 1) % len(scene.tools)]["name"])


def random_text(scene: Scene) -> Action:
    """Words that nobody knows."""
    words = (_word(scene.random, scene.random.randrange(3, 12)) for _ in range(scene.random.randrange(1, 20)))
    return Action(message=" ".join(words))


def random_calls(scene: Scene) -> Action:
    """A random tool with random arguments that fit its schema; text where there is no tool."""
    if not scene.tools:
        return random_text(scene)
    tool = scene.random.choice(scene.tools)
    return Action.call(tool["name"], **_value(scene.random, {"type": "object", **tool["parameters"]}))


def copied_prompt(scene: Scene) -> Action:
    """What it was told, told back."""
    told = [m.content if isinstance(m.content, str) else "" for m in scene.opened.task.prompt]
    return Action(message="\n".join([*told, scene.opened.observation.text]))


POLICIES: dict[str, Policy] = {
    "empty": empty,
    "random text": random_text,
    "random calls": random_calls,
    "copied prompt": copied_prompt,
}


async def check_junk(bench: Bench) -> None:
    """Every junk policy earns 0 on every task."""

    async def one(task: Task) -> None:
        for name, policy in POLICIES.items():
            reward = await _run(bench, task, name, policy)
            bench.junk_rewards.append(reward)
            if reward != 0:
                raise CheckFailed(f"the junk policy {name!r} earned {reward:g}, not 0")

    await bench.each(bench.tasks, one, "semantic.junk")


async def _run(bench: Bench, task: Task, name: str, policy: Policy) -> float:
    """One episode's reward; every episode ends, since it is cut after a few turns."""
    turns = min(MAX_TURNS, bench.environment.max_turns)
    generator = bench.random(name, task.id)
    request: JsonObject = {"environment": bench.name, "task": task.id, "seed": task.seed, "max_turns": turns}
    try:
        async with bench.api.session(**request) as opened:
            for turn in range(turns):
                action = policy(Scene(opened, bench.schema.tools, generator, turn))
                result = await bench.api.step(opened, turn, action)
                if result["end"] is not None:
                    break
            return graded(await bench.api.status(opened, END_WAIT_S))
    except (EnvhubError, CheckFailed) as error:
        raise CheckFailed(f"the junk policy {name!r}: {reason_of(error)}") from error


def _word(generator: random.Random, length: int) -> str:
    return "".join(generator.choice(string.ascii_lowercase) for _ in range(length))


def _value(generator: random.Random, schema: JsonObject) -> Any:
    """A random value of a JSON schema; of what is unknown, a random word."""
    if schema.get("enum"):
        return generator.choice(schema["enum"])
    if schema.get("anyOf"):
        return _value(generator, generator.choice(schema["anyOf"]))
    make = _MAKERS.get(str(schema.get("type")))
    return make(generator, schema) if make else _word(generator, 8)


def _object(generator: random.Random, schema: JsonObject) -> JsonObject:
    required = schema.get("required", [])
    properties = schema.get("properties", {})
    chosen = {name: each for name, each in properties.items() if name in required or generator.random() < 0.5}
    return {name: _value(generator, each) for name, each in chosen.items()}


def _integer(generator: random.Random, schema: JsonObject) -> int:
    low = int(schema.get("minimum", -1000))
    return generator.randint(low, max(low, int(schema.get("maximum", low + 2000))))


def _array(generator: random.Random, schema: JsonObject) -> list[Any]:
    return [_value(generator, schema.get("items", {})) for _ in range(generator.randrange(3))]


_MAKERS: dict[str, Callable[[random.Random, JsonObject], Any]] = {
    "object": _object,
    "integer": _integer,
    "array": _array,
    "number": lambda generator, schema: generator.uniform(-1000, 1000),
    "boolean": lambda generator, schema: generator.random() < 0.5,
    "null": lambda generator, schema: None,
    "string": lambda generator, schema: _word(generator, 8),
}

__all__ = ["POLICIES", "Scene", "check_junk"]
