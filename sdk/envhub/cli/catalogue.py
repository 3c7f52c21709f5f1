"""`envhub list`, `envhub info` and `envhub tasks`: what there is, without hosting it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envhub.cli.interpreter import NoVirtualenv, enter, run_again
from envhub.cli.output import AsJson, Token, console, is_url, print_json, quiet_stdout

if TYPE_CHECKING:
    from envhub.sdk.manifest import Manifest

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
    from envhub.sdk.loader import list_bundled

    found = list_bundled()
    if as_json:
        print_json({"environments": [_summary(folder, manifest) for folder, manifest in found]})
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
        facts = _describe_folder(target, no_virtualenv)
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
        page = _page_of_folder(target, split, offset, limit, no_virtualenv)
    if as_json:
        print_json(page)
        return
    from envhub.cli.cards import print_tasks

    print_tasks(page)


def _summary(folder: Path, manifest: Manifest) -> dict[str, Any]:
    return {
        "name": manifest.name,
        "title": manifest.display,
        "version": manifest.version,
        "summary": manifest.summary,
        "status": manifest.oracle.status,
        "reason": manifest.oracle.reason,
        "isolation": manifest.isolation,
        "capabilities": list(manifest.capabilities),
        "tags": list(manifest.tags),
        "folder": str(folder),
    }


def _describe_folder(target: str, no_virtualenv: bool) -> dict[str, Any]:
    """What the manifest says, and what the code says where it can be imported without building anything."""
    from envhub.sdk.errors import EnvhubError
    from envhub.sdk.loader import find_folder, load
    from envhub.sdk.manifest import read_manifest

    folder = find_folder(target)
    manifest = read_manifest(folder)
    if not no_virtualenv:
        from envhub.sdk.virtualenv import find_python

        if (ready := find_python(folder, manifest)) is not None:
            run_again(ready)
    facts = _summary(folder, manifest) | {
        "max_turns": manifest.max_turns,
        "licences": manifest.licences.model_dump(),
        "requirements": list(manifest.requirements),
        "requirements_file": manifest.requirements_file,
        "config": manifest.config,
        "splits": None,
        "tools": None,
        "note": None,
    }
    try:
        with quiet_stdout():
            cls = load(str(folder)).cls
            sizes = dict(cls.tasks().splits())
    except Exception as error:  # the boundary at which others' code may fail without hiding its manifest
        reason = error.message if isinstance(error, EnvhubError) else repr(error)
        return facts | {"note": f"tasks and tools are not shown: {reason}"}
    splits = {name: {"tasks": size, "about": manifest.splits.get(name, "")} for name, size in sizes.items()}
    tools = [{"name": each.name, "description": each.description} for each in cls.tools.values()]
    return facts | {"splits": splits, "tools": tools, "accepts_messages": cls.accepts_messages()}


def _page_of_folder(target: str, split: str | None, offset: int, limit: int, no_virtualenv: bool) -> dict[str, Any]:
    from envhub.sdk.errors import NotFound
    from envhub.sdk.loader import find_folder, load
    from envhub.sdk.manifest import read_manifest

    folder = find_folder(target)
    manifest = read_manifest(folder)
    if not no_virtualenv:
        enter([(folder, manifest)])
    with quiet_stdout():
        source = load(str(folder)).cls.tasks()
        sizes = dict(source.splits())
        chosen = split or next(iter(sizes), "train")
        if chosen not in sizes:
            raise NotFound(f"{manifest.name} has no split {chosen!r}; it has {', '.join(sizes) or 'no tasks at all'}")
        page = source.page(chosen, offset, limit)
    after = offset + len(page)
    size = sizes[chosen]
    return {
        "environment": manifest.name,
        "splits": sizes,
        "tasks": [task.model_dump(mode="json") for task in page],
        "next_offset": after if page and (size is None or after < size) else None,
    }


__all__ = ["info", "list_environments", "tasks"]
