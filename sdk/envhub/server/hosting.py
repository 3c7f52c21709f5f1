"""HostedEnvironment: an environment class with what its sessions share, for the lifetime of this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from envhub.sdk.environment import HostContext
from envhub.sdk.errors import EnvhubError, EnvironmentFailed, InvalidRequest
from envhub.sdk.loader import LoadedEnvironment
from envhub.sdk.manifest import Manifest
from envhub.sdk.messages import JsonObject
from envhub.sdk.paths import cache_dir
from envhub.sdk.task import TaskSource
from envhub.server.episode import Episode, InlineEpisode
from envhub.server.process import ProcessEpisode
from envhub.server.run_directory import run_directory


@dataclass(frozen=True)
class HostedEnvironment:
    """What the sessions of one environment have in common."""

    loaded: LoadedEnvironment
    tasks: TaskSource
    config: JsonObject
    context: HostContext
    shared: Any
    """What the environment's lifespan yielded; None for isolation = process, where each worker has its own."""

    @property
    def manifest(self) -> Manifest:
        return self.loaded.manifest

    @cached_property
    def name(self) -> str:
        return self.loaded.manifest.name

    def new_episode(self) -> Episode:
        """A fresh environment instance, isolated as the manifest says."""
        if self.manifest.isolation == "inline":
            return InlineEpisode(self.loaded.cls, self.shared, self.config)
        return ProcessEpisode(self.loaded.folder, self.config, self.context)


@asynccontextmanager
async def host(
    loaded: LoadedEnvironment, overrides: JsonObject, progress: Callable[[str], None]
) -> AsyncIterator[HostedEnvironment]:
    """Open what an environment's sessions share; closed at exit, with its private folder."""
    config = configured(loaded.manifest, overrides)
    cache = cache_dir() / "environments" / loaded.manifest.name
    cache.mkdir(parents=True, exist_ok=True)
    with run_directory(loaded.manifest.name) as run_dir:
        context = HostContext(cache_dir=cache, run_dir=run_dir, config=config, progress=progress)
        async with _lifespan(loaded, context) as shared:
            yield HostedEnvironment(loaded, loaded.cls.tasks(), config, context, shared)


@asynccontextmanager
async def _lifespan(loaded: LoadedEnvironment, context: HostContext) -> AsyncIterator[Any]:
    """The boundary at which what lifespan's code raises at the start becomes EnvironmentFailed."""
    if loaded.manifest.isolation == "process":
        yield None
        return
    lifespan = loaded.cls.lifespan(context)
    try:
        shared = await lifespan.__aenter__()
    except EnvhubError:
        raise
    except Exception as error:
        text = f"{loaded.manifest.name} could not start: {type(error).__name__}: {error}"
        raise EnvironmentFailed(text) from error
    try:
        yield shared
    except BaseException as error:
        if not await lifespan.__aexit__(type(error), error, error.__traceback__):
            raise
    else:
        await lifespan.__aexit__(None, None, None)


def configured(manifest: Manifest, overrides: JsonObject) -> JsonObject:
    """The manifest's [config] with overrides; a dotted key reaches into tables.

    Raises:
        InvalidRequest: a key the manifest does not have, or a value of another kind than its own.
    """
    config: JsonObject = {key: dict(v) if isinstance(v, dict) else v for key, v in manifest.config.items()}
    for key, value in overrides.items():
        *tables, last = key.split(".")
        table: Any = config
        for name in tables:
            table = table.get(name) if isinstance(table, dict) else None
        if not isinstance(table, dict) or last not in table:
            known = ", ".join(manifest.config) or "none"
            raise InvalidRequest(f"{manifest.name} has no config key {key!r}; it has {known}")
        if _kind(value) != _kind(table[last]):
            raise InvalidRequest(
                f"config {key}={value}: {manifest.name} has {_kind(table[last])} there, as {table[last]!r}, "
                f"and not {_kind(value)}"
            )
        table[last] = value
    return config


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    kinds = {int: "a number", float: "a number", str: "text", list: "a list", dict: "a table"}
    return kinds.get(type(value), type(value).__name__)


__all__ = ["HostedEnvironment", "configured", "host"]
