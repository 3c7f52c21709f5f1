"""Transport: how requests reach a server. `websocket.py` and `http.py` are the two there are."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from envhub.sdk.messages import JsonObject

UNHELD_PATIENCE_S = 10.0
"""How long a broken connection is tried again where no session is held on it."""


class Held(NamedTuple):
    """A session that must survive its connection."""

    token: str
    lease_s: float


class Transport(Protocol):
    """Sends one operation of docs/protocol.md and gives its reply.

    Every operation may be sent twice: open carries a key, step an index, the others change nothing the second time.
    So a transport sends again whatever a broken connection left unanswered, for as long as a held session's lease
    can last.
    """

    async def start(self) -> None:
        """Reach the server once, so that a wrong address or token shows here.

        Raises:
            ConnectionLost: nothing answers there.
            Unauthorized: the token is not valid there.
        """
        ...

    async def request(self, op: str, fields: JsonObject, timeout_s: float) -> Any:
        """The `ok` part of the reply to one operation.

        Args:
            op: the protocol's name of the operation.
            fields: its fields, without `op` and `id`.
            timeout_s: seconds after which waiting ends.

        Raises:
            EnvhubError: the server's typed error; or ConnectionLost.
        """
        ...

    def hold(self, session: str, token: str, lease_s: float) -> None:
        """This session is used here from now on: re-attach it after a broken connection."""
        ...

    def release(self, session: str) -> None:
        """This session is no longer used here."""
        ...

    def abandon(self, reason: str) -> None:
        """The server is known to be gone for good: what waits and what comes is ConnectionLost at once."""
        ...

    async def close(self) -> None:
        """Close the connection; sessions live on until their lease ends."""
        ...


def patience_s(held: dict[str, Held]) -> float:
    """Seconds for which a broken connection is tried again: after the longest lease nothing is left to save."""
    return max((one.lease_s for one in held.values()), default=UNHELD_PATIENCE_S)


__all__ = ["UNHELD_PATIENCE_S", "Held", "Transport", "patience_s"]
