"""Near misses: an environment's own, and the oracle without its last action."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from envhub.validate import Report, validate

NEARLY = {
    "ends with the wrong word": 'await agent.call("say", word="plume")\n    await agent.call("done")',
    "stops before the end": 'await agent.call("say", word=task.metadata["word"])',
}
SOLVED = 'await agent.call("say", word=task.metadata["word"])\n    await agent.call("done")'


async def _with_near_miss(folder: Path, body: str) -> Report:
    source = folder / "oracle.py"
    source.write_text(f"{source.read_text()}\n\nasync def nearly(task: Any, agent: Any) -> None:\n    {body}\n")
    manifest = folder / "envhub.toml"
    manifest.write_text(manifest.read_text() + 'near_miss = "oracle:nearly"\n')
    return await validate(str(folder), only=("semantic.oracle", "semantic.near_miss"), sample=2)


@pytest.mark.parametrize("body", NEARLY.values(), ids=NEARLY.keys())
async def test_own_near_miss_earns_nothing(folder_of: Callable[[str], Path], body: str) -> None:
    report = await _with_near_miss(folder_of("sound"), body)
    assert report.ok, report.checks
    assert report.junk_max == 0


async def test_near_miss_that_solves_the_task_is_found(folder_of: Callable[[str], Path]) -> None:
    report = await _with_near_miss(folder_of("sound"), SOLVED)
    assert not report.checks["semantic.near_miss"].passed
    assert report.junk_max == 1
