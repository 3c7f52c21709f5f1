"""What the command tells people and machines: help, lists, errors and exit statuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from envhub.cli.app import make_app

LICENCES = 'licences = { wrapper = "Apache-2.0", data = "Apache-2.0" }\n'


@pytest.mark.parametrize("command", ["serve", "list", "info", "tasks", "init", "validate", "doctor", "version"])
def test_help_of_each_command_shows_examples(command: str) -> None:
    done = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1"}).invoke(make_app(), [command, "--help"])
    assert done.exit_code == 0
    assert f"\n   envhub {command}" in done.stdout


def test_help_lists_the_commands(run) -> None:
    done = run("--help")
    assert done.returncode == 0
    for command in ("serve", "list", "info", "init", "validate", "doctor", "version"):
        assert f"│ {command} " in done.stdout


@pytest.mark.parametrize("arguments", [["version"], ["--help"]])
def test_quick_commands_import_neither_server_nor_sdk(arguments: list[str]) -> None:
    program = (
        "import sys, envhub.cli.main as main\n"
        f"sys.argv = ['envhub', *{arguments!r}]\n"
        "try: main.main()\n"
        "except SystemExit: pass\n"
        "print([name for name in ('envhub.sdk', 'envhub.server', 'httpx', 'fastapi') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"


def test_version_is_told_to_people_and_machines(run) -> None:
    assert run("version").stdout == run("--version").stdout == "envhub 0.1.0\n"
    assert json.loads(run("version", "--json").stdout)["envhub"] == "0.1.0"


def test_unknown_command_is_a_usage_error_with_a_near_one(run) -> None:
    done = run("serv")
    assert done.returncode == 2
    assert "Did you mean 'serve'?" in done.stderr


def test_list_names_the_bundled_environments(run) -> None:
    assert "frozen-lake" in run("list").stdout
    listed = {each["name"]: each for each in json.loads(run("list", "--json").stdout)["environments"]}
    assert listed["frozen-lake"]["status"] == "proven"


def test_info_shows_splits_and_what_drives_it(run) -> None:
    shown = json.loads(run("info", "frozen-lake", "--json").stdout)
    assert shown["splits"]["test"]["tasks"] == 120
    assert shown["splits"]["train"]["tasks"] is None
    assert shown["accepts_messages"] is True
    text = run("info", "frozen-lake").stdout
    assert "proven" in text
    assert "120 tasks" in text


def test_info_of_what_cannot_be_imported_still_shows_the_manifest(run, tmp_path: Path) -> None:
    _environment(tmp_path / "thing", 'requirements = ["no-such-thing"]\n', "import no_such_thing\n")
    shown = json.loads(run("info", "./thing", "--json").stdout)
    assert shown["summary"] == "A thing."
    assert shown["tools"] is None
    assert "'no_such_thing'" in shown["note"]


def test_info_of_tasks_that_cannot_be_read_still_shows_the_manifest(run, tmp_path: Path) -> None:
    code = "from envhub.sdk import Environment as Base\nclass Environment(Base):\n    tasks = lambda: 1 / 0\n"
    _environment(tmp_path / "thing", "", code)
    done = run("info", "./thing", "--json")
    assert json.loads(done.stdout)["summary"] == "A thing."
    assert "ZeroDivisionError" in json.loads(done.stdout)["note"]


def test_what_environments_print_stays_out_of_json(run, tmp_path: Path) -> None:
    code = "from envhub.sdk import Environment as Base\nprint('loud')\nclass Environment(Base): pass\n"
    _environment(tmp_path / "thing", "", code)
    (tmp_path / "thing" / "tasks").mkdir()
    (tmp_path / "thing" / "tasks" / "train.jsonl").write_text('{"id": "one"}\n')
    done = run("info", "./thing", "--json")
    assert json.loads(done.stdout)["name"] == "thing"
    assert "loud" in done.stderr


def test_tasks_are_paged_and_private_parts_left_out(run) -> None:
    run("init", "my-env")
    page = json.loads(run("tasks", "./my-env", "--split", "train", "--limit", "2", "--json").stdout)
    assert [task["id"] for task in page["tasks"]] == ["train-0", "train-1"]
    assert page["next_offset"] == 2
    assert all("private" not in task for task in page["tasks"])
    assert "train-5" in run("tasks", "./my-env", "--split", "train", "--offset", "4").stdout


def test_tasks_show_what_each_asks_and_not_what_all_share(run) -> None:
    shown = run("tasks", "webarena", "--limit", "3").stdout
    assert shown.count("Your task: ") == 3
    assert "The sites:" not in shown


def test_tasks_of_an_unknown_split_name_the_splits(run) -> None:
    done = run("tasks", "frozen-lake", "--split", "dev")
    assert done.returncode == 1
    assert "no split 'dev'; it has train, test" in done.stderr


@pytest.mark.parametrize("command", ["serve", "info", "tasks", "validate"])
def test_unknown_name_is_answered_with_near_ones(run, command: str) -> None:
    done = run(command, "frozenlake")
    assert done.returncode == 1
    assert "did you mean frozen-lake?" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["serve", "info", "tasks", "validate"])
def test_folder_without_manifest_is_named(run, tmp_path: Path, command: str) -> None:
    (tmp_path / "empty").mkdir()
    done = run(command, "./empty")
    assert done.returncode == 1
    assert "no envhub.toml in empty" in done.stderr
    assert "Traceback" not in done.stderr


def test_unknown_manifest_key_is_named_with_the_nearest(run, tmp_path: Path) -> None:
    _environment(tmp_path / "thing", 'isolatoin = "inline"\n', "")
    done = run("serve", "./thing")
    assert done.returncode == 1
    assert "unknown key 'isolatoin'; did you mean 'isolation'?" in done.stderr


def test_code_that_raises_is_told_with_its_line(run, tmp_path: Path) -> None:
    _environment(tmp_path / "thing", "", "import math\nmath.sqrt(-1)\n")
    done = run("serve", "./thing", "--port", "0")
    assert done.returncode == 1
    assert "importing env.py raised ValueError" in done.stderr
    assert f"at {tmp_path / 'thing' / 'env.py'}:2: math.sqrt(-1)" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_syntax_error_is_told_with_its_line(run, tmp_path: Path) -> None:
    _environment(tmp_path / "thing", "", "import math\ndef broken(:\n")
    done = run("serve", "./thing", "--port", "0")
    assert "importing env.py raised SyntaxError" in done.stderr
    assert f"at {tmp_path / 'thing' / 'env.py'}:2: def broken(:" in done.stderr


def test_a_server_that_is_not_there_is_told_before_its_token(run) -> None:
    done = run("info", "http://127.0.0.1:9")
    assert done.returncode == 1
    assert "`envhub serve NAME` would start one" in done.stderr


def test_failures_reach_machines_as_a_problem_document(run) -> None:
    done = run("info", "frozenlake", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["code"] == "not_found"


def test_info_of_a_server_that_is_not_there_says_so(run) -> None:
    done = run("info", "http://127.0.0.1:9", "--token", "x" * 16)
    assert done.returncode == 1
    assert "no answer from http://127.0.0.1:9" in done.stderr
    assert "give --token" in run("info", "http://127.0.0.1:9").stderr


def _environment(folder: Path, manifest: str, code: str) -> None:
    folder.mkdir()
    (folder / "envhub.toml").write_text('name = "thing"\nsummary = "A thing."\n' + LICENCES + manifest)
    (folder / "env.py").write_text(code)
