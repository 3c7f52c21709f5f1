"""Manifest: every mistake is named, with its place and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from envhub.sdk import ManifestError, read_manifest

GOOD = """
name = "my-env"
summary = "One line."
licences = { wrapper = "Apache-2.0", data = "CC0-1.0" }
"""


def folder_with(tmp_path: Path, text: str) -> Path:
    (tmp_path / "envhub.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_small_manifest_has_safe_defaults(tmp_path: Path) -> None:
    manifest = read_manifest(folder_with(tmp_path, GOOD))
    assert manifest.isolation == "process"
    assert manifest.sandbox.network == "none"
    assert manifest.oracle.status == "unproven"
    assert manifest.display == "my-env"
    assert manifest.deadlines.step_s == 30.0


@pytest.mark.parametrize(
    ("extra", "problem"),
    [
        ("entri = 'env:Env'", r"unknown key 'entri'; did you mean 'entry'\?"),
        ("colour = 'red'", r"unknown key 'colour'; known keys: name, version"),
        ("[deadlines]\nstep = 1", r"unknown key 'deadlines.step'; did you mean 'step_s'\?"),
        ("[oracle]\nnearmiss = 'a:b'", r"did you mean 'near_miss'\?"),
        ("[deadlines]\nstep_s = 0", r"deadlines.step_s: .*greater than 0"),
        ("[deadlines]\nstep_s = nan", r"deadlines.step_s"),
        ("max_turns = 0", r"max_turns: .*greater than 0"),
        ("isolation = 'thread'", r"isolation: .*'inline' or 'process'"),
        ("capabilities = ['smell']", r"capabilities.0"),
        ("[sandbox]\nnetwork = 'some'", r"sandbox.network"),
        ("requirements = 'django'", r"requirements"),
    ],
)
def test_wrong_keys_and_values_are_named(tmp_path: Path, extra: str, problem: str) -> None:
    with pytest.raises(ManifestError, match=problem) as failure:
        read_manifest(folder_with(tmp_path, GOOD + extra + "\n"))
    assert "envhub.toml" in str(failure.value)


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as failure:
        read_manifest(folder_with(tmp_path, "name = 'My Env'\nentri = 'x'\n"))
    for expected in ("name: ", "summary: Field required", "licences: Field required", "'entri'"):
        assert expected in str(failure.value)


@pytest.mark.parametrize("name", ["My-env", "my_env", "-env", "env-", "a--b", "", "../env", "my env", "env\n"])
def test_name_is_lower_case_words_joined_by_hyphens(tmp_path: Path, name: str) -> None:
    with pytest.raises(ManifestError, match="lower-case"):
        read_manifest(folder_with(tmp_path, GOOD.replace('"my-env"', repr(name))))


def test_missing_folder_and_missing_file_say_which(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="no folder"):
        read_manifest(tmp_path / "absent")
    with pytest.raises(ManifestError, match=r"no envhub\.toml in"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("content", [b"name = ", b"\xff\xfe", b"[name"])
def test_what_is_not_toml_is_said_to_be_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "envhub.toml").write_bytes(content)
    with pytest.raises(ManifestError, match="is not TOML"):
        read_manifest(tmp_path)
