"""Reading a running server, for `envhub info` and `envhub tasks`."""

from __future__ import annotations

from typing import Any

import httpx

from envhub.sdk.errors import ConnectionLost, Unauthorized, from_problem
from envhub.sdk.paths import find_server_token

TIMEOUT_S = 30.0


def describe_server(url: str, token: str | None) -> dict[str, Any]:
    """GET /v1/info, with each environment's tools and criteria.

    Raises:
        ConnectionLost, Unauthorized, or what the server answered.
    """
    with _client(url, token) as client:
        told = _get(client, "/v1/info")
        for environment in told["environments"]:
            schema = _get(client, "/v1/schema", environment=environment["name"])
            environment["tools"] = schema["tools"]
            environment["accepts_messages"] = schema["accepts_messages"]
            environment["criteria"] = schema["criteria"]
            sizes = environment["splits"]
            environment["splits"] = {name: {"tasks": size, "about": ""} for name, size in sizes.items()}
    return told


def read_page(url: str, token: str | None, **query: str | int | None) -> dict[str, Any]:
    """GET /v1/tasks; raises as `describe_server`."""
    with _client(url, token) as client:
        return _get(client, "/v1/tasks", **query)


def _client(url: str, token: str | None) -> httpx.Client:
    found = token or find_server_token(url)
    if found is None:
        raise Unauthorized(
            f"no token for {url}: no server of yours on this machine has this address, as `envhub serve NAME` would "
            "start one; for a server of somebody else's give --token"
        )
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {found}"}, timeout=TIMEOUT_S)


def _get(client: httpx.Client, path: str, **query: str | int | None) -> dict[str, Any]:
    given = {name: value for name, value in query.items() if value is not None}
    try:
        reply = client.get(path, params=given)
        content: dict[str, Any] = reply.json()
    except httpx.TransportError as error:
        raise ConnectionLost(f"no answer from {client.base_url}: {error}; is the server running?") from error
    except ValueError as error:
        raise ConnectionLost(f"{client.base_url} does not answer as an envhub server") from error
    if reply.is_error:
        raise from_problem(content)
    return content


__all__ = ["describe_server", "read_page"]
