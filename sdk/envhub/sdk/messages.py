"""What an agent sends and what it sees: Action, Observation, StepResult and the parts they are made of."""

from __future__ import annotations

import contextlib
import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, WithJsonSchema, model_validator

JsonObject = dict[str, Any]

EndReason = Literal[
    "terminated",
    "max_turns",
    "episode_time",
    "step_deadline",
    "error",
    "lease_lost",
    "closed",
    "unresolved",
]
"""Why an episode ended.

    terminated                 the environment ended it; reward by rubric
    max_turns, episode_time    truncated; reward by rubric at the cut
    step_deadline              truncated; no reward
    error                      environment, sandbox or server failed; no reward
    lease_lost, closed         nobody renewed it, or the caller closed it before the end; no reward
    unresolved                 it ended but grading failed or timed out; no reward, can be graded again
"""


class WireModel(BaseModel):
    """Base of all that crosses the wire: immutable, unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


class TextPart(WireModel):
    """Text the model reads."""

    type: Literal["text"] = "text"
    text: str


class ImagePart(WireModel):
    """A picture the model sees, inline or by digest."""

    type: Literal["image"] = "image"
    media_type: str = "image/png"
    data: str | None = None
    """The bytes in base64; None where only the digest is kept (recordings store the bytes as a blob)."""
    digest: str | None = None
    """`sha256:<hex>` of the bytes; None where `data` is given."""

    @model_validator(mode="after")
    def _has_content(self) -> ImagePart:
        if self.data is None and self.digest is None:
            raise ValueError("an image part needs data (base64) or digest")
        return self


class ToolResultPart(WireModel):
    """What one tool call returned."""

    type: Literal["tool_result"] = "tool_result"
    name: str
    call_id: str | None = None
    """The id of the call it answers; None where the call had none."""
    content: tuple[Annotated[TextPart | ImagePart, Field(discriminator="type")], ...] = ()
    is_error: bool = False
    """True where the call was refused or failed in a way the model should read about."""


Part = Annotated[TextPart | ImagePart | ToolResultPart, Field(discriminator="type")]


class Observation(WireModel):
    """What the model sees, and nothing else."""

    parts: tuple[Part, ...] = ()

    @classmethod
    def of(cls, *content: str | TextPart | ImagePart | ToolResultPart) -> Observation:
        """An observation of these parts; a str becomes a text part."""
        if len(content) == 1 and type(content[0]) is str:  # by far the most common, and once a step
            made: Observation = cls.__pydantic_validator__.validate_python(_text_only(content[0]))
            return made
        return cls(parts=tuple(TextPart(text=part) if isinstance(part, str) else part for part in content))

    @property
    def text(self) -> str:
        """All text in order, tool results included, joined by newlines."""
        lines: list[str] = []
        for part in self.parts:
            inner = part.content if isinstance(part, ToolResultPart) else (part,)
            lines.extend(piece.text for piece in inner if isinstance(piece, TextPart))
        return "\n".join(lines)


def _text_only(text: str) -> JsonObject:
    """What an observation of one text is made of. Checking nested models in one call costs half of one call each."""
    return {"parts": ({"type": "text", "text": text},)}


class Message(WireModel):
    """One message of a prompt."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | tuple[Part, ...]


class ToolCall(WireModel):
    """A call the model asks for."""

    name: str
    arguments: JsonObject | str = Field(default_factory=dict)
    """A JSON object, or the model's own text for it; text that is no JSON object is answered as a tool error."""
    id: str | None = None
    """The model's id for the call, repeated in its result; None where it gave none."""


class Action(WireModel):
    """A message, or one or more tool calls: exactly one of the two."""

    message: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()

    @model_validator(mode="after")
    def _exactly_one(self) -> Action:
        if (self.message is None) == (not self.tool_calls):
            raise ValueError("an action is either a message or one or more tool_calls")
        return self

    @classmethod
    def of(cls, value: str | ToolCall | Action) -> Action:
        """An action of a message text, a tool call, or itself."""
        if isinstance(value, Action):
            return value
        return cls(message=value) if isinstance(value, str) else cls(tool_calls=(value,))

    @classmethod
    def call(cls, tool: str, /, **arguments: Any) -> Action:
        """An action of one tool call."""
        return cls(tool_calls=(ToolCall(name=tool, arguments=arguments),))


def _finite(value: Any) -> Any:
    """A reward as plain Python; numpy and torch scalars, and arrays of one element, become numbers."""
    item = getattr(value, "item", None)
    if callable(item):
        with contextlib.suppress(ValueError, RuntimeError):  # more than one element: left for the type check
            value = item()
    if isinstance(value, (int, float)) and not math.isfinite(value):
        raise ValueError(f"a reward must be a finite number, not {value!r}")
    return value


Reward = Annotated[
    FiniteFloat | Annotated[FiniteFloat, BeforeValidator(_finite)],
    Field(union_mode="left_to_right"),
    WithJsonSchema({"type": "number"}),
]
"""A finite number; the plain case is checked without calling Python."""


class StepResult(WireModel):
    """What one step gave. The policy sees `observation`; everything else is for the control side."""

    observation: Observation
    reward: Reward | None = None
    """Reward of this step; None where there is none to give (never a stand-in for a failure's 0)."""
    rewards: dict[str, Reward] = Field(default_factory=dict)
    """Named parts of `reward`, already weighted: they sum to it."""
    terminated: bool = False
    """The environment ended the episode."""
    truncated: bool = False
    """The episode was cut from outside: turns, time or a deadline."""
    end: EndReason | None = None
    """Why the episode ended; None while it goes on. Set by the host."""
    info: JsonObject = Field(default_factory=dict)
    """Diagnostics for the control side; never shown to the agent."""

    @classmethod
    def of(cls, content: str | Observation, reward: float | None = None, *, terminated: bool = False) -> StepResult:
        """The usual result: what the policy sees, this step's reward, and whether the environment ended the episode."""
        seen = _text_only(content) if isinstance(content, str) else content
        made: StepResult = cls.__pydantic_validator__.validate_python(
            {"observation": seen, "reward": reward, "terminated": terminated}
        )
        return made

    @property
    def ended(self) -> bool:
        """True where this was the episode's last step."""
        return self.terminated or self.truncated or self.end is not None


__all__ = [
    "Action",
    "EndReason",
    "ImagePart",
    "JsonObject",
    "Message",
    "Observation",
    "Part",
    "StepResult",
    "TextPart",
    "ToolCall",
    "ToolResultPart",
    "WireModel",
]
