"""Places: what a target means, and a server on which it can be checked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urldefrag

from envhub.clients.local import LocalServer
from envhub.sdk.errors import InvalidRequest, Unauthorized
from envhub.sdk.loader import LoadedEnvironment
from envhub.sdk.paths import find_server_token
from envhub.sdk.wire import EnvironmentInfo, ServerInfo
from envhub.validate.api import Api, connect_api
from envhub.validate.bench import Bench
from envhub.validate.choice import choose_tasks

START_DEADLINE_S = 1800.0


def is_url(target: str) -> bool:
    """The target is a running server, not a name or a path."""
    return "://" in target


def at_url(target: str, token: str | None) -> AbstractAsyncContextManager[Api]:
    """A running server; a fragment (`http://…/#name`) chooses one of several environments.

    Raises:
        Unauthorized: no token was given, and no server of this user on this machine has that address.
    """
    url = urldefrag(target).url.rstrip("/")
    token = token or find_server_token(url)
    if token is None:
        raise Unauthorized(
            f"no token for {url}: no server of yours on this machine has this address, as `envhub serve NAME` would "
            "start one; for a server of somebody else's give --token"
        )
    return connect_api(url, token)


@asynccontextmanager
async def local_server(folder: Path) -> AsyncIterator[Api]:
    """A server of the folder, in a process of its own with a hash seed of its own, that ends with the block."""
    server = LocalServer(str(folder), (), START_DEADLINE_S)
    try:
        ready = await server.start()
        async with connect_api(ready.url, ready.token) as api:
            yield api
    finally:
        await server.stop()


async def make_bench(
    api: Api,
    target: str,
    loaded: LoadedEnvironment | None,
    sample: int | None,
    seed: int,
    progress: Callable[[str], None],
) -> Bench:
    """The environment on the server, with the tasks to check."""
    info = await api.info()
    environment = _chosen(info, loaded.manifest.name if loaded else urldefrag(target).fragment)
    tasks = await choose_tasks(api, environment, loaded, sample, seed)
    second = None if loaded is None else partial(local_server, loaded.folder)
    schema = await api.schema(environment.name)
    return Bench(api, info, environment, schema, tasks, loaded, second, seed, progress)


def _chosen(info: ServerInfo, name: str) -> EnvironmentInfo:
    hosted = {environment.name: environment for environment in info.environments}
    if name in hosted:
        return hosted[name]
    if name or len(hosted) != 1:
        raise InvalidRequest(f"choose one of {', '.join(hosted) or 'no environment'} with URL#NAME")
    return info.environments[0]


__all__ = ["at_url", "is_url", "local_server", "make_bench"]
