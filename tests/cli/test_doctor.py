"""`envhub doctor`: a line a check, and a failing status only for what every environment needs."""

from __future__ import annotations

import json
from pathlib import Path

from envhub.cli.doctor import check_browser, check_extra, check_home


def test_this_machine_has_all_that_is_required(run) -> None:
    done = run("doctor", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 0
    assert told["ok"] is True
    names = {check["name"] for check in told["checks"]}
    assert names == {"Python", "extra serve", "extra browser", "uv", "browser", "port", "home", "disk"}
    assert "Python" in run("doctor").stdout


def test_home_that_cannot_be_written_fails_with_what_fixes_it(run, tmp_path: Path, variables: dict[str, str]) -> None:
    (tmp_path / "file").touch()
    variables["ENVHUB_HOME"] = str(tmp_path / "file" / "home")
    done = run("doctor")
    assert done.returncode == 1
    assert f"cannot write to {tmp_path / 'file'}" in done.stdout
    assert "export ENVHUB_HOME=" in done.stdout


def test_tokens_others_can_read_are_noticed(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("ENVHUB_HOME", str(tmp_path))
    (tmp_path / "servers").mkdir(mode=0o755)
    (tmp_path / "servers").chmod(0o755)
    assert check_home().fix == f"chmod 700 {tmp_path / 'servers'}"
    (tmp_path / "servers").chmod(0o700)
    assert check_home().ok


def test_an_extra_with_nothing_installed_names_the_command() -> None:
    check = check_extra("serve", required=True)
    assert check.ok
    assert check.fix == "pip install 'envhub[serve]'"


def test_a_headless_shell_is_a_browser(tmp_path: Path, monkeypatch) -> None:
    shell = tmp_path / "chromium-headless-shell"
    shell.touch(mode=0o755)
    monkeypatch.delenv("ENVHUB_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert check_browser().found == str(shell)


def test_a_named_browser_wins_and_must_be_there(tmp_path: Path, monkeypatch) -> None:
    mine = tmp_path / "mine"
    monkeypatch.setenv("ENVHUB_CHROMIUM", str(mine))
    assert not check_browser().ok
    assert check_browser().fix == "unset ENVHUB_CHROMIUM"
    mine.touch(mode=0o755)
    assert check_browser().found == str(mine)
