"""The error tree and its problem documents."""

from __future__ import annotations

import json

import pytest

from envhub.sdk import errors
from envhub.sdk.errors import EnvhubError, ServerError, from_problem

CONCRETE = [getattr(errors, name) for name in errors.__all__ if isinstance(getattr(errors, name), type)]


@pytest.mark.parametrize("kind", CONCRETE)
def test_problem_document_and_error_convert_both_ways(kind: type[EnvhubError]) -> None:
    problem = kind("what, where, what to do", session="s1", retry_after_s=1.5).to_problem()
    again = from_problem(json.loads(json.dumps(problem)))
    assert type(again) is kind
    assert (again.message, again.session, again.retry_after_s) == ("what, where, what to do", "s1", 1.5)
    assert problem["status"] == kind.status
    assert problem["boundary"] in ("request", "environment", "sandbox", "server")


def test_codes_are_unique() -> None:
    codes = [kind.code for kind in CONCRETE]
    assert len(set(codes)) == len(codes)


def test_tree_in_the_docstring_names_every_error() -> None:
    for kind in CONCRETE:
        assert kind.__name__ in (errors.__doc__ or "")


def test_unknown_code_becomes_a_server_error_and_keeps_the_detail() -> None:
    error = from_problem({"code": "teapot", "detail": "short and stout"})
    assert type(error) is ServerError
    assert error.message == "short and stout"
    assert from_problem({}).message == "the server gave no detail"


def test_unknown_code_of_a_known_boundary_keeps_the_boundary() -> None:
    error = from_problem({"code": "no_such_code", "boundary": "sandbox", "detail": "it is gone"})
    assert type(error) is errors.SandboxFailed
    assert type(from_problem({"code": "new", "boundary": "request"})) is errors.RequestError


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.StepTimeout, TimeoutError),
        (errors.ConnectionLost, ConnectionError),
        (errors.InvalidRequest, ValueError),
        (errors.NotFound, LookupError),
        (errors.Forbidden, PermissionError),
    ],
)
def test_errors_are_also_the_builtin_a_caller_would_catch(kind: type[EnvhubError], builtin: type[Exception]) -> None:
    assert issubclass(kind, builtin)
