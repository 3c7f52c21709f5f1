"""frozen-lake in-process: maps, splits, moves, rewards. Its run over the protocol is in tests/validate."""

from __future__ import annotations

import os
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from envhub.clients import connect
from envhub.sdk import Action, Observation, StepResult, Task, load
from envhub.sdk.loader import mount

LAKE = load("frozen-lake")
TASKS = LAKE.cls.tasks()


def module(name: str) -> ModuleType:
    """A module of the environment's folder."""
    if name == "oracle":
        LAKE.attribute("oracle:solve")  # imports it
    return sys.modules[f"{mount(LAKE.folder)}.{name}"]


def begin(task: Task, **config: float) -> Any:
    walk = LAKE.cls()
    walk.begin(task, None, {**LAKE.manifest.config, **config})
    return walk


def task_of(*rows: str, turns: int = 10) -> Task:
    return Task(id="drawn", metadata={"map": list(rows), "turns": turns, "size": len(rows), "level": 1})


async def walk_through(walk: Any, *messages: str) -> list[StepResult]:
    walk.reset(walk.task)
    return [await walk.step(Action(message=message)) for message in messages]


class Hand:
    """The agent's handle, on an environment in this process."""

    def __init__(self, walk: Any) -> None:
        self._walk, self.done = walk, False
        self.observation: Observation = walk.reset(walk.task)

    async def act(self, message: str) -> Observation:
        result = await self._walk.step(Action(message=message))
        self.observation, self.done = result.observation, result.terminated
        return self.observation


async def test_first_observation_is_short_and_complete() -> None:
    walk = begin(task_of("S.H", "..H", "H.G", turns=8))
    assert walk.reset(walk.task).text == ("P.H\n..H\nH.G\nP you, G goal, H hole, . ice\nrow 0, column 0. 8 turns left.")


async def test_goal_terminates_with_reward_by_rubric() -> None:
    walk = begin(task_of("S.H", "..H", "H.G"))
    results = await walk_through(walk, "right", "down", "down", "right")
    assert [result.terminated for result in results] == [False, False, False, True]
    assert "You reached the goal." in results[-1].observation.text
    assert (await walk.rubric.score(walk)).rewards == {"goal": 1.0}
    assert [result.reward for result in results] == [None] * 4


async def test_hole_terminates_with_zero() -> None:
    walk = begin(task_of("SH.", "..G", "..."))
    (result,) = await walk_through(walk, "right")
    assert result.terminated
    assert "You fell into a hole." in result.observation.text
    assert (await walk.rubric.score(walk)).rewards == {"goal": 0.0}


async def test_turns_run_out_as_a_failure() -> None:
    walk = begin(task_of("S..", "...", "..G", turns=2))
    results = await walk_through(walk, "right", "right")
    assert [result.terminated for result in results] == [False, True]
    assert (await walk.rubric.score(walk)).rewards == {"goal": 0.0}


@pytest.mark.parametrize(
    "message", ["", "no", "upright leftover", "<think>left</think>", "<think>I go left", "x" * 1_000_000]
)
async def test_reply_without_move_costs_the_turn(message: str) -> None:
    walk = begin(task_of("S..", "...", "..G"))
    (result,) = await walk_through(walk, message)
    assert result.observation.text.startswith("No move in your reply.")
    assert result.observation.text.endswith("row 0, column 0. 9 turns left.")
    assert not result.terminated


async def test_tool_call_is_a_reply_without_move() -> None:
    walk = begin(task_of("S..", "...", "..G"))
    walk.reset(walk.task)
    result = await walk.step(Action.call("go", where="left"))
    assert result.observation.text.startswith("No move in your reply.")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("left", "left"),
        ("LEFT!", "left"),
        ("left, no: down", "down"),
        ("up<think>left or down</think>", "up"),
        ("I could go left</think>right", "right"),
        ("<think>left</think>right<think>down", "right"),
        ("<think>" * 200_000 + "left", None),
        ("</think>" * 200_000 + "left", "left"),
    ],
)
def test_last_word_outside_reasoning_counts(text: str, word: str | None) -> None:
    assert module("env").read_move(text) == word


