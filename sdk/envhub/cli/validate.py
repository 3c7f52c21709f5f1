"""`envhub validate`: check an environment or a server."""

from __future__ import annotations

from typing import Annotated

import typer

from envhub.cli.interpreter import NoVirtualenv, enter
from envhub.cli.output import AsJson, Token, is_url


def validate(
    target: Annotated[str, typer.Argument(metavar="NAME|PATH|URL", help="An environment, or a running server.")],
    sample: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Check N tasks; else 200 of each finite split and 50 of an infinite one."
        ),
    ] = None,
    token: Token = None,
    as_json: AsJson = False,
    no_virtualenv: NoVirtualenv = False,
) -> None:
    """Check that an environment proves itself, and that a server follows the protocol.

    The oracle earns 1 on every task, and junk earns 0.
    The same task, seed and actions give the same bytes; parallel sessions see nothing of each other.
    Deadlines stop work, and bad input gets typed errors.

    Examples:
      envhub validate frozen-lake
      envhub validate ./my-env --sample 5
      envhub validate http://127.0.0.1:8400 --json
    """
    if not no_virtualenv and not is_url(target):
        from envhub.sdk.errors import ManifestError
        from envhub.sdk.loader import find_folder
        from envhub.sdk.manifest import read_manifest

        folder = find_folder(target)
        try:
            manifest = read_manifest(folder)
        except ManifestError:
            pass  # the suite reports it, as a failed check
        else:
            enter([(folder, manifest)])

    from envhub.validate.command import run

    raise typer.Exit(run(target, sample, as_json, token))


__all__ = ["validate"]
