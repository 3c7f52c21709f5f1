"""The operations of protocol v1, apart from any transport: checked parameters in, JSON bytes out.

HTTP routes, WebSocket frames and batch items all end here.
"""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import Any, TypeVar

import msgspec
from pydantic import BaseModel, Field, ValidationError

from envhub.sdk.errors import InvalidRequest, TooLarge
from envhub.sdk.messages import Action, WireModel
from envhub.sdk.wire import (
    PROTOCOL,
    EnvironmentInfo,
    EnvironmentSchema,
    OpenRequest,
    ServerInfo,
    TaskPage,
)
from envhub.server.hosting import HostedEnvironment
from envhub.server.outcome import Outcome, to_json
from envhub.server.registry import Registry
from envhub.server.session import Session

Model = TypeVar("Model", bound=BaseModel)


class Named(WireModel):
    """Parameters of schema."""

    environment: str | None = None


class PageRequest(WireModel):
    """Parameters of tasks."""

    environment: str | None = None
    split: str | None = None
    offset: int = Field(default=0, ge=0, lt=2**53)
    limit: int = Field(default=100, ge=1, le=1000)


class GetRequest(WireModel):
    """Parameters of get."""

    wait_s: float = Field(default=0.0, ge=0)


class Nothing(WireModel):
    """Parameters of operations that have none."""


def parse(model: type[Model], given: Any) -> Model:
    """Checked parameters.

    Raises:
        InvalidRequest: says which field and why.
    """
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise InvalidRequest(explain(error)) from error


def require_json(value: Any) -> None:
    """Refuse what msgpack and Python have and JSON has not, before anything can see or record it.

    Raises:
        InvalidRequest: bytes, a time, an extension, a number that is not finite, a key that is no string.
    """
    kind = type(value)
    if kind is dict:
        for key, inner in value.items():
            if type(key) is not str:
                raise InvalidRequest(f"a key of an object is a string, not {type(key).__name__}")
            require_json(inner)
    elif kind is list:
        for inner in value:
            require_json(inner)
    elif kind is float:
        if not math.isfinite(value):
            raise InvalidRequest(f"JSON has no number {value}")
    elif value is not None and kind not in (str, int, bool):
        raise InvalidRequest(f"JSON has no {kind.__name__}; send text, numbers, lists and objects")


def parse_action(given: Any, size: int, limit: int) -> Action:
    """A checked action.

    Args:
        given: parsed JSON.
        size: bytes it has at most; the action is measured only where that is over the limit.
        limit: bytes allowed.
    """
    if size > limit and (size := len(msgspec.json.encode(given))) > limit:
        raise TooLarge(f"the action has {size} bytes; at most {limit} are allowed")
    try:
        action: Action = Action.__pydantic_validator__.validate_python(given)
        return action
    except ValidationError as error:
        raise InvalidRequest("action: " + explain(error)) from error


def explain(error: ValidationError) -> str:
    """A validation error in one line: field and reason, at most three."""
    found = error.errors(include_url=False, include_input=False)
    lines = [f"{'.'.join(map(str, item['loc'])) or 'body'}: {item['msg']}" for item in found[:3]]
    return "; ".join(lines) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")


class Operations:
    """Operations that need the registry only; the transports check who may call them."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    def info(self) -> bytes:
        """What is hosted here."""
        registry = self.registry
        limits = {name: float(value) for name, value in registry.limits.model_dump().items()}
        info = ServerInfo(
            protocols=(PROTOCOL,),
            server=version("envhub"),
            environments=tuple(_environment_info(hosted) for hosted in registry.hosted.values()),
            max_sessions=registry.admission.capacity,
            sessions=registry.admission.taken,
            limits=limits,
        )
        return to_json(info)

    def schema(self, given: Any) -> bytes:
        """Tools and criteria of an environment."""
        hosted = self.registry.environment(parse(Named, given).environment)
        cls = hosted.loaded.cls
        schema = EnvironmentSchema(
            environment=hosted.name,
            accepts_messages=cls.accepts_messages(),
            tools=tuple(tool.schema for tool in cls.tools.values()),
            criteria={part.name: part.weight for part in cls.rubric.criteria} if cls.rubric else {},
        )
        return to_json(schema)

    def tasks(self, given: Any) -> bytes:
        """A page of tasks."""
        request = parse(PageRequest, given)
        hosted = self.registry.environment(request.environment)
        splits = dict(hosted.tasks.splits())
        split = request.split or next(iter(splits), "")
        if split and split not in splits:
            raise InvalidRequest(f"no split {split!r}; there are {', '.join(splits)}")
        tasks = hosted.tasks.page(split, request.offset, request.limit) if split else []
        size, reached = splits.get(split, 0), request.offset + len(tasks)
        more = bool(tasks) and (size is None or reached < size)
        page = TaskPage(
            environment=hosted.name, splits=splits, tasks=tuple(tasks), next_offset=reached if more else None
        )
        return to_json(page)

    async def open(self, given: Any) -> tuple[bytes, str, bool]:
        """Open a session: the reply, its id, and whether it is new."""
        opened, new = await self.registry.open(parse(OpenRequest, given))
        return to_json(opened), opened.session, new

    def step(self, session: Session, index: Any, action: Any, size: int) -> Outcome:
        """Begin a step, or find the one that already has this index."""
        if type(index) is not int or index < 0:
            raise InvalidRequest("index: give the number of steps taken so far, an integer")
        return session.submit(index, parse_action(action, size, self.registry.limits.action_bytes))

    async def get(self, session: Session, given: Any) -> bytes:
        """A session's status, after its end or `wait_s`."""
        await session.wait_end(min(parse(GetRequest, given).wait_s, self.registry.limits.wait_s))
        return to_json(session.status())

    def renew(self, session: Session, given: Any) -> bytes:
        """Count the lease from now."""
        parse(Nothing, given)
        session.renew()
        return to_json(session.status())

    def close(self, session: Session, given: Any) -> bytes:
        """End a session; closing one that has ended changes nothing."""
        parse(Nothing, given)
        session.cut("closed")
        return to_json(session.status())


def _environment_info(hosted: HostedEnvironment) -> EnvironmentInfo:
    manifest = hosted.manifest
    return EnvironmentInfo(
        name=manifest.name,
        title=manifest.display,
        version=manifest.version,
        summary=manifest.summary,
        status=manifest.oracle.status,
        isolation=manifest.isolation,
        capabilities=manifest.capabilities,
        max_turns=manifest.max_turns,
        splits=dict(hosted.tasks.splits()),
    )


__all__ = ["GetRequest", "Operations", "PageRequest", "explain", "parse", "parse_action", "require_json"]
