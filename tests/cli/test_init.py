"""`envhub init`: templates that serve, pass their own tests, and overwrite nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

TEMPLATES = ("tool", "text")


@pytest.mark.parametrize("template", TEMPLATES)
def test_its_own_tests_pass(run, tmp_path: Path, template: str) -> None:
    made = json.loads(run("init", "my-env", "--template", template, "--json").stdout)
    assert made["folder"] == str(tmp_path / "my-env")
    assert {"envhub.toml", "env.py", "oracle.py", "README.md", "tests/test_env.py"} <= set(made["files"])
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio", "my-env"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert tests.returncode == 0, tests.stdout


@pytest.mark.parametrize("template", TEMPLATES)
def test_it_is_formatted_and_checked(run, tmp_path: Path, template: str) -> None:
    run("init", "my-long-named-env", "--template", template)
    for check in (["check", "--select", "E,F,I,UP,B"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *check, "--line-length", "120", "--isolated", "."],
            cwd=tmp_path / "my-long-named-env", capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout


def test_it_goes_where_it_is_told(run, tmp_path: Path) -> None:
    assert run("init", "my-env", "--dir", "several/environments").returncode == 0
    assert (tmp_path / "several" / "environments" / "my-env" / "envhub.toml").is_file()


def test_nothing_is_overwritten(run, tmp_path: Path) -> None:
    run("init", "my-env")
    (tmp_path / "my-env" / "env.py").write_text("mine")
    done = run("init", "my-env")
    assert done.returncode == 1
    assert "my-env exists already" in done.stderr
    assert (tmp_path / "my-env" / "env.py").read_text() == "mine"


@pytest.mark.parametrize(("name", "near"), [("My Env", "my-env"), ("../my-env", "my-env"), ("-", "my-env")])
def test_a_name_that_cannot_be_is_answered_with_one_that_can(run, tmp_path: Path, name: str, near: str) -> None:
    done = run("init", "--", name)
    assert done.returncode == 1
    assert f"as in {near}" in done.stderr
    assert not (tmp_path / "my-env").exists()


def test_the_tool_template_serves_an_episode(run, serve) -> None:
    run("init", "my-env")
    ready = serve("./my-env", "--port", "0")
    assert ready["environments"] == ["my-env"]
    assert _episode(ready, {"tool_calls": [{"name": "answer", "arguments": {"total": 0}}]}) == 0.0


def test_the_text_template_serves_an_episode(run, serve) -> None:
    run("init", "my-env", "--template", "text")
    ready = serve("./my-env", "--port", "0")
    tasks = json.loads(run("tasks", "./my-env", "--split", "train", "--json").stdout)["tasks"]
    assert _episode(ready, {"message": " ".join(sorted(tasks[0]["metadata"]["words"]))}) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES)
def test_it_validates_as_it_is(run, template: str) -> None:
    run("init", "my-env", "--template", template)
    done = run("validate", "./my-env", "--sample", "1", "--json")
    told = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 0, told
    assert told["oracle_mean"] == 1
    assert told["junk_max"] == 0


def _episode(ready: dict, action: dict) -> float:
    """The reward of one step on task train-0."""
    control = {"Authorization": f"Bearer {ready['token']}"}
    with httpx.Client(base_url=ready["url"], timeout=30) as http:
        opened = http.post("/v1/sessions", json={"task": "train-0"}, headers=control).raise_for_status().json()
        session = {"Authorization": f"Bearer {opened['session_token']}"}
        path = f"/v1/sessions/{opened['session']}/step"
        stepped = http.post(path, json={"index": 0, "action": action}, headers=session).raise_for_status().json()
        assert stepped["result"]["end"] == "terminated"
        reward: float = stepped["result"]["reward"]
        return reward
