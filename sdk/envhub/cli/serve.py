"""`envhub serve`: host environments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envhub.cli.interpreter import NoVirtualenv, enter
from envhub.cli.output import console, print_json, progress

if TYPE_CHECKING:
    from envhub.sdk.manifest import Manifest

    Found = list[tuple[Path, Manifest]]


class LogLevel(StrEnum):
    """What `--log-level` may be."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


Names = Annotated[list[str], typer.Argument(metavar="NAME|PATH...", help="Bundled environments, or folders.")]
Host = Annotated[str, typer.Option(help="Address to listen at.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0: any free one.")]
MaxSessions = Annotated[int | None, typer.Option(min=1, help="Sessions at once; else what fits the machine.")]
Record = Annotated[Path | None, typer.Option(metavar="DIR", help="Write every episode's records there.")]
Token = Annotated[
    str | None,
    typer.Option(envvar="ENVHUB_TOKEN", help="Server token; else one is made and left in a private file."),
]
Config = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="Override an entry of the manifest's \\[config]; may be repeated."),
]
Events = Annotated[bool, typer.Option("--json", help="Write `ready` as one JSON object; all else to standard error.")]
WithParent = Annotated[bool, typer.Option("--exit-with-parent", help="Stop when standard input closes.")]


def serve(
    names: Names,
    host: Host = "127.0.0.1",
    port: Port = 8400,
    max_sessions: MaxSessions = None,
    record: Record = None,
    token: Token = None,
    config: Config = None,
    as_json: Events = False,
    exit_with_parent: WithParent = False,
    log_level: Annotated[LogLevel, typer.Option(help="How much to log.")] = LogLevel.INFO,
    no_virtualenv: NoVirtualenv = False,
) -> None:
    """Host environments: sessions over HTTP, WebSocket and MCP.

    What an environment requires is installed into a virtual environment of its own at the first start.
    A server token always exists; clients of yours on this machine find it by themselves.

    Examples:
      envhub serve frozen-lake
      envhub serve webarena --max-sessions 16 --record runs/
      envhub serve ./my-env --port 0 --config progress_reward=0.5
      envhub serve frozen-lake --host 0.0.0.0 --token "$(openssl rand -hex 24)"
    """
    from envhub.cli.address import check_address
    from envhub.cli.overrides import parse_overrides

    found = find(names)
    overrides = parse_overrides(config or [], [manifest for _, manifest in found])
    check_address(host, port, token)
    if not no_virtualenv:
        enter(found)

    from envhub.server.config import ServeOptions
    from envhub.server.run import serve as run_server

    options = ServeOptions(
        environments=tuple(str(folder) for folder, _ in found),
        host=host,
        port=port,
        max_sessions=max_sessions,
        record=record,
        token=token,
        config=overrides,
        exit_with_parent=exit_with_parent,
        log_level=log_level.value,
    )
    run_server(options, on_ready=_announcer(found, as_json, token is not None), progress=progress)


def find(names: Sequence[str]) -> Found:
    """Folder and manifest of each name or path.

    Raises:
        NotFound, ManifestError: as `find_folder` and `read_manifest`.
        InvalidRequest: two of the same name.
    """
    from envhub.sdk.errors import InvalidRequest
    from envhub.sdk.loader import find_folder
    from envhub.sdk.manifest import read_manifest

    found = [(folder, read_manifest(folder)) for folder in map(find_folder, names)]
    seen: dict[str, Path] = {}
    for folder, manifest in found:
        if manifest.name in seen:
            raise InvalidRequest(
                f"two environments are called {manifest.name}: {seen[manifest.name]} and {folder}; "
                "serve them apart, or rename one in its envhub.toml"
            )
        seen[manifest.name] = folder
    return found


def _announcer(found: Found, as_json: bool, token_given: bool) -> Callable[[str, str], None]:
    def on_ready(url: str, token: str) -> None:
        if as_json:
            names = [manifest.name for _, manifest in found]
            print_json({"event": "ready", "url": url, "token": token, "environments": names})
        else:
            _greet(url, found, token_given)

    return on_ready


def _greet(url: str, found: Found, token_given: bool) -> None:
    """What people see once the server takes requests."""
    from envhub.sdk.paths import servers_dir

    out = console()
    for _, manifest in found:
        out.print(f"[bold green]{manifest.display}[/] {manifest.version}  [dim]{manifest.oracle.status}[/]")
        out.print(f"  {manifest.summary}", style="dim", markup=False)
    where = "the one you gave" if token_given else f"in {servers_dir() / url.rpartition(':')[2]}.json"
    out.print(f"\n  address  [bold]{url}[/]")
    out.print(f"  token    {where}; clients of yours on this machine find it")
    out.print(f"  status   {url}/ in a browser, with any user name and the token as password\n")
    out.print("  from envhub.clients import connect", style="cyan")
    which = f'environment="{found[0][1].name}"' if len(found) > 1 else ""
    line = f'  async with connect("{url}") as client, client.session({which}) as session: …'
    out.print(line, style="cyan", markup=False)
    out.print("\n  Ctrl-C stops it.", style="dim")


__all__ = ["LogLevel", "find", "serve"]
