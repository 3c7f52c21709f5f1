"""What commands print: people's text and progress to a terminal, machines' JSON to standard output."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from envhub.sdk.errors import EnvhubError

AsJson = Annotated[bool, typer.Option("--json", help="Write JSON to standard output, all else to standard error.")]

Token = Annotated[
    str | None,
    typer.Option(envvar="ENVHUB_TOKEN", help="A server's token; not needed for servers of yours on this machine."),
]


def console() -> Console:
    """Standard output for people; lines are not broken where it is no terminal."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on one line of standard output."""
    print(json.dumps(value, ensure_ascii=False), flush=True)


def progress(message: str) -> None:
    """What is going on, on standard error, while something slow runs."""
    typer.secho(f"  … {message}", err=True, dim=True)


def is_url(target: str) -> bool:
    """True where a target names a running server rather than an environment."""
    return "://" in target


def report(error: EnvhubError, as_json: bool) -> None:
    """Tell of a failure: its message for people, its problem document for machines."""
    typer.secho("envhub: ", err=True, fg="red", bold=True, nl=False)
    typer.echo(error.message, err=True)
    if error.boundary == "environment" and error.__cause__ is not None:
        typer.echo(f"  {_place_of(error.__cause__)}", err=True)
    if as_json:
        print_json(error.to_problem())


def _place_of(error: BaseException) -> str:
    """Where others' code failed, for its author: file, line and text of the innermost frame."""
    if isinstance(error, SyntaxError) and error.filename:  # its frames are the importer's
        return f"at {error.filename}:{error.lineno}: {(error.text or '').strip()}"
    frames = traceback.extract_tb(error.__traceback__)
    return f"at {frames[-1].filename}:{frames[-1].lineno}: {frames[-1].line}" if frames else repr(error)


@contextmanager
def quiet_stdout() -> Iterator[None]:
    """Send what environments' code prints to standard error, so that standard output stays ours."""
    with redirect_stdout(sys.stderr):
        yield


__all__ = ["AsJson", "Token", "console", "is_url", "print_json", "progress", "quiet_stdout", "report"]
