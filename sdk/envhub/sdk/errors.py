"""The error tree. Every failure is assigned to one boundary: who has to act.

    EnvhubError
    ├── RequestError                 the caller asked for something wrong        boundary "request"
    │   ├── InvalidRequest           malformed, unknown field, wrong type        400
    │   ├── Unauthorized             no token, or one that is not valid          401
    │   ├── Forbidden                a valid token that may not do this          403
    │   ├── NotFound                 no such session, task, environment, path    404
    │   ├── Conflict                 same step index, other action; wrong driver 409
    │   ├── SessionEnded             a step after the end                        410
    │   ├── TooLarge                 over a byte or item limit                   413
    │   └── ManifestError            a folder or envhub.toml that cannot be used 400
    ├── EnvironmentFailed            the environment's own code failed           boundary "environment", 502
    │   ├── GradingFailed            the rubric raised or timed out
    │   └── StepTimeout              a deadline passed (also TimeoutError), 504
    ├── SandboxFailed                the place it runs in failed                 boundary "sandbox", 502
    └── ServerError                  envhub itself or the way to it              boundary "server", 500
        ├── AtCapacity               full; retry after `retry_after_s`           503
        ├── LeaseLost                the session was closed since nobody renewed it, 410
        └── ConnectionLost           the server cannot be reached (also ConnectionError)

On the wire an error is an RFC 9457 problem document; `to_problem` and `from_problem` convert both ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

Boundary = Literal["request", "environment", "sandbox", "server"]


class EnvhubError(Exception):
    """Base of everything envhub raises on purpose.

    Args:
        message: what was looked for, where, and what to do next.
        session: id of the session it concerns, or None.
        retry_after_s: seconds to wait before the same call may succeed; None where a retry cannot help.
    """

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    boundary: ClassVar[Boundary] = "server"

    def __init__(self, message: str, *, session: str | None = None, retry_after_s: float | None = None) -> None:
        message = printable(message)
        super().__init__(message)
        self.message = message
        self.session = session
        self.retry_after_s = retry_after_s

    def to_problem(self) -> dict[str, Any]:
        """The RFC 9457 problem document of this error."""
        problem: dict[str, Any] = {
            "type": f"urn:envhub:error:{self.code}",
            "title": self.code.replace("_", " "),
            "status": self.status,
            "detail": self.message,
            "code": self.code,
            "boundary": self.boundary,
        }
        if self.session is not None:
            problem["session"] = self.session
        if self.retry_after_s is not None:
            problem["retry_after_s"] = self.retry_after_s
        return problem


class RequestError(EnvhubError):
    """The caller asked for something wrong; the same call will fail again."""

    code, status, boundary = "request", 400, "request"


class InvalidRequest(RequestError, ValueError):
    """Malformed JSON, an unknown field, a wrong type or value."""

    code = "invalid_request"


class Unauthorized(RequestError):
    """No token, or one that is not valid here."""

    code, status = "unauthorized", 401


class Forbidden(RequestError, PermissionError):
    """The token is valid but its principal may not do this."""

    code, status = "forbidden", 403


class NotFound(RequestError, LookupError):
    """No such session, task, environment or path."""

    code, status = "not_found", 404


class Conflict(RequestError):
    """The step index was used with another action, or another driver holds the session."""

    code, status = "conflict", 409


class SessionEnded(RequestError):
    """The episode has ended; a new episode is a new session."""

    code, status = "session_ended", 410


class TooLarge(RequestError):
    """Over a byte or item limit; nothing was executed."""

    code, status = "too_large", 413


class ManifestError(RequestError, ValueError):
    """An environment folder or its envhub.toml cannot be used."""

    code = "manifest"


class EnvironmentFailed(EnvhubError):
    """The environment's own code raised or died. The episode ended with an error and has no reward."""

    code, status, boundary = "environment", 502, "environment"


class GradingFailed(EnvironmentFailed):
    """The rubric raised, timed out or gave a value that is not a finite number: unresolved, never 0."""

    code = "grading"


class StepTimeout(EnvironmentFailed, TimeoutError):
    """A deadline passed and the work was stopped. The episode was truncated and has no reward."""

    code, status = "step_timeout", 504


class SandboxFailed(EnvhubError):
    """The sandbox, browser or other place the environment runs in broke."""

    code, status, boundary = "sandbox", 502, "sandbox"


class ServerError(EnvhubError):
    """envhub itself, or the way to it, failed."""

    code = "server"


class AtCapacity(ServerError):
    """Every place is taken and the queue is full; `retry_after_s` says when to ask again."""

    code, status = "at_capacity", 503


class LeaseLost(ServerError):
    """Nobody renewed the session in time; it was closed and its resources freed."""

    code, status = "lease_lost", 410


class ConnectionLost(ServerError, ConnectionError):
    """The server cannot be reached, or the connection broke and could not be resumed."""

    code, status = "connection_lost", 503


def printable(text: str) -> str:
    """A text any encoding carries: lone surrogates, which others' messages may hold, are written as escapes."""
    return text.encode(errors="backslashreplace").decode()


def _tree(base: type[EnvhubError]) -> dict[str, type[EnvhubError]]:
    found = {base.code: base}
    for child in base.__subclasses__():
        found.update(_tree(child))
    return found


_BY_BOUNDARY: dict[str, type[EnvhubError]] = {
    "request": RequestError,
    "environment": EnvironmentFailed,
    "sandbox": SandboxFailed,
}


def from_problem(problem: Mapping[str, Any]) -> EnvhubError:
    """The typed error of a problem document. An unknown code (an environment's own kind of failure, a newer server)
    becomes the error of its boundary, and ServerError where that is unknown too."""
    by_boundary = _BY_BOUNDARY.get(str(problem.get("boundary")), ServerError)
    kind = _tree(EnvhubError).get(str(problem.get("code")), by_boundary)
    return kind(
        str(problem.get("detail") or problem.get("title") or "the server gave no detail"),
        session=problem.get("session"),
        retry_after_s=problem.get("retry_after_s"),
    )


__all__ = [
    "AtCapacity",
    "Boundary",
    "Conflict",
    "ConnectionLost",
    "EnvhubError",
    "EnvironmentFailed",
    "Forbidden",
    "GradingFailed",
    "InvalidRequest",
    "LeaseLost",
    "ManifestError",
    "NotFound",
    "RequestError",
    "SandboxFailed",
    "ServerError",
    "SessionEnded",
    "StepTimeout",
    "TooLarge",
    "Unauthorized",
    "from_problem",
    "printable",
]
