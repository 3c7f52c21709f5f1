"""The suite passes a sound environment and fails each defective one, at the right check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from envhub.sdk import NotFound, Unauthorized
from envhub.validate import Report, validate
from envhub.validate.place import local_server

FolderOf = Callable[[str], Path]

DEFECTS = [
    ("constant-reward", {"semantic.near_miss", "semantic.junk"}, {"semantic.oracle"}, "earned 1, not 0"),
    ("random-id", {"semantic.determinism", "isolation.sessions"}, {"semantic.oracle"}, "was another"),
    ("hash-order", {"semantic.determinism"}, {"semantic.oracle"}, "in another process"),
    ("shared-state", {"semantic.determinism", "isolation.sessions"}, {"semantic.oracle"}, "was another"),
    ("blocking", {"isolation.loop"}, {"semantic.oracle"}, "/healthz took"),
    ("no-reward", {"semantic.oracle", "semantic.junk"}, {"static", "schema"}, "has no reward"),
    ("crashing", {"semantic.junk"}, {"semantic.oracle"}, "KeyError"),
    ("shown-answer", {"schema.observation"}, {"static", "schema"}, "private parts"),
    ("same-tasks", {"static.tasks"}, {"static"}, "are the same task"),
    ("blank-tool", {"schema.tools"}, {"schema"}, "no description"),
    ("weak-oracle", {"semantic.oracle"}, set(), "earned 0"),
    ("broken-oracle", {"semantic.oracle"}, set(), "lost the way"),
]
"""Environment, the checks it must fail, other checks to run that it must pass, and what one reason must say."""


def failed(report: Report) -> set[str]:
    return {name for name, check in report.checks.items() if not check.passed}


async def test_sound_environment_passes_everything(folder_of: FolderOf) -> None:
    report = await validate(str(folder_of("sound")))
    assert not failed(report), report.checks
    assert report.ok
    assert (report.tasks_checked, report.oracle_mean, report.junk_max) == (8, 1.0, 0.0)
    assert not report.not_checked


@pytest.mark.parametrize(("name", "expected", "others", "reason"), DEFECTS)
async def test_defect_fails_its_checks(
    folder_of: FolderOf, name: str, expected: set[str], others: set[str], reason: str
) -> None:
    report = await validate(str(folder_of(name)), only=expected | others, sample=3)
    assert failed(report) == expected, report.checks
    assert not report.ok
    assert any(reason in (report.checks[check].reason or "") for check in expected), report.checks


SLOW_MESSAGE = """\
    async def message(self, text: str) -> str:
        await asyncio.sleep(5)
        return text

    @tool
"""


async def test_slow_steps_run_into_their_deadline_and_pass(folder_of: FolderOf) -> None:
    folder = folder_of("sound")
    source = (folder / "env.py").read_text().replace("    @tool\n", SLOW_MESSAGE, 1)
    (folder / "env.py").write_text(source.replace("from envhub", "import asyncio\n\nfrom envhub", 1))
    report = await validate(str(folder), only=("deadline.step",), sample=1)
    assert report.ok, report.checks


async def test_unreadable_manifest_fails_and_nothing_else_is_checked(folder_of: FolderOf) -> None:
    report = await validate(str(folder_of("unknown-key")))
    assert list(report.checks) == ["static.manifest"]
    assert "did you mean 'isolation'?" in (report.checks["static.manifest"].reason or "")
    assert not report.ok


async def test_environment_without_oracle_says_why(folder_of: FolderOf) -> None:
    folder = folder_of("sound")
    (folder / "oracle.py").unlink()
    manifest = folder / "envhub.toml"
    manifest.write_text(manifest.read_text().replace('"proven"', '"deterministic-only"\nreason = "no solver known"'))
    report = await validate(str(folder), only=("semantic",), sample=3)
    assert report.ok
    assert report.oracle_mean is None
    assert "no solver known" in report.not_checked["semantic.oracle"]


async def test_missing_oracle_is_a_failure_where_one_is_claimed(folder_of: FolderOf) -> None:
    folder = folder_of("sound")
    (folder / "oracle.py").unlink()
    report = await validate(str(folder), only=("semantic.oracle",), sample=1)
    assert failed(report) == {"semantic.oracle"}


async def test_url_is_checked_without_its_folder(folder_of: FolderOf) -> None:
    async with local_server(folder_of("sound")) as api:
        report = await validate(api.url, token=api.token, sample=2)
        with pytest.raises(Unauthorized):
            await validate("http://127.0.0.1:9/#sound")
    assert report.ok, report.checks
    assert report.title == "sound"
    assert set(report.not_checked) == {"semantic.oracle", "semantic.near_miss"}


async def test_unknown_name_is_answered_with_near_ones() -> None:
    with pytest.raises(NotFound, match="frozen-lake"):
        await validate("frozen-lac")
