"""The application: every command in one place."""

from __future__ import annotations

from typing import Annotated

import typer

from envhub.cli import catalogue
from envhub.cli.doctor import doctor
from envhub.cli.init import init
from envhub.cli.serve import serve
from envhub.cli.validate import validate
from envhub.cli.version import version

HELP = """Environments for reinforcement learning of language-model agents.

To begin with:
  envhub list                  what can be hosted
  envhub serve webarena        host it: sessions over HTTP, WebSocket and MCP
  envhub validate webarena     check it: oracle, junk, determinism, protocol
  envhub init my-env           begin an environment of your own

Every command has --help with examples.
With --json a command writes JSON to standard output, and all else to standard error.
The exit status is 0, 1 where something failed, and 2 where the command line is wrong.
"""


def _print_version(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


def _options(
    show: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version of envhub.")
    ] = False,
) -> None:
    """What may stand before the command."""


def make_app() -> typer.Typer:
    """The command line with all its commands."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(help=HELP)(_options)
    app.command("serve")(serve)
    app.command("list")(catalogue.list_environments)
    app.command("info")(catalogue.info)
    app.command("tasks")(catalogue.tasks)
    app.command("init")(init)
    app.command("validate")(validate)
    app.command("doctor")(doctor)
    app.command("version")(version)
    return app


__all__ = ["make_app"]
