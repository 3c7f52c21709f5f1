"""Policy: what acts in an episode. Scripted and random ones are here; a language model's needs only `act`."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from envhub.clients.episode import Episode
from envhub.clients.session import ActionLike, action_of
from envhub.sdk.errors import InvalidRequest
from envhub.sdk.messages import Action, JsonObject, ToolCall
from envhub.sdk.tokens import Sample

MAX_ITEMS = 3
MAX_DEPTH = 4


@dataclass(frozen=True)
class Decision:
    """An action with the tokens it was sampled as."""

    action: ActionLike
    sample: Sample | None = None
    """None where the policy has no tokens."""


class Policy(Protocol):
    """Anything that can act. One instance lives through one episode."""

    async def act(self, episode: Episode) -> Decision | ActionLike | None:
        """The next action; None to stop here, which leaves an episode that had not ended without a reward.

        What it raises is a programming error and passes through `rollout`.
        """
        ...


def decision_of(value: Decision | ActionLike | None) -> tuple[Action, Sample | None] | None:
    """What `act` returned, in one form."""
    if value is None:
        return None
    if isinstance(value, Decision):
        return action_of(value.action), value.sample
    return action_of(value), None


class ScriptedPolicy:
    """Takes given actions.

    Args:
        script: (T,) actions, after which it stops; or a function from the episode to the next action or None.
    """

    def __init__(self, script: Sequence[ActionLike] | Callable[[Episode], ActionLike | None]) -> None:
        self._script = script

    async def act(self, episode: Episode) -> ActionLike | None:
        if callable(self._script):
            return self._script(episode)
        return self._script[episode.turn] if episode.turn < len(self._script) else None


class RandomPolicy:
    """Calls random tools with random arguments that fit their schemas; or says one of the given texts.

    Args:
        seed: the same seed and episode give the same actions.
        choices: texts to say. None: call tools.
    """

    def __init__(self, seed: int, choices: Sequence[str] | None = None) -> None:
        self._random = random.Random(seed)
        self._choices = choices

    async def act(self, episode: Episode) -> ActionLike:
        if self._choices:
            return self._random.choice(self._choices)
        if not episode.tools:
            raise InvalidRequest("this environment has no tools to call at random; give RandomPolicy choices of texts")
        tool = self._random.choice(episode.tools)
        schema = tool["parameters"]
        arguments = _Values(self._random, schema.get("$defs", {})).make(schema)
        return ToolCall(name=tool["name"], arguments=arguments)


WORDS = ("a", "the", "red", "north", "open", "42", "hello")


class _Values:
    """Random values of a JSON schema, as far as tools use it."""

    def __init__(self, source: random.Random, definitions: JsonObject) -> None:
        self._random = source
        self._definitions = definitions

    def make(self, schema: JsonObject, depth: int = 0) -> Any:
        if "$ref" in schema:
            return self.make(self._definitions[schema["$ref"].rpartition("/")[2]], depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        options = schema.get("anyOf") or schema.get("oneOf")
        if options:
            return self.make(self._random.choice(options), depth)
        return self._of_type(schema, depth)

    def _of_type(self, schema: JsonObject, depth: int) -> Any:
        kind = schema.get("type", "string")
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            count = self._random.randint(schema.get("minItems", 0), schema.get("maxItems", MAX_ITEMS))
            return [self.make(schema.get("items", {}), depth + 1) for _ in range(count)]
        if kind in ("integer", "number"):
            return self._number(schema, whole=kind == "integer")
        if kind == "boolean":
            return self._random.random() < 0.5
        return None if kind == "null" else self._text(schema)

    def _object(self, schema: JsonObject, depth: int) -> JsonObject:
        required = schema.get("required", ())
        wanted = {
            name: inner
            for name, inner in schema.get("properties", {}).items()
            if name in required or (depth < MAX_DEPTH and self._random.random() < 0.5)
        }
        return {name: self.make(inner, depth + 1) for name, inner in wanted.items()}

    def _number(self, schema: JsonObject, *, whole: bool) -> int | float:
        low = _bound(schema, "minimum", "exclusiveMinimum", 0)
        high = _bound(schema, "maximum", "exclusiveMaximum", max(low, 0) + 100)
        if not whole:
            return self._random.uniform(low, high)
        first, last = int(low) + ("exclusiveMinimum" in schema), int(high) - ("exclusiveMaximum" in schema)
        return self._random.randint(first, max(first, last))

    def _text(self, schema: JsonObject) -> str:
        text = " ".join(self._random.choices(WORDS, k=self._random.randint(1, 3)))
        return text.ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength")]


def _bound(schema: JsonObject, inclusive: str, exclusive: str, default: float) -> float:
    value: Any = schema.get(inclusive, schema.get(exclusive))
    return default if value is None else float(value)


__all__ = ["Decision", "Policy", "RandomPolicy", "ScriptedPolicy", "decision_of"]
