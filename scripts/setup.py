"""Make .venv with everything that demo, tests and checks need. Run by `make setup`; needs Python >= 3.11 and pip.

uv does the work: the one on PATH, else one that pip fetches from PyPI into build/uv. Run again, it only adds what
pyproject.toml asks for anew. Standard library only: it runs before anything is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
WEBARENA = ROOT / "environments" / "webarena" / "requirements.txt"
"""So that its tests run in .venv and it is hosted there too, without a virtual environment of its own."""
STAMP = VENV / ".setup-done"
"""Newer than pyproject.toml where there is nothing to do; the Makefile compares."""


def main() -> None:
    """Make the virtual environment, install into it, find or fetch a browser."""
    if sys.version_info < (3, 11):  # noqa: UP036 - any Python may be the one that runs this
        found = ".".join(map(str, sys.version_info[:3]))
        sys.exit(f"setup: envhub needs Python 3.11 or newer, this is {found}; try `make setup PYTHON=python3.12`")
    started = time.monotonic()
    uv = find_uv()
    if not PYTHON.exists():
        say(f"new virtual environment in {VENV.relative_to(ROOT)}")
        run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(VENV))
    say("Python packages (a minute or two the first time)")
    quiet = [] if sys.stderr.isatty() else ["--quiet"]
    own = ["-e", ".[serve,browser]", "--group", "dev"]
    run(uv, "pip", "install", *quiet, "--python", str(PYTHON), *own, "-r", str(WEBARENA))
    run(str(PYTHON), str(ROOT / "scripts" / "browser.py"))
    STAMP.touch()
    say(f"done in {time.monotonic() - started:.0f} s")


def find_uv() -> str:
    """uv on PATH or in .venv, else fetched by pip. pip's --target works also where Debian protects its own Python."""
    target = ROOT / "build" / "uv"
    for candidate in (shutil.which("uv"), VENV / "bin" / "uv", target / "bin" / "uv"):
        if candidate and Path(candidate).exists():
            return str(candidate)
    say("uv from PyPI")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", str(target), "uv")
    return str(target / "bin" / "uv")


def run(*command: str) -> None:
    """Run a command in the root; what it says on failure has been shown, so only its name is added."""
    environment = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    result = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    if result.returncode != 0:
        sys.exit(f"setup: `{' '.join(command)}` failed with exit status {result.returncode}")


def say(text: str) -> None:
    """One line of progress."""
    print(f"setup: {text}", flush=True)


if __name__ == "__main__":
    main()
