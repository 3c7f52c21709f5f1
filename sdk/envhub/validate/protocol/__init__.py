"""The conformance suite of protocol v1: each check sends what a client or an attacker might, and looks at the reply.

A check needs one hosted environment with a task, and no more: its actions are messages, which every environment
answers in some way.
"""

from envhub.validate.protocol.access import check_access, check_health, check_problems
from envhub.validate.protocol.batch import check_batch
from envhub.validate.protocol.mcp import check_driver, check_mcp_end, check_mcp_token
from envhub.validate.protocol.requests import check_limits, check_malformed, check_unknown
from envhub.validate.protocol.sessions import check_end, check_key, check_steps, check_trajectory
from envhub.validate.protocol.websocket import check_binary, check_frames, check_order, check_resume, check_size

__all__ = [
    "check_access",
    "check_batch",
    "check_binary",
    "check_driver",
    "check_end",
    "check_frames",
    "check_health",
    "check_key",
    "check_limits",
    "check_malformed",
    "check_mcp_end",
    "check_mcp_token",
    "check_order",
    "check_problems",
    "check_resume",
    "check_size",
    "check_steps",
    "check_trajectory",
    "check_unknown",
]
