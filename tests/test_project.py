"""The project's own rules: the namespace, the direction of imports, what the light packages pull in."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from envhub.sdk import read_manifest

ROOT = Path(__file__).resolve().parent.parent
PORTIONS = [ROOT / name for name in ("sdk", "sandbox", "clients", "hub", "trainer_adapters")]
ENVIRONMENTS = sorted(file.parent for file in (ROOT / "environments").glob("*/envhub.toml"))

LINT = """
import sys
from importlinter.cli import lint_imports
left_out, put_in = {left_out!r}, {put_in!r}
sys.path[:] = put_in + [path for path in sys.path if path not in left_out]
sys.exit(lint_imports(no_logo=True, cache_dir=None, config_filename="pyproject.toml"))
"""
HEAVY = {"fastapi", "starlette", "uvicorn", "mcp", "typer", "rich", "jinja2", "structlog", "prometheus_client",
         "msgspec", "uv", "playwright", "numpy", "torch", "django"}  # fmt: skip


def test_there_is_no_init_that_would_break_the_namespace() -> None:
    assert [file for portion in PORTIONS for file in portion.glob("envhub/__init__.py")] == []
    assert [file for portion in PORTIONS for file in portion.glob("__init__.py")] == []


def test_every_package_is_typed() -> None:
    packages = {file.parent for portion in PORTIONS for file in portion.glob("envhub/*/*.py")}
    assert [package.name for package in sorted(packages) if not (package / "py.typed").is_file()] == []


def lint_copy(tmp_path: Path, *violations: tuple[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the import contract on a copy of the project to which lines were added."""
    for portion in PORTIONS:
        if portion.is_dir():
            shutil.copytree(portion, tmp_path / portion.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for file, line in violations:
        with (tmp_path / file).open("a", encoding="utf-8") as stream:
            stream.write(f"\n{line}\n")
    copies = [str(tmp_path / portion.name) for portion in PORTIONS]
    code = LINT.format(left_out=[str(portion) for portion in PORTIONS], put_in=copies)
    return subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )


def test_imports_point_down(tmp_path: Path) -> None:
    done = lint_copy(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("sdk/envhub/sdk/rubric.py", "import envhub.server.session"),
        ("sdk/envhub/sdk/rubric.py", "def late():\n    from envhub.clients import connect"),
        ("clients/envhub/clients/session.py", "from envhub.server.session import Session as _"),
        ("sdk/envhub/server/session.py", "import envhub.clients.session"),
        ("sdk/envhub/server/session.py", "import envhub.cli.main"),
    ],
)
def test_import_contract_sees_every_portion_of_the_namespace(tmp_path: Path, file: str, line: str) -> None:
    done = lint_copy(tmp_path, (file, line))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout


def imported_by(file: Path) -> set[str]:
    """Full names of what a file imports absolutely."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names if node.module == "envhub"}
    return names


@pytest.mark.parametrize("folder", ENVIRONMENTS, ids=lambda folder: folder.name)
def test_environment_imports_only_the_sdk_of_envhub(folder: Path) -> None:
    wrong = {
        f"{file.relative_to(folder)}: {name}"
        for file in folder.rglob("*.py")
        for name in imported_by(file)
        if name.partition(".")[0] == "envhub" and name != "envhub" and not f"{name}.".startswith("envhub.sdk.")
    }
    assert wrong == set()


@pytest.mark.parametrize("folder", ENVIRONMENTS, ids=lambda folder: folder.name)
def test_environment_without_requirements_imports_only_the_standard_library(folder: Path) -> None:
    manifest = read_manifest(folder)
    if manifest.requirements or manifest.requirements_file:
        return
    allowed = sys.stdlib_module_names | {"envhub"}
    assert {
        name for file in folder.rglob("*.py") for name in imported_by(file) if name.partition(".")[0] not in allowed
    } == set()


def test_nothing_imports_environments() -> None:
    files = [file for portion in PORTIONS for file in portion.rglob("*.py")]
    assert files
    wrong = [
        file
        for file in files
        for name in imported_by(file)
        if f"{name}.".startswith(("envhub.environments.", "environments."))
    ]
    assert wrong == []


def modules_after(statement: str) -> set[str]:
    """Top-level modules in memory once a fresh interpreter has run a statement."""
    code = (
        f"{statement}\nimport json, sys\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("module", ["envhub.sdk", "envhub.clients", "envhub.cli.main"])
def test_light_packages_import_no_heavy_library(module: str) -> None:
    assert modules_after(f"import {module}") & HEAVY == set()


def test_base_install_has_three_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert len(project["dependencies"]) == 3


def test_no_machine_path_is_committed() -> None:
    folders = [*PORTIONS, ROOT / "environments", ROOT / "docs", ROOT / "scripts", ROOT / "benchmarks"]
    files = [file for folder in folders for kind in ("*.py", "*.md", "*.toml", "*.json") for file in folder.rglob(kind)]
    homes = ("/work" + "/", "/root" + "/", "/tmp" + "/team")
    wrong = [file for file in files if any(home in file.read_text(encoding="utf-8") for home in homes)]
    assert wrong == []
