"""Failures of an environment's code name the line its author has to look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from envhub.sdk import EnvironmentFailed, load
from envhub.sdk.origin import told

MANIFEST = """
name = "thing"
summary = "For tests."
licences = { wrapper = "Apache-2.0", data = "CC0-1.0" }
"""
CODE = """
from envhub.sdk import Environment
from .rules import check

class Environment(Environment):
    def reset(self, task):
        return check("x")
"""


def write(folder: Path, **files: str) -> Path:
    folder.mkdir()
    (folder / "envhub.toml").write_text(MANIFEST)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_the_innermost_line_of_the_folders_own_code_is_named(tmp_path: Path) -> None:
    rules = "import json\n\ndef check(text):\n    return json.loads(text)\n"
    environment = load(str(write(tmp_path / "thing", env=CODE, rules=rules))).cls()
    with pytest.raises(ValueError, match="Expecting value") as raised:
        environment.reset(None)  # type: ignore[arg-type]
    assert told(raised.value).startswith("JSONDecodeError: Expecting value")
    assert told(raised.value).endswith(" (rules.py:4)")


def test_what_no_environment_raised_names_no_line() -> None:
    assert told(ValueError("no good")) == "ValueError: no good"


def test_a_syntax_error_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailed, match=r"raised SyntaxError: .* \(env\.py, line 1\)$"):
        load(str(write(tmp_path / "thing", env="def broken(:")))
