"""The Python client: `async with connect(url) as client`. Its plain face is `envhub.clients.sync`."""

from envhub.clients.agent import SessionAgent
from envhub.clients.channel import Deadlines
from envhub.clients.client import Client
from envhub.clients.connection import Connection, ConnectOptions, connect
from envhub.clients.episode import Episode
from envhub.clients.opening import OpenOptions, SessionContext
from envhub.clients.policy import Decision, Policy, RandomPolicy, ScriptedPolicy
from envhub.clients.progress import RolloutProgress
from envhub.clients.rollout import rollout
from envhub.clients.rollouts import rollouts, stream_rollouts
from envhub.clients.session import ActionLike, Session, SessionFacts, SessionTokens

__all__ = [
    "ActionLike",
    "Client",
    "ConnectOptions",
    "Connection",
    "Deadlines",
    "Decision",
    "Episode",
    "OpenOptions",
    "Policy",
    "RandomPolicy",
    "RolloutProgress",
    "ScriptedPolicy",
    "Session",
    "SessionAgent",
    "SessionContext",
    "SessionFacts",
    "SessionTokens",
    "connect",
    "rollout",
    "rollouts",
    "stream_rollouts",
]
