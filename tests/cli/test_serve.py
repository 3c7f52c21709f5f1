"""`envhub serve`: what it refuses at once, what it says when it is ready, and the virtual environment it goes on in."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from envhub.cli.app import make_app

TOKEN = "a-token-of-twenty-characters"


def test_a_taken_port_is_one_line_with_what_to_do(run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "frozen-lake", "--port", str(port))
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert f"127.0.0.1:{port}: Address already in use" in done.stderr
    assert "--port 0" in done.stderr


def test_an_address_others_reach_needs_a_token_of_ones_own(run) -> None:
    done = run("serve", "frozen-lake", "--host", "0.0.0.0", "--port", "0")
    assert done.returncode == 1
    assert "--token" in done.stderr


def test_a_short_token_is_refused(run) -> None:
    assert "at least 16 characters" in run("serve", "frozen-lake", "--token", "short").stderr


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ("slip", "write key=value"),
        ("slipp=1", "did you mean slip?"),
        ("wind=1", "it has progress_reward, slip"),
        ("slip=much", "has a number there, as 0.0, and not text"),
        ("slip=true", "has a number there, as 0.0, and not true or false"),
    ],
)
def test_config_that_cannot_be_is_explained(run, pair: str, words: str) -> None:
    done = run("serve", "frozen-lake", "--port", "0", "--config", pair)
    assert done.returncode == 1
    assert words in done.stderr


@pytest.mark.parametrize("wrong", ["--port=70000", "--max-sessions=0", "--log-level=loud", "--what"])
def test_a_wrong_command_line_is_a_usage_error(wrong: str) -> None:
    assert CliRunner().invoke(make_app(), ["serve", "frozen-lake", wrong]).exit_code == 2


def test_two_environments_of_one_name_are_refused(run) -> None:
    done = run("serve", "frozen-lake", "frozen-lake")
    assert done.returncode == 1
    assert "two environments are called frozen-lake" in done.stderr


def test_the_first_line_says_where_and_how(serve, run) -> None:
    ready = serve("frozen-lake", "--port", "0", "--token", TOKEN, "--config", "progress_reward=0.5")
    assert ready["event"] == "ready"
    assert ready["token"] == TOKEN
    assert ready["environments"] == ["frozen-lake"]
    assert httpx.get(f"{ready['url']}/readyz").status_code == 200

    told = json.loads(run("info", ready["url"], "--json").stdout)
    assert told["environments"][0]["name"] == "frozen-lake"
    assert "120 tasks" in run("info", ready["url"]).stdout
    page = json.loads(run("tasks", ready["url"], "--split", "test", "--limit", "1", "--json").stdout)
    assert page["tasks"][0]["id"] == "test-0"


@pytest.mark.install
def test_it_goes_on_in_a_virtual_environment_with_what_is_required(serve, run, tmp_path: Path) -> None:
    run("init", "my-env", "--template", "text")
    manifest = tmp_path / "my-env" / "envhub.toml"
    manifest.write_text(manifest.read_text().replace("requirements = []", 'requirements = ["tabulate==0.9.0"]'))
    code = tmp_path / "my-env" / "env.py"
    code.write_text(code.read_text().replace("from envhub.sdk", "import tabulate\nfrom envhub.sdk", 1))
    assert "'tabulate'" in run("serve", "./my-env", "--port", "0", "--no-virtualenv").stderr

    ready = serve("./my-env", "--port", "0")
    assert ready["environments"] == ["my-env"]
    assert httpx.get(f"{ready['url']}/readyz").status_code == 200
    assert json.loads(run("info", "./my-env", "--json").stdout)["splits"]["train"]["tasks"] == 6
