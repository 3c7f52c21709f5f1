"""Episodes by the control side: replay a list of actions, and keep everything that came back."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from envhub.sdk.messages import Action, EndReason, JsonObject, Observation
from envhub.sdk.task import Task
from envhub.sdk.trajectory import TRAINABLE
from envhub.sdk.wire import SessionStatus
from envhub.validate.api import Api
from envhub.validate.report import CheckFailed

END_WAIT_S = 90.0
"""How long grading may take once the last action is done."""


@dataclass(frozen=True)
class Recording:
    """One episode."""

    actions: tuple[Action, ...]
    observations: tuple[str, ...]
    """As JSON, byte for byte; the first one came with the open. Empty for an episode over MCP."""
    texts: tuple[str, ...]
    """What the policy read at each step."""
    reward: float | None
    end: EndReason | None
    """None where it had not ended when the actions were used up."""


async def replay(
    api: Api, environment: str, task: Task, actions: Sequence[Action], max_turns: int | None = None
) -> Recording:
    """Run an episode of these actions; later ones are left out once it has ended."""
    request: JsonObject = {"environment": environment, "task": task.id, "seed": task.seed, "driver": "control"}
    if max_turns is not None:
        request["max_turns"] = max_turns
    async with api.session(**request) as opened:
        observations, texts = [opened.observation.model_dump_json()], []
        ended = False
        for index, action in enumerate(actions):
            result = await api.step(opened, index, action)
            _check_result(result)
            observations.append(json.dumps(result["observation"], ensure_ascii=False))
            texts.append(Observation.model_validate(result["observation"]).text)
            ended = result["end"] is not None
            if ended:
                break
        status = await api.status(opened, END_WAIT_S if ended else 0.0)
    return Recording(tuple(actions[: len(texts)]), tuple(observations), tuple(texts), status.reward, status.end)


def _check_result(result: JsonObject) -> None:
    """Raises CheckFailed where the fields of a step's result contradict each other."""
    reward, parts, end = result["reward"], result["rewards"], result["end"]
    if (result["terminated"] or result["truncated"]) != (end is not None):
        raise CheckFailed(
            f"a result with end {end!r} is terminated={result['terminated']}, truncated={result['truncated']}"
        )
    if reward is not None and parts and not math.isclose(reward, math.fsum(parts.values()), abs_tol=1e-9):
        raise CheckFailed(f"the parts {parts} of a reward do not sum to it, {reward}")
    if reward is not None and end not in (None, *TRAINABLE):
        raise CheckFailed(f"a step that ended with {end!r} has the reward {reward}")


def graded(status: SessionStatus | Recording) -> float:
    """The reward of an ended episode.

    Raises:
        CheckFailed: it has not ended, it ended in a way that has no reward, or its reward is missing.
    """
    if status.end is None:
        raise CheckFailed("the episode has not ended")
    if status.end not in TRAINABLE:
        detail = status.error.get("detail") if isinstance(status, SessionStatus) and status.error else None
        raise CheckFailed(f"it ended with {status.end!r}, which has no reward" + (f": {detail}" if detail else ""))
    if status.reward is None:
        raise CheckFailed(f"it ended with {status.end!r} and has no reward; give the environment a rubric")
    return status.reward


__all__ = ["END_WAIT_S", "Recording", "graded", "replay"]
