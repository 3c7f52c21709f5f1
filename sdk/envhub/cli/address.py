"""The address to listen at, looked at before anything slow is done."""

from __future__ import annotations

import ipaddress
import socket

from envhub.sdk.errors import InvalidRequest, ServerError

MIN_TOKEN = 16
"""Characters of a server token."""


def check_address(host: str, port: int, token: str | None) -> None:
    """Refuse what cannot or must not be listened at. The server checks again when it binds.

    Raises:
        InvalidRequest: an address others reach, without a token of the caller's own; or a short token.
        ServerError: the port is taken, or the address is not this machine's.
    """
    if token is not None and len(token) < MIN_TOKEN:
        raise InvalidRequest(f"--token: at least {MIN_TOKEN} characters; `openssl rand -hex 24` makes a good one")
    if token is None and not is_loopback(host):
        raise InvalidRequest(
            f"--host {host} can be reached by others: choose the token yourself, "
            'as in --token "$(openssl rand -hex 24)", or stay with 127.0.0.1'
        )
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ServerError(
            f"cannot listen at {host}:{port}: {reason}; choose another --port, or --port 0 for any free one"
        ) from error


def is_loopback(host: str) -> bool:
    """True where only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


__all__ = ["MIN_TOKEN", "check_address", "is_loopback"]
