"""mypy --strict over the packages, then over each environment on its own. Run by `make types`.

Every environment has an env.py, so they cannot be checked together; each is linked under a package name of its own,
as the loader mounts it. What runs in a process of its own on untyped libraries is left out (`UNTYPED`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PORTIONS = [folder for folder in ("sdk", "sandbox", "clients", "hub", "trainer_adapters") if (ROOT / folder).is_dir()]
PROGRAMS = ("scripts", "benchmarks", "demo.py")
UNTYPED = {"webarena": "sites"}
"""Environment -> its subfolder whose libraries have no types: Django's sites."""


def main() -> None:
    """Check everything; exit 1 if anything has an error."""
    failed = [name for name, command in commands() if not passes(name, command)]
    if failed:
        sys.exit(f"types: errors in {', '.join(failed)}")


def commands() -> list[tuple[str, list[str]]]:
    """What to check, and mypy's arguments for it."""
    packages = [f"{folder}/envhub" for folder in PORTIONS if any((ROOT / folder).rglob("*.py"))]
    programs = [(name, [name]) for name in PROGRAMS if (ROOT / name).is_file() or any(ROOT.glob(f"{name}/*.py"))]
    environments = sorted(file.parent.name for file in (ROOT / "environments").glob("*/envhub.toml"))
    return [(", ".join(packages), packages), *programs, *((name, environment(name)) for name in environments)]


def environment(name: str) -> list[str]:
    """mypy's arguments for an environment linked as a package."""
    left_out = ["--exclude", f"/{UNTYPED[name]}/"] if name in UNTYPED else []
    return [*left_out, "--package", package_of(name)]


def package_of(name: str) -> str:
    """A package name for a folder's name."""
    return "environment_" + name.replace("-", "_")


def passes(name: str, arguments: list[str]) -> bool:
    """Run mypy; show what it says only where something is wrong."""
    with tempfile.TemporaryDirectory() as links:
        for file in (ROOT / "environments").glob("*/envhub.toml"):
            (Path(links) / package_of(file.parent.name)).symlink_to(file.parent)
        path = {**os.environ, "MYPYPATH": f"{links}:benchmarks"}
        command = [sys.executable, "-m", "mypy", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=path, capture_output=True, text=True, check=False)
    print(f"types: {name}: {done.stdout.strip().splitlines()[-1] if done.stdout else done.stderr}", flush=True)
    if done.returncode != 0:
        print(done.stdout, end="")
    return done.returncode == 0


if __name__ == "__main__":
    main()
