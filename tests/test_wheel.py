"""The wheel: what is in it, and that an empty environment can serve a bundled environment from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uv

ROOT = Path(__file__).resolve().parent.parent
STEPS_MAX = 40
START_S = 60.0

pytestmark = [pytest.mark.install, pytest.mark.slow]


def run_uv(*arguments: str) -> None:
    done = subprocess.run(
        [uv.find_uv_bin(), "--quiet", *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run_uv("build", "--wheel", "--out-dir", str(folder))
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the commands of an environment that holds nothing but the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    run_uv("venv", "--python", sys.executable, str(folder))
    run_uv("pip", "install", "--python", str(folder / "bin" / "python"), f"envhub[serve] @ {wheel.as_uri()}")
    return folder / "bin"


def test_wheel_installs_one_name_and_no_generic_one(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {"envhub"}
    assert "envhub/__init__.py" not in names


def test_wheel_holds_every_file_of_the_environments(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    folders = [file.parent for file in (ROOT / "environments").glob("*/envhub.toml")]
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    kept = [file for file in files if "__pycache__" not in file.parts]
    missing = {file.relative_to(ROOT).as_posix() for file in kept} - {name.removeprefix("envhub/") for name in names}
    assert missing == set()


def test_wheel_holds_types_templates_and_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for end in ("envhub/sdk/py.typed", "envhub/clients/py.typed", "licenses/LICENSE"):
        assert any(name.endswith(end) for name in names), end
    assert any(name.startswith("envhub/cli/templates/") for name in names)


@pytest.fixture
def served(installed: Path, tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of a server that was started in an empty folder with an empty home."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ENVHUB_HOME": str(tmp_path / "home")}
    (tmp_path / "empty").mkdir()
    with (tmp_path / "stderr").open("w") as stderr:
        process = subprocess.Popen(
            [installed / "envhub", "serve", "frozen-lake", "--port", "0", "--json", "--exit-with-parent"],
            cwd=tmp_path / "empty", env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
        )  # fmt: skip
    too_late = threading.Timer(START_S, process.kill)
    too_late.start()
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        ready = json.loads(process.stdout.readline() or "{}")
        assert ready.get("event") == "ready", (tmp_path / "stderr").read_text()
        headers = {"Authorization": f"Bearer {ready['token']}"}
        with httpx.Client(base_url=ready["url"], headers=headers, timeout=30) as client:
            yield client
    finally:
        too_late.cancel()
        process.stdin.close()
        process.wait(timeout=30)
        process.stdout.close()


def test_bundled_environment_is_served_from_the_wheel(served: httpx.Client) -> None:
    hosted = served.get("/v1/info").raise_for_status().json()["environments"]
    assert [environment["name"] for environment in hosted] == ["frozen-lake"]
    opened = served.post("/v1/sessions", json={"task": "test-0", "seed": 7}).raise_for_status().json()
    headers = {"Authorization": f"Bearer {opened['session_token']}"}
    path = f"/v1/sessions/{opened['session']}"
    for index in range(STEPS_MAX):
        step = {"index": index, "action": {"message": ("right", "down")[index % 2]}}
        result = served.post(f"{path}/step", json=step, headers=headers).raise_for_status().json()["result"]
        if result["end"]:
            break
    assert result["end"] == "terminated"
    assert result["reward"] in (0.0, 1.0)
    status = served.get(path, headers=headers).raise_for_status().json()
    assert (status["state"], status["reward"]) == ("ended", result["reward"])


def test_base_install_is_the_client_alone(wheel: Path, tmp_path: Path) -> None:
    run_uv("venv", "--python", sys.executable, str(tmp_path / "venv"))
    python = tmp_path / "venv" / "bin" / "python"
    run_uv("pip", "install", "--python", str(python), str(wheel))
    subprocess.run([str(python), "-c", "import envhub.clients, envhub.sdk"], cwd=tmp_path, check=True, timeout=60)
    command = [str(tmp_path / "venv" / "bin" / "envhub"), "list"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "envhub[serve]" in done.stderr


def test_no_copy_of_the_environments_is_left_in_the_checkout() -> None:
    assert not (ROOT / "sdk" / "envhub" / "environments").exists()
