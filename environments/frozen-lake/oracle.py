"""The oracle: reads the map from the observation, as any policy could, and walks the shortest way."""

from __future__ import annotations

from collections import deque
from typing import Protocol

from envhub.sdk import Observation, Task

MOVES = {"left": (0, -1), "down": (1, 0), "right": (0, 1), "up": (-1, 0)}


class Agent(Protocol):
    """What this oracle needs of the agent's handle."""

    @property
    def observation(self) -> Observation: ...

    @property
    def done(self) -> bool: ...

    async def act(self, message: str) -> Observation: ...


async def solve(task: Task, agent: Agent) -> None:
    """Walk to the goal."""
    del task  # everything needed is on the map that the agent sees
    while not agent.done:
        await agent.act(shortest_way(agent.observation.text)[0])


def shortest_way(text: str) -> list[str]:
    """Move words of a shortest way from P to G on the map in an observation.

    Raises:
        ValueError: there is no way.
    """
    cells = _read_map(text)
    start = next(cell for cell, letter in cells.items() if letter == "P")
    ways: dict[tuple[int, int], list[str]] = {start: []}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        if cells[cell] == "G":
            return ways[cell]
        for word, (down, right) in MOVES.items():
            near = (cell[0] + down, cell[1] + right)
            if near not in ways and cells.get(near, "H") != "H":
                ways[near] = [*ways[cell], word]
                queue.append(near)
    raise ValueError(f"no way to the goal on this map:\n{text}")


def _read_map(text: str) -> dict[tuple[int, int], str]:
    """Letter by (row, column); the map is the lines that hold nothing but its letters."""
    rows = [line for line in text.splitlines() if line and not line.strip("PGH.")]
    return {(y, x): letter for y, row in enumerate(rows) for x, letter in enumerate(row)}


__all__ = ["Agent", "shortest_way", "solve"]
