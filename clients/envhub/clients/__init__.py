"""The Python client: `async with connect(url) as client`. Its plain face is `envhub.clients.sync`."""

from envhub.clients.channel import Deadlines
from envhub.clients.client import Client, OpenOptions, SessionContext
from envhub.clients.connection import Connection, ConnectOptions, connect
from envhub.clients.session import ActionLike, Session, SessionFacts, SessionTokens

__all__ = [
    "ActionLike",
    "Client",
    "ConnectOptions",
    "Connection",
    "Deadlines",
    "OpenOptions",
    "Session",
    "SessionContext",
    "SessionFacts",
    "SessionTokens",
    "connect",
]
