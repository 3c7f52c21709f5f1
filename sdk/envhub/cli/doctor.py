"""`envhub doctor`: whether this machine has what envhub needs, and the command that brings what is missing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from envhub.cli.output import AsJson, console, print_json

MIN_PYTHON = (3, 11)
MIN_DISK_MB = 2048
DEFAULT_PORT = 8400
BROWSERS = (
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
)


@dataclass(frozen=True)
class Check:
    """One thing looked at."""

    name: str
    ok: bool
    found: str
    """What was seen, in a few words."""
    fix: str | None = None
    """The command that helps; None where nothing is to be done."""
    required: bool = True
    """False: envhub works without, some environments do not."""


def doctor(as_json: AsJson = False) -> None:
    """Check this machine for what envhub needs, and say what fixes each problem.

    The exit status is 1 only where something is missing that every environment needs.

    Examples:
      envhub doctor
      envhub doctor --json
    """
    checks = [check() for check in CHECKS]
    failed = [check for check in checks if check.required and not check.ok]
    if as_json:
        print_json({"ok": not failed, "checks": [asdict(check) for check in checks]})
    else:
        _print(checks)
    if failed:
        raise typer.Exit(1)


def _print(checks: list[Check]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for check in checks:
        mark = Text("ok", "green") if check.ok else Text("missing", "red" if check.required else "yellow")
        what = Text(check.found)
        if check.fix is not None and not check.ok:
            what.append(f"\n{check.fix}", "bold")
        table.add_row(mark, Text(check.name), what)
    console().print(table)


def check_python() -> Check:
    """Python's own version."""
    fix = f"install Python {'.'.join(map(str, MIN_PYTHON))} or newer"
    return Check("Python", sys.version_info >= MIN_PYTHON, platform.python_version(), fix)


def check_extra(extra: str, required: bool) -> Check:
    """Every distribution an extra of envhub asks for."""
    from packaging.requirements import Requirement

    wanted = map(Requirement, importlib.metadata.requires("envhub") or ())
    asked = [each for each in wanted if each.marker is not None and each.marker.evaluate({"extra": extra})]
    missing = [each.name for each in asked if not _has(each.name)]
    found = f"{', '.join(missing)} not installed" if missing else f"{len(asked)} packages"
    return Check(f"extra {extra}", not missing, found, f"pip install 'envhub[{extra}]'", required)


def _has(name: str) -> bool:
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def check_uv() -> Check:
    """The binary that makes environments' virtual environments."""
    try:
        import uv

        return Check("uv", True, uv.find_uv_bin())
    except (ImportError, FileNotFoundError) as error:
        return Check("uv", False, str(error), "pip install 'envhub[serve]'")


def check_browser() -> Check:
    """A Chrome or Chromium: the one that is named, on the path, or in Playwright's cache."""
    named = os.environ.get("ENVHUB_CHROMIUM")
    if named and shutil.which(named) is None:
        seen = f"ENVHUB_CHROMIUM names {named}, which is not an executable file"
        return Check("browser", False, seen, "unset ENVHUB_CHROMIUM", required=False)
    found = next(_browsers(), None)
    fix = "playwright install chromium    (or, on Debian: apt-get install chromium)"
    seen = found or "no Chrome or Chromium, which webarena needs"
    return Check("browser", found is not None, seen, fix, required=False)


def _browsers() -> Iterator[str]:
    named = os.environ.get("ENVHUB_CHROMIUM")
    yield from filter(None, map(shutil.which, (named, *BROWSERS) if named else BROWSERS))
    cache = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright"
    yield from (str(each) for each in sorted(Path(cache).glob("chromium*")) if each.is_dir())


def check_port() -> Check:
    """The port `envhub serve` takes where none is named."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", DEFAULT_PORT))
        except OSError as error:
            fix = "envhub serve … --port 0"
            return Check("port", False, f"{DEFAULT_PORT}: {error.strerror or error}", fix, required=False)
    return Check("port", True, f"{DEFAULT_PORT} is free", required=False)


def check_home() -> Check:
    """The folder of tokens and caches: writable, and closed to other users."""
    from envhub.sdk.paths import home

    folder = home()
    place = next(each for each in (folder, *folder.parents) if each.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        return Check("home", False, f"cannot write to {place}", "export ENVHUB_HOME=/a/folder/of/yours")
    tokens = folder / "servers"
    if tokens.exists() and stat.S_IMODE(tokens.stat().st_mode) & 0o077:
        return Check("home", False, f"others can read {tokens}, where tokens lie", f"chmod 700 {tokens}")
    return Check("home", True, str(folder))


def check_disk() -> Check:
    """Room for virtual environments and built data."""
    from envhub.sdk.paths import home

    folder = home()
    place = next(each for each in (folder, *folder.parents) if each.exists())
    free_mb = shutil.disk_usage(place).free // 2**20
    fix = f"free {MIN_DISK_MB} MB there, or export ENVHUB_HOME=/a/folder/with/room"
    return Check("disk", free_mb >= MIN_DISK_MB, f"{free_mb} MB free at {place}", fix)


CHECKS: tuple[Callable[[], Check], ...] = (
    check_python,
    lambda: check_extra("serve", True),
    lambda: check_extra("browser", False),
    check_uv,
    check_browser,
    check_port,
    check_home,
    check_disk,
)

__all__ = ["CHECKS", "Check", "doctor"]
