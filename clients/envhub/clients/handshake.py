"""The WebSocket handshake, and why a server may refuse it."""

from __future__ import annotations

from pydantic_core import from_json
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, InvalidStatus
from websockets.typing import Subprotocol

from envhub.clients.codec import Codec
from envhub.sdk.errors import ConnectionLost, EnvhubError, ServerError, Unauthorized, from_problem

PATH = "/v1/ws"
OPEN_TIMEOUT_S = 10.0
PING_S = 10.0
"""A peer that is gone without a word is noticed after twice this time."""


async def dial(url: str, token: str | None, codec: Codec) -> ClientConnection:
    """A new connection to the server at an http(s) address.

    Raises:
        ConnectionLost: nothing answers there, or not now.
        Unauthorized: the token is not valid there.
        ServerError: something else answers there.
    """
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    scheme, _, place = url.rstrip("/").partition("://")
    try:
        return await connect(
            f"{'wss' if scheme.lower() == 'https' else 'ws'}://{place}{PATH}",
            additional_headers=headers,
            subprotocols=[Subprotocol(codec.subprotocol)],
            compression=None,  # It costs more than the step it would carry.
            max_size=None,
            open_timeout=OPEN_TIMEOUT_S,
            ping_interval=PING_S,
            ping_timeout=PING_S,
            close_timeout=2,
        )
    except InvalidStatus as error:
        raise _refusal(url, error) from error
    except (OSError, EOFError, InvalidHandshake) as error:
        raise ConnectionLost(
            f"no envhub server answers at {url} ({str(error) or type(error).__name__}); "
            "is it running? `envhub serve NAME` starts one"
        ) from error


def _refusal(url: str, error: InvalidStatus) -> EnvhubError:
    """Why a server refused the WebSocket handshake."""
    status = error.response.status_code
    try:
        return from_problem(from_json(error.response.body or b""))
    except (ValueError, AttributeError):
        pass
    if status in (401, 403):  # Servers that close an unaccepted WebSocket answer 403, whatever the reason.
        return Unauthorized(f"{url} does not accept this token; is it this server's, or was the server restarted?")
    if status in (502, 503, 504):
        return ConnectionLost(f"{url} answered {status}: the server is starting, stopping or overloaded")
    return ServerError(f"{url} answered {status} to a WebSocket at {PATH}: is it an envhub server?")


__all__ = ["PATH", "dial"]
