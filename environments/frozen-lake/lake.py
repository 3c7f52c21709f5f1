"""Lakes: the levels, solvable seeded maps, and which split a map belongs to.

A map's own content decides its split: a quarter of all maps, by digest, are test maps and the rest are train maps.
So no map with the same start and goal can ever be in both, however many train tasks are drawn.
"""

from __future__ import annotations

import hashlib
import random
from collections import deque
from dataclasses import dataclass

Cell = tuple[int, int]
"""(row, column), both from 0."""

MOVES: dict[str, Cell] = {"left": (0, -1), "down": (1, 0), "right": (0, 1), "up": (-1, 0)}
START, GOAL, HOLE, ICE = "S", "G", "H", "."
HOLE_SHARE = 0.3
"""Chance of a hole on each cell that is neither start nor goal."""


@dataclass(frozen=True)
class Level:
    """A size and a turn budget."""

    size: int
    """Rows, and columns."""
    turns: int
    """Turns the policy has."""
    min_path: int
    """Length of the shortest way, at least. Never under `size`: a straight line is at most `size` - 1 long, so
    that no policy which repeats one word can reach the goal."""


LEVELS = (
    Level(size=3, turns=8, min_path=3),
    Level(size=4, turns=12, min_path=4),
    Level(size=5, turns=16, min_path=5),
    Level(size=6, turns=24, min_path=6),
    Level(size=8, turns=32, min_path=8),
    Level(size=8, turns=16, min_path=12),
)
"""Level n is LEVELS[n - 1]. The last one leaves few turns to spare."""


@dataclass(frozen=True)
class Lake:
    """A map: equally long rows of S, G, H and '.'."""

    rows: tuple[str, ...]

    def at(self, cell: Cell) -> str:
        """What is on a cell."""
        return self.rows[cell[0]][cell[1]]

    def find(self, letter: str) -> Cell:
        """The first cell with that letter."""
        return next((y, row.index(letter)) for y, row in enumerate(self.rows) if letter in row)

    def moved(self, cell: Cell, word: str) -> Cell:
        """Where a move leads; against the edge it leads nowhere."""
        row, column = cell[0] + MOVES[word][0], cell[1] + MOVES[word][1]
        inside = 0 <= row < len(self.rows) and 0 <= column < len(self.rows)
        return (row, column) if inside else cell

    def distances(self) -> dict[Cell, int]:
        """Moves to the goal from every cell that can reach it without entering a hole (breadth-first search)."""
        goal = self.find(GOAL)
        found, queue = {goal: 0}, deque([goal])
        while queue:
            cell = queue.popleft()
            for word in MOVES:
                near = self.moved(cell, word)
                if near not in found and self.at(near) != HOLE:
                    found[near] = found[cell] + 1
                    queue.append(near)
        return found

    @property
    def split(self) -> str:
        """The only split this map may be used in."""
        return "test" if hashlib.sha256("\n".join(self.rows).encode()).digest()[0] % 4 == 0 else "train"


def make_lake(level: Level, split: str, seed: str) -> Lake:
    """A solvable map of the level and split, the same for the same seed in every process and Python version."""
    # A str seeds through SHA-512, and random() is the one method whose sequence Python guarantees for ever.
    generator = random.Random(seed)
    while True:
        lake = _draw(level.size, generator)
        if lake.split == split and level.min_path <= lake.distances().get(lake.find(START), 0) <= level.turns:
            return lake


def _draw(size: int, generator: random.Random) -> Lake:
    cells = [HOLE if generator.random() < HOLE_SHARE else ICE for _ in range(size * size)]
    start = int(generator.random() * len(cells))
    goal = int(generator.random() * (len(cells) - 1))
    cells[start] = START
    cells[goal + (goal >= start)] = GOAL
    return Lake(tuple("".join(cells[row * size : (row + 1) * size]) for row in range(size)))


__all__ = ["GOAL", "HOLE", "ICE", "LEVELS", "MOVES", "START", "Cell", "Lake", "Level", "make_lake"]
