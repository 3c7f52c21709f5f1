"""Terms: what was agreed at open, from the request and the manifest; and the task it is about."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from envhub.sdk.errors import EnvhubError, EnvironmentFailed, InvalidRequest
from envhub.sdk.task import Task, choose_task
from envhub.sdk.wire import Driver, OpenRequest
from envhub.server.hosting import HostedEnvironment


@dataclass(frozen=True, slots=True)
class Terms:
    """Times in seconds."""

    driver: Driver
    max_turns: int
    lease_s: float
    step_s: float
    grade_s: float
    episode_s: float


def agree(hosted: HostedEnvironment, request: OpenRequest) -> Terms:
    """The terms of a session.

    Raises:
        InvalidRequest: more turns than the environment gives.
    """
    manifest = hosted.manifest
    if request.max_turns is not None and request.max_turns > manifest.max_turns:
        raise InvalidRequest(f"max_turns {request.max_turns} is over {manifest.name}'s own {manifest.max_turns}")
    return Terms(
        driver=request.driver,
        max_turns=request.max_turns or manifest.max_turns,
        lease_s=request.lease_s or manifest.deadlines.lease_s,
        step_s=request.step_deadline_s or manifest.deadlines.step_s,
        grade_s=manifest.deadlines.grade_s,
        episode_s=request.episode_deadline_s or manifest.deadlines.episode_s,
    )


def find_task(hosted: HostedEnvironment, request: OpenRequest) -> Task:
    """The task a request is for, with the episode's seed.

    Raises:
        NotFound, InvalidRequest: there is none.
        EnvironmentFailed: the code that makes the environment's tasks raised.
    """
    try:
        return _find_task(hosted, request)
    except EnvhubError:
        raise
    except Exception as error:  # the boundary at which a task source's failures get their type
        raise EnvironmentFailed(f"{hosted.name}'s tasks raised {type(error).__name__}: {error}") from error


def _find_task(hosted: HostedEnvironment, request: OpenRequest) -> Task:
    if request.task is not None:
        task = hosted.tasks.get(request.task)
        if request.split is not None and request.split != task.split:
            raise InvalidRequest(f"task {task.id!r} is in split {task.split!r}, not {request.split!r}")
    else:
        seed = secrets.randbits(31) if request.seed is None else request.seed
        task = choose_task(hosted.tasks, request.split, seed)
    return task if request.seed is None else task.model_copy(update={"seed": request.seed})


__all__ = ["Terms", "agree", "find_task"]
