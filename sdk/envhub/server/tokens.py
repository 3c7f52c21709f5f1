"""Tokens: who may do what. Session and agent tokens are signed with a key made from the server token, so that any
worker that knows the server token verifies them without a look-up."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Literal

from envhub.sdk.errors import Forbidden, Unauthorized

Principal = Literal["server", "session", "agent"]
_PREFIX: dict[str, Principal] = {"ehs": "session", "eha": "agent"}


@dataclass(frozen=True)
class Caller:
    """Who a valid token belongs to."""

    principal: Principal
    session: str | None
    """The session of a session or agent token; None for the server token."""


class Tokens:
    """Makes and verifies the tokens of one server."""

    def __init__(self, server_token: str | None = None) -> None:
        self.server_token = server_token or "ehk_" + secrets.token_urlsafe(32)
        self._key = hmac.digest(self.server_token.encode(), b"envhub tokens v1", hashlib.sha256)

    def mint(self, prefix: Literal["ehs", "eha"], session: str) -> str:
        """A session ("ehs") or agent ("eha") token."""
        return f"{prefix}_{session}_{self._sign(prefix, session)}"

    def _sign(self, prefix: str, session: str) -> str:
        return hmac.digest(self._key, f"{prefix}:{session}".encode(), hashlib.sha256).hex()[:40]

    def verify(self, token: str | None) -> Caller:
        """Who holds this token.

        Raises:
            Unauthorized: none given, or not one of this server's.
        """
        if not token:
            raise Unauthorized("this needs a token: send `Authorization: Bearer TOKEN`")
        if hmac.compare_digest(token.encode(), self.server_token.encode()):
            return Caller("server", None)
        prefix, _, rest = token.partition("_")
        session, _, signature = rest.rpartition("_")
        known = bool(session) and prefix in _PREFIX
        if known and hmac.compare_digest(signature.encode(), self._sign(prefix, session).encode()):
            return Caller(_PREFIX[prefix], session)
        raise Unauthorized("this token is not valid on this server; it may belong to an earlier start")

    def require_server(self, token: str | None) -> None:
        """
        Raises:
            Unauthorized: no valid token.
            Forbidden: a session's or agent's token.
        """
        if self.verify(token).principal != "server":
            raise Forbidden("this needs the server token")

    def require(self, token: str | None, principal: Principal, session: str) -> None:
        """
        Raises:
            Unauthorized: no valid token.
            Forbidden: of another principal, or of another session.
        """
        caller = self.verify(token)
        if caller.principal != principal or caller.session != session:
            raise Forbidden(f"this needs the {principal} token of this session")


def bearer(header: str | None) -> str | None:
    """The token of an Authorization header; None where there is no Bearer token in it."""
    scheme, _, token = (header or "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


__all__ = ["Caller", "Principal", "Tokens", "bearer"]
