"""Episode: what a policy is given. Everything the model may see, and nothing of the control side: no rewards."""

from __future__ import annotations

from dataclasses import dataclass, field

from envhub.sdk.messages import Action, JsonObject, Message, Observation
from envhub.sdk.task import Task
from envhub.sdk.tokens import Sample


@dataclass
class Episode:
    """A running episode from the policy's side. After T steps there are T actions and T + 1 observations."""

    task: Task
    """Its public part."""
    tools: tuple[JsonObject, ...]
    """Each with name, description, parameters (JSON schema), exclusive, terminal."""
    accepts_messages: bool
    """The environment does something with a message."""
    observations: list[Observation]
    """(T + 1,) the first came with the opening."""
    actions: list[Action] = field(default_factory=list)
    """(T,)"""
    samples: list[Sample | None] = field(default_factory=list)
    """(T,) what the policy sampled; `envhub.sdk.tokens.make_sample` makes the next one from these."""

    @property
    def prompt(self) -> tuple[Message, ...]:
        """What the policy is told first."""
        return self.task.prompt

    @property
    def observation(self) -> Observation:
        """What the policy sees now."""
        return self.observations[-1]

    @property
    def turn(self) -> int:
        """Steps taken so far."""
        return len(self.actions)


__all__ = ["Episode"]
