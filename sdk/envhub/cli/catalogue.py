"""`envhub list`, `envhub info` and `envhub tasks`: what there is, without hosting it."""

from __future__ import annotations

from typing import Annotated

import typer

from envhub.cli.interpreter import NoVirtualenv
from envhub.cli.output import AsJson, Token, console, is_url, print_json

Target = Annotated[str, typer.Argument(metavar="NAME|PATH", help="A bundled environment, or a folder.")]
AnyTarget = Annotated[
    str, typer.Argument(metavar="NAME|PATH|URL", help="A bundled environment, a folder, or a running server.")
]


def list_environments(as_json: AsJson = False) -> None:
    """List the environments that come with envhub.

    An environment of your own is named by its folder; `envhub init` begins one.

    Examples:
      envhub list
      envhub list --json
    """
    from envhub.cli.folder import summary
    from envhub.sdk.loader import list_bundled

    found = list_bundled()
    if as_json:
        print_json({"environments": [summary(folder, manifest) for folder, manifest in found]})
        return
    from rich.table import Table

    table = Table("name", "title", "version", "status", "summary", box=None, header_style="dim", pad_edge=False)
    for _, manifest in found:
        status = manifest.oracle.status
        table.add_row(manifest.name, manifest.display, manifest.version, status, manifest.summary)
    out = console()
    out.print(table)
    out.print("\nenvhub info NAME tells more; envhub serve NAME hosts it.", style="dim")


def info(target: AnyTarget, token: Token = None, as_json: AsJson = False, no_virtualenv: NoVirtualenv = False) -> None:
    """Show an environment: what it is, its tasks, tools and licences, and whether it is proven.

    Its code is imported where what it requires is there already; nothing is built for it.

    Examples:
      envhub info frozen-lake
      envhub info ./my-env --json
      envhub info http://127.0.0.1:8400
    """
    if is_url(target):
        from envhub.cli.remote import describe_server

        facts = describe_server(target, token)
    else:
        from envhub.cli.folder import describe_folder

        facts = describe_folder(target, no_virtualenv)
    if as_json:
        print_json(facts)
        return
    from envhub.cli.cards import print_card

    for each in facts.get("environments", [facts]):
        print_card(each)


def tasks(
    target: AnyTarget,
    split: Annotated[str | None, typer.Option(help="Of this split; else of the first.")] = None,
    offset: Annotated[int, typer.Option(min=0, help="Begin at this one.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 20,
    environment: Annotated[str | None, typer.Option(help="Which one, where a server hosts several.")] = None,
    token: Token = None,
    as_json: AsJson = False,
    no_virtualenv: NoVirtualenv = False,
) -> None:
    """List tasks: their ids, what they ask, and their public facts.

    Answers are never shown: what is private in a task does not leave the environment.

    Examples:
      envhub tasks frozen-lake --split test --limit 5
      envhub tasks http://127.0.0.1:8400 --json
    """
    if is_url(target):
        from envhub.cli.remote import read_page

        page = read_page(target, token, environment=environment, split=split, offset=offset, limit=limit)
    else:
        from envhub.cli.folder import page_of_folder

        page = page_of_folder(target, split, offset, limit, no_virtualenv)
    if as_json:
        print_json(page)
        return
    from envhub.cli.cards import print_tasks

    print_tasks(page)


__all__ = ["info", "list_environments", "tasks"]