async def test_edges_hold() -> None:
    walk = begin(task_of("S..", "...", "..G"))
    (result,) = await walk_through(walk, "up")
    assert "row 0, column 0. 9 turns left." in result.observation.text


async def test_progress_sums_to_the_way_behind_and_circles_earn_nothing() -> None:
    walk = begin(task_of("S..", "...", "..G", turns=20), progress_reward=0.5)
    results = await walk_through(walk, "right", "left", "right", "down", "right", "down")
    assert [result.reward for result in results] == pytest.approx([0.125, -0.125, 0.125, 0.125, 0.125, 0.125])
    assert all(result.rewards == {"progress": result.reward} for result in results)


async def test_hole_forfeits_progress() -> None:
    walk = begin(task_of("S.H", "...", "..G"), progress_reward=1.0)
    results = await walk_through(walk, "right", "right")
    assert sum(result.reward or 0 for result in results) == pytest.approx(0.0)
    assert results[-1].terminated


async def test_slip_depends_on_the_seed_alone() -> None:
    def texts(results: list[StepResult]) -> list[str]:
        return [result.observation.text for result in results]

    task = task_of("S...", "....", "....", "...G", turns=30)
    moves = ["right", "down"] * 4
    runs = [
        texts(await walk_through(begin(task.model_copy(update={"seed": seed}), slip=0.5), *moves)) for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]


async def test_oracle_solves_every_test_task_and_many_train_tasks() -> None:
    solve = LAKE.attribute("oracle:solve")
    for task in [*TASKS.page("test", 0, 200), *TASKS.page("train", 0, 60)]:
        walk = begin(task)
        await solve(task, Hand(walk))
        assert walk.at_goal, task.id


def test_oracle_says_when_there_is_no_way() -> None:
    with pytest.raises(ValueError, match="no way"):
        module("oracle").shortest_way("PH\nHG")


def test_splits_are_disjoint_by_content() -> None:
    lake = module("lake")
    test = [tuple(task.metadata["map"]) for task in TASKS.page("test", 0, 200)]
    train = [tuple(task.metadata["map"]) for task in TASKS.page("train", 0, 600)]
    assert TASKS.splits() == {"train": None, "test": 120}
    assert len(set(test)) == 120
    assert not set(test) & set(train)
    assert {lake.Lake(rows).split for rows in test} == {"test"}
    assert {lake.Lake(rows).split for rows in train} == {"train"}


def test_every_level_occurs_with_its_size_and_shortest_way() -> None:
    lake = module("lake")
    for task in TASKS.page("test", 0, 200):
        level = lake.LEVELS[task.metadata["level"] - 1]
        drawn = lake.Lake(tuple(task.metadata["map"]))
        assert level.min_path <= drawn.distances()[drawn.find("S")] <= level.turns <= LAKE.manifest.max_turns
        assert level.min_path >= level.size == task.metadata["size"] == len(drawn.rows)


def test_tasks_are_the_same_in_another_process() -> None:
    script = (
        "from envhub.sdk import load; tasks = load('frozen-lake').cls.tasks();"
        "print(*(tasks.get(i).digest for i in ('train-0', 'train-123456', 'test-7')))"
    )
    ours = [TASKS.get(name).digest for name in ("train-0", "train-123456", "test-7")]
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        run = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert run.stdout.split() == ours


async def test_progress_reward_is_a_part_beside_the_goal_when_served() -> None:
    options = ("--config", "progress_reward=0.25")
    shortest_way = module("oracle").shortest_way
    async with connect("frozen-lake", server_options=options) as client, client.session(task="test-0") as session:
        while not session.ended:
            await session.step(shortest_way(session.observation.text)[0])
        status = await session.status()
    assert status.rewards == pytest.approx({"progress": 0.25, "goal": 1.0})
    assert status.reward == pytest.approx(1.25)
