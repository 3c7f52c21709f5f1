"""Frozen Lake: walk from S to G with one word a turn. An own implementation of the well-known grid world.

Messages drive it. Whatever a turn brings, it is used up; a reply without a move word, or a tool call, moves nothing.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from envhub.sdk import (
    Action,
    Criterion,
    Environment,
    Observation,
    Rubric,
    SeededTasks,
    StepResult,
    Task,
    TaskSource,
)
from envhub.sdk.task import prompt_of

from .lake import GOAL, HOLE, ICE, LEVELS, MOVES, START, Lake, make_lake

NUM_TEST_TASKS = 120
PROMPT = (
    "Walk to the goal on a frozen lake without entering a hole. Each turn, reply with one word: "
    "left, down, right or up. The last such word of your reply is your move."
)
LEGEND = f"P you, {GOAL} goal, {HOLE} hole, {ICE} ice"
NO_MOVE = "No move in your reply. Reply with one word: left, down, right or up."
_WORD = re.compile(rf"\b(?:{'|'.join(MOVES)})\b")
_SIDEWAYS = {"left": ("up", "down"), "right": ("up", "down"), "up": ("left", "right"), "down": ("left", "right")}


class FrozenLake(Environment):
    """One walk.

    Config:
        progress_reward: weight of a shaped part `progress` in each step's reward; 0 gives none.
        slip: chance that a move goes to one of the two sides instead, decided by the episode's seed.
    """

    rubric = Rubric(Criterion("goal", lambda walk: float(walk.at_goal)))

    @classmethod
    def tasks(cls) -> TaskSource:
        return SeededTasks(_make_task, {"train": None, "test": NUM_TEST_TASKS})

    @property
    def at_goal(self) -> bool:
        """The walk has reached the goal."""
        return self._lake.at(self._cell) == GOAL

    def reset(self, task: Task) -> Observation:
        self._lake = Lake(tuple(task.metadata["map"]))
        self._cell = self._lake.find(START)
        self._turns_left = int(task.metadata["turns"])
        self._progress_weight = float(self.config.get("progress_reward", 0.0))
        self._slip = float(self.config.get("slip", 0.0))
        self._distances = self._lake.distances() if self._progress_weight else {}
        return Observation.of(self._view())

    async def step(self, action: Action) -> StepResult:
        word = read_move(action.message or "")
        before = self._potential()
        self._turns_left -= 1
        if word is not None:
            self._cell = self._lake.moved(self._cell, self._slipped(word))
        over = self._lake.at(self._cell) in (GOAL, HOLE) or self._turns_left <= 0
        text = self._view() if word is not None else f"{NO_MOVE}\n{self._view()}"
        if not self._progress_weight:
            return StepResult(observation=Observation.of(text), terminated=over)
        gained = self._progress_weight * (self._potential() - before)
        return StepResult(
            observation=Observation.of(text), reward=gained, rewards={"progress": gained}, terminated=over
        )

    def _slipped(self, word: str) -> str:
        if not self._slip or self.random.random() >= self._slip:
            return word
        return _SIDEWAYS[word][int(self.random.random() * 2)]

    def _potential(self) -> float:
        """Share of the way to the goal that is behind: 0 at the start, 1 at the goal, and 0 in a hole.

        Rewarding its differences is potential-based shaping (Ng, Harada and Russell 1999) with discount 1: the sum
        over an episode depends on where it ends and not on the way, so walking in circles earns nothing.
        """
        if not self._distances or self._lake.at(self._cell) == HOLE:
            return 0.0
        return 1 - self._distances[self._cell] / self._distances[self._lake.find(START)]

    def _view(self) -> str:
        """The map, its legend, and where the walk stands; the same text for the same state."""
        row, column = self._cell
        lines = [line.replace(START, ICE) for line in self._lake.rows]
        lines[row] = lines[row][:column] + "P" + lines[row][column + 1 :]
        return "\n".join([*lines, LEGEND, f"row {row}, column {column}. {self._status()}"])

    def _status(self) -> str:
        here = self._lake.at(self._cell)
        if here == GOAL:
            return "You reached the goal."
        if here == HOLE:
            return "You fell into a hole."
        return f"{self._turns_left} turns left."


def read_move(text: str) -> str | None:
    """The last move word of a reply, without regard to case, after its reasoning is taken out; None: there is none."""
    words = _WORD.findall(_without_reasoning(text).lower())
    return words[-1] if words else None


def _without_reasoning(text: str) -> str:
    """The text without <think>…</think>. An unfinished block hides the rest; where only the end tag is there (the
    chat template opened the block) everything before it is reasoning. Linear in the length of any text."""
    kept, position = [], 0
    while (opened := text.find("<think>", position)) >= 0:
        kept.append(text[position:opened])
        closed = text.find("</think>", opened)
        if closed < 0:
            return "".join(kept)
        position = closed + len("</think>")
    return "".join([*kept, text[position:]]).rpartition("</think>")[2]


def _make_task(split: str, index: int) -> Task:
    number = index % len(LEVELS) + 1
    level = LEVELS[number - 1]
    lake = _test_lakes()[index] if split == "test" else _train_lake(index)
    return Task(
        id=SeededTasks.task_id(split, index),
        prompt=prompt_of(PROMPT),
        split=split,
        seed=index,
        metadata={"level": number, "size": level.size, "turns": level.turns, "map": list(lake.rows)},
    )


@lru_cache(maxsize=10_000)
def _train_lake(index: int) -> Lake:
    """A train map. Kept for a while, since a group of rollouts opens the same task several times."""
    return make_lake(LEVELS[index % len(LEVELS)], "train", f"train-{index}")


@cache
def _test_lakes() -> tuple[Lake, ...]:
    """The test maps, all different."""
    lakes: dict[Lake, None] = {}
    attempt = 0
    while len(lakes) < NUM_TEST_TASKS:
        lakes[make_lake(LEVELS[len(lakes) % len(LEVELS)], "test", f"test-{attempt}")] = None
        attempt += 1
    return tuple(lakes)


__all__ = ["FrozenLake", "read_move"]
