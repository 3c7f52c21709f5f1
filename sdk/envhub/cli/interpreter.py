"""Running a command again in the interpreter that has what the environments need."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envhub.cli.output import progress

if TYPE_CHECKING:
    from envhub.sdk.manifest import Manifest

FLAG = "--no-virtualenv"
NoVirtualenv = Annotated[
    bool,
    typer.Option(FLAG, help="Use this Python as it is, even where it lacks what the environment requires."),
]


def enter(environments: Sequence[tuple[Path, Manifest]]) -> None:
    """Go on in the environments' own virtual environment, made first if need be; returns where none is needed.

    Raises:
        ManifestError, ServerError: as `envhub.sdk.virtualenv.python_for_all`.
    """
    from envhub.sdk.virtualenv import python_for_all

    run_again(python_for_all(environments, progress))


def run_again(python: Path) -> None:
    """Replace this process by the same command in another interpreter; returns where it is this one."""
    if python == Path(sys.executable):
        return
    command, *rest = sys.argv[1:]
    sys.stdout.flush()
    sys.stderr.flush()
    # -P: the working directory's modules must not stand before Python's own.
    os.execv(python, [str(python), "-P", "-m", "envhub.cli.main", command, FLAG, *rest])


__all__ = ["FLAG", "NoVirtualenv", "enter", "run_again"]
