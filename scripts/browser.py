"""Find a browser for the web environments, or fetch one, and say which.

In this order: what webarena itself finds (ENVHUB_CHROMIUM, PATH, an earlier download), Playwright's download, Debian's
package where this is root. A browser counts where `--version` runs: a download without its system libraries does not.
Without one, everything but the web environments works; under CI=true that is a failure.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from envhub.sdk import SandboxFailed
from envhub.sdk.loader import mount

WEBARENA = Path(__file__).resolve().parent.parent / "environments" / "webarena"
DOWNLOAD_S = 300.0
PACKAGE_S = 600.0


def main() -> None:
    """Print the browser that will be used."""
    found = installed() or fetch_download() or fetch_package()
    if found:
        print(f"setup: browser {found}", flush=True)
        return
    print("setup: no browser; install Chrome or Chromium, then run `make setup` again", file=sys.stderr)
    if os.environ.get("CI") == "true":
        sys.exit(1)


def installed() -> str | None:
    """The browser that webarena would use, if there is one and it runs."""
    find = importlib.import_module(f"{mount(WEBARENA)}.browser.find")
    try:
        found = find.find_browser(os.environ.get("ENVHUB_CHROMIUM"))
    except SandboxFailed:
        return None
    return describe(str(found.path))


def fetch_download() -> str | None:
    """Let Playwright download its Chromium, with the system libraries where this is root."""
    print("setup: no Chrome or Chromium here; Playwright downloads one", flush=True)
    with_libraries = ["--with-deps"] if os.geteuid() == 0 and shutil.which("apt-get") else []
    if not succeeds([sys.executable, "-m", "playwright", "install", *with_libraries, "chromium"], DOWNLOAD_S):
        return None
    return installed()


def fetch_package() -> str | None:
    """Install Debian's chromium by apt."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return None
    print("setup: no download; installing Debian's chromium", flush=True)
    succeeds(["apt-get", "update", "-qq"], PACKAGE_S)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
    return installed() if succeeds(command, PACKAGE_S) else None


def succeeds(command: list[str], limit_s: float) -> bool:
    """Run a command; on failure show the last of what it said."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        print(f"setup: `{' '.join(command)}` took longer than {limit_s:g} s", file=sys.stderr)
        return False
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()[-2:]
        print(f"setup: `{' '.join(command)}` failed: {' '.join(lines)}", file=sys.stderr)
    return done.returncode == 0


def describe(path: str) -> str | None:
    """`path (version)` of a browser that runs, else None."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return f"{path} ({done.stdout.strip()})" if done.returncode == 0 else None


if __name__ == "__main__":
    main()
