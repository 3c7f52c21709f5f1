"""What `envhub validate` prints and exits with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from envhub.validate.command import run
from envhub.validate.report import Check, Report, line_of


def test_json_is_the_last_line_and_a_failure_exits_1(
    folder_of: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(str(folder_of("unknown-key")), json_output=True) == 1
    printed = capsys.readouterr()
    told = json.loads(printed.out)
    assert told["checks"]["static.manifest"]["pass"] is False
    assert "isolatoin" in told["checks"]["static.manifest"]["reason"]
    assert {"target", "title", "status", "tasks_checked", "oracle_mean", "junk_max", "seconds"} < told.keys()
    assert printed.err.startswith("✗ static.manifest: ")


def test_lines_are_for_people_without_json(
    folder_of: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_of("sound")
    (folder / "README.md").unlink()
    (folder / "env.py").write_text("import a_module_that_nobody_has\n")
    assert run(str(folder)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "✓ static.manifest"
    assert lines[1].startswith("✗ static.folder: no README.md")
    assert lines[2].startswith("✗ static.import: EnvironmentFailed: sound needs the Python module")
    assert lines[-1].startswith("sound: failed (1 of 3 checks, 0 tasks, oracle not checked, junk not checked")


def test_nothing_checked_is_no_success() -> None:
    report = Report("nothing")
    assert not report.ok
    report.checks["static.manifest"] = Check("static.manifest", True)
    assert not report.ok
    assert "nothing was checked" in report.summary()
    report.tasks_checked = 1
    assert report.ok


def test_line_of_a_check() -> None:
    assert line_of(Check("a.b", True)) == "✓ a.b"
    assert line_of(Check("a.b", False, "because")) == "✗ a.b: because"
