"""Which tasks are checked: all of finite splits up to a bound and some of infinite ones, or a sample of those."""

from __future__ import annotations

import random

from envhub.sdk.loader import LoadedEnvironment
from envhub.sdk.task import Task
from envhub.sdk.wire import EnvironmentInfo
from envhub.validate.api import Api

NUM_OF_INFINITE = 50
NUM_OF_FINITE = 200
PAGE = 100


async def choose_tasks(
    api: Api, environment: EnvironmentInfo, loaded: LoadedEnvironment | None, sample: int | None, seed: int
) -> list[Task]:
    """The tasks to check, in the server's order; with private parts where the folder is at hand.

    Args:
        sample: how many, chosen by the seed over all splits; None: all that are looked at.
    """
    listed: list[Task] = []
    for split, size in environment.splits.items():
        wanted = NUM_OF_INFINITE if size is None else min(size, NUM_OF_FINITE)
        listed += await _first(api, environment.name, split, wanted)
    if sample is not None and sample < len(listed):
        kept = sorted(random.Random(seed).sample(range(len(listed)), sample))
        listed = [listed[index] for index in kept]
    if loaded is None:
        return listed
    source = loaded.cls.tasks()
    return [source.get(task.id) for task in listed]


async def _first(api: Api, environment: str, split: str, wanted: int) -> list[Task]:
    tasks: list[Task] = []
    offset: int | None = 0
    while offset is not None and len(tasks) < wanted:
        page = await api.tasks(environment, split, offset, min(PAGE, wanted - len(tasks)))
        tasks += page.tasks
        offset = page.next_offset
    return tasks


__all__ = ["choose_tasks"]
