"""Replays: the same actions give the same bytes in another process, and beside other sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise

from envhub.sdk.task import Task
from envhub.validate.api import Api
from envhub.validate.bench import Bench
from envhub.validate.episodes import Recording, replay
from envhub.validate.report import CheckFailed

NUM_DETERMINISM = 16
NUM_ISOLATION = 6


async def check_determinism(bench: Bench) -> None:
    """The same observations, reward and end: what the oracle saw over MCP, twice by the control side, and where one
    can be started, on another server whose process has another hash seed. Other tasks run between, in another order."""
    tasks = bench.spread(NUM_DETERMINISM)
    first: dict[str, Recording] = {}

    async def record(task: Task) -> None:
        first[task.id] = await replay(bench.api, bench.name, task, bench.actions_for(task))
        if task.id in bench.recordings:
            compare(bench.recordings[task.id], first[task.id], "by the control side instead of MCP")

    async def repeat(api: Api, task: Task, where: str) -> None:
        again = await replay(api, bench.name, task, bench.actions_for(task))
        compare(first[task.id], again, where)

    await bench.each(tasks, record, "semantic.determinism")
    await bench.each(tasks[::-1], lambda task: repeat(bench.api, task, "again"), "semantic.determinism, again")
    if bench.second_server is not None:
        async with bench.second_server() as api:
            where = "in another process"
            await bench.each(tasks[::-1], lambda task: repeat(api, task, where), f"semantic.determinism, {where}")


async def check_sessions(bench: Bench) -> None:
    """Two sessions at once, of one task and of two, see what they see alone."""
    tasks = bench.spread(NUM_ISOLATION)
    alone = {task.id: await replay(bench.api, bench.name, task, bench.actions_for(task)) for task in tasks}

    async def together(pair: tuple[Task, Task]) -> None:
        one, other = pair
        results = await asyncio.gather(
            replay(bench.api, bench.name, one, bench.actions_for(one)),
            replay(bench.api, bench.name, other, bench.actions_for(other)),
        )
        for task, result in zip(pair, results, strict=True):
            compare(alone[task.id], result, f"beside another session of {'the same' if one is other else 'a'} task")

    pairs = [(task, task) for task in tasks] + list(pairwise(tasks))
    await bench.each(pairs, together, "isolation.sessions")


def compare(first: Recording, again: Recording, where: str) -> None:
    """Two episodes of the same actions must be the same; over MCP there are only texts to compare.

    Raises:
        CheckFailed: they differ; tells the first difference.
    """
    _compare_all(first.observations, again.observations, f"{where}, observation {{}} (0: the first) was another")
    _compare_all(first.texts, again.texts, f"{where}, the text of step {{}} was another")
    if (first.reward, first.end, len(first.actions)) != (again.reward, again.end, len(again.actions)):
        raise CheckFailed(
            f"{where}, it ended with {again.end} and reward {again.reward} after {len(again.actions)} steps; "
            f"before with {first.end} and {first.reward} after {len(first.actions)}"
        )


def _compare_all(first: Sequence[str], again: Sequence[str], what: str) -> None:
    for index, (one, other) in enumerate(zip(first, again, strict=False)):
        if one != other:
            raise CheckFailed(f"{what.format(index)}: {_difference(one, other)}")


def _difference(one: str, other: str) -> str:
    """The place where two texts part, with a little around it."""
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(0, at - 20)
    return f"…{one[start : at + 40]!r}… and …{other[start : at + 40]!r}…"


__all__ = ["check_determinism", "check_sessions", "compare"]
