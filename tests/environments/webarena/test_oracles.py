"""Sixteen oracles at once, each in a session of its own, on tasks of sixteen templates: every one is rewarded."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from web_server import FOLDER, serving

from envhub.clients import Client, SessionAgent
from envhub.sdk import Task, Trajectory, load

NUM_SESSIONS = 16

pytestmark = pytest.mark.browser


async def play(client: Client, solve: Any, task: Task) -> Trajectory:
    async with client.session(task=task.id) as session:
        await solve(task, SessionAgent(session))
        return await session.trajectory()


async def test_sixteen_oracles_in_parallel_are_all_rewarded() -> None:
    async with serving(FOLDER, max_sessions=NUM_SESSIONS) as web:
        environment = load(str(FOLDER))
        solve = environment.attribute(environment.manifest.oracle.entry)
        source = environment.cls.tasks()
        tasks = [task for split in source.splits() for task in source.page(split, 0, 1000)]
        chosen = list({task.metadata["template"]: task for task in tasks}.values())[:NUM_SESSIONS]
        played = await asyncio.gather(*(play(web.client, solve, task) for task in chosen))
        assert {trajectory.open.task.id: trajectory.reward for trajectory in played} == {
            task.id: 1.0 for task in chosen
        }
        assert {trajectory.end for trajectory in played} == {"terminated"}
        async with asyncio.timeout(30):  # the last one's is removed after its end was told
            while web.session_folders():
                await asyncio.sleep(0.05)
