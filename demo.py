"""`make demo`: host webarena's local suite, solve ten tasks with its oracle, play ten at random, show how it went.

Twenty episodes in parallel sessions of one server. What happened is written to demo-output/: every episode as JSON
lines, and a screenshot of what a task begins with.
"""

from __future__ import annotations

import asyncio
import base64
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from envhub.clients import Client, RandomPolicy, SessionAgent, connect, rollout
from envhub.sdk import (
    ImagePart,
    LoadedEnvironment,
    Task,
    ToolResultPart,
    Trajectory,
    load,
    write_trajectories,
)

NAME = "webarena"
NUM_TASKS = 10
RANDOM_TURNS = 6
PARALLEL = 5
OUT = Path("demo-output")

Solve = Callable[[Task, SessionAgent], Awaitable[None]]


@dataclass(frozen=True)
class Played:
    """One episode of the demo."""

    policy: str
    task: Task
    trajectory: Trajectory
    seconds: float


async def play_oracle(client: Client, task: Task, solve: Solve) -> Trajectory:
    """Let the oracle solve a task; the server's record of it."""
    async with client.session(task=task.id) as session:
        await solve(task, SessionAgent(session))
        return await session.trajectory()


async def play_all(client: Client, environment: LoadedEnvironment, say: Callable[[str], None]) -> list[Played]:
    """Ten tasks with the oracle and the same ten at random, a few at a time."""
    solve: Solve = environment.attribute(environment.manifest.oracle.entry)
    own = environment.cls.tasks()  # with the private part, which the server keeps to itself
    tasks = [own.get(task.id) for task in spread(await all_tasks(client), NUM_TASKS)]
    places = asyncio.Semaphore(PARALLEL)
    played: list[Played] = []

    async def play(policy: str, task: Task, number: int) -> None:
        async with places:
            started = time.monotonic()
            if policy == "oracle":
                trajectory = await play_oracle(client, task, solve)
            else:
                trajectory = await rollout(client, RandomPolicy(number), task=task.id, max_turns=RANDOM_TURNS)
            played.append(Played(policy, task, trajectory, time.monotonic() - started))
            say(f"{len(played):2d}/{2 * len(tasks)}  {policy:6s}  {task.id}  reward {trajectory.reward}")

    async with asyncio.TaskGroup() as group:
        for policy in ("oracle", "random"):
            for number, task in enumerate(tasks):
                group.create_task(play(policy, task, number))
    return sorted(played, key=lambda one: (one.policy, one.task.id))


async def all_tasks(client: Client) -> list[Task]:
    """The tasks of every split."""
    splits = (await client.environment()).splits
    return [task for split in splits for task in await client.tasks(split, limit=100)]


def spread(tasks: list[Task], count: int) -> list[Task]:
    """So many tasks from all over the list."""
    return [tasks[index * len(tasks) // count] for index in range(min(count, len(tasks)))]


def table_of(played: list[Played], title: str) -> Table:
    """How each episode went."""
    table = Table("task", "site", "policy", "end", "reward", "steps", "seconds", title=title)
    for one in played:
        reward = "–" if one.trajectory.reward is None else f"{one.trajectory.reward:g}"
        site = ", ".join(one.task.metadata.get("sites", ())) or "–"
        steps, seconds = str(len(one.trajectory.steps)), f"{one.seconds:.1f}"
        table.add_row(one.task.id, site, one.policy, one.trajectory.end or "–", reward, steps, seconds)
    return table


async def screenshot(client: Client, task: Task) -> bytes:
    """The window as a session of this task begins."""
    async with client.session(task=task.id) as session:
        seen = (await session.call("screenshot")).observation
    parts = [piece for part in seen.parts if isinstance(part, ToolResultPart) for piece in part.content]
    return base64.b64decode(next(part.data for part in parts if isinstance(part, ImagePart) and part.data))


def save(played: list[Played], picture: bytes) -> None:
    """Write trajectories and screenshot."""
    OUT.mkdir(exist_ok=True)
    (OUT / "screenshot.png").write_bytes(picture)
    with (OUT / "trajectories.jsonl").open("w", encoding="utf-8") as file:
        write_trajectories(file, [one.trajectory for one in played])


async def main() -> int:
    """Run it; the exit status is 0 where the oracle solved everything and chance nothing."""
    console = Console()
    environment = load(NAME)
    console.print(
        f"Hosting {environment.manifest.display}; the first start builds its sites and takes a minute or two."
    )
    async with connect(NAME, server_options=("--max-sessions", str(PARALLEL))) as client:
        console.print(
            f"It listens at {client.url}. Playing {NUM_TASKS} tasks with the oracle, "
            f"the same at random for at most {RANDOM_TURNS} turns, {PARALLEL} at a time.\n"
        )
        played = await play_all(client, environment, console.print)
        picture = await screenshot(client, played[0].task)
    save(played, picture)
    console.print(table_of(played, environment.manifest.display))
    console.print(f"Wrote {OUT}/trajectories.jsonl and {OUT}/screenshot.png.")
    expected = {"oracle": 1.0, "random": 0.0}
    return int(any(one.trajectory.reward != expected[one.policy] for one in played))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
