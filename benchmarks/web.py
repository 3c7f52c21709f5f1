"""What a web session costs: opening, stepping and memory of webarena's local suite, served as shipped.

The load comes from this process through envhub's client. Opens are measured one at a time with a pause before each, in
which the server makes a browser context ready again (as between an agent's episodes), one right after the other, and 16
at once. The split of an open is the server's own: site (a fresh copy of the database; made ahead with the context),
context (the wait for one), begin (clock and log-in), first_page, tree. A step is an action, the page's settling and a
look at it. Memory is the proportional set size of everything the server started: browsers, their driver, the sites.
The last line is one JSON object. `--quick` takes about a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import sys
import time
from typing import Any

import psutil
from support.measured_server import MeasuredServer, measured_server

from envhub.clients import Client, Session, connect

NAME = "webarena"
IN_FLIGHT = 16
PAUSE_S = 3.0
NEXT_PAGE = re.compile(r"\[(\d+)\] link 'next'")


def say(text: str) -> None:
    """Progress, on standard error."""
    print(text, file=sys.stderr, flush=True)


class Openings:
    """How long opens took, as the client saw them, and the server's own split of each."""

    def __init__(self) -> None:
        self.all_ms: list[float] = []
        self._splits: list[dict[str, float]] = []

    async def open(self, client: Client, task: str) -> Session:
        """Open a session; its first step, which tells the split, is not part of it."""
        started = time.perf_counter()
        session = await client.open(task=task)
        self.all_ms.append((time.perf_counter() - started) * 1000)
        self._splits.append((await session.step("scroll [up]")).info["opened_ms"])
        return session

    @property
    def p50_ms(self) -> float:
        """The median of the opens."""
        return median(self.all_ms)

    @property
    def split_ms(self) -> dict[str, float]:
        """The medians of the parts."""
        return {part: median([split[part] for split in self._splits]) for part in self._splits[0]}


async def one_at_a_time(client: Client, tasks: list[str], pause_s: float) -> Openings:
    """Open a session a task, each closed before the next is opened."""
    openings = Openings()
    for task in tasks:
        await asyncio.sleep(pause_s)
        await (await openings.open(client, task)).close()
    return openings


async def walk(session: Session, steps_ms: list[float]) -> None:
    """A few steps as an agent takes them."""
    await timed(session, "goto [http://shop.test/catalogue/]", steps_ms)
    link = NEXT_PAGE.search(session.observation.text)
    actions = [f"click [{link[1]}]" if link else "scroll [down]", "scroll [down]", "go_back"]
    for action in [*actions, "goto [http://forum.test/]", "goto [http://wiki.test/]"]:
        await timed(session, action, steps_ms)


async def timed(session: Session, action: str, steps_ms: list[float]) -> None:
    """Take a step and note how long it took."""
    started = time.perf_counter()
    await session.step(action)
    steps_ms.append((time.perf_counter() - started) * 1000)


async def measure(client: Client, server: MeasuredServer, quick: bool) -> dict[str, Any]:
    """Everything, in turn."""
    tasks = [task.id for task in await client.tasks(limit=200)]
    splits = (await client.info()).environments[0].splits
    rounds = 8 if quick else 24

    say(f"{rounds} opens, one at a time, with a pause before each")
    alone = await one_at_a_time(client, spread(tasks, rounds), PAUSE_S)
    say(f"{rounds} opens, one right after the other")
    in_a_row = await one_at_a_time(client, spread(tasks, rounds), 0.0)

    say("steps of one session")
    steps_ms: list[float] = []
    async with client.session(task=tasks[0]) as session:
        for _ in range(2 if quick else 6):
            await walk(session, steps_ms)

    say(f"{IN_FLIGHT} opens at once, then their steps")
    together, together_ms = Openings(), list[float]()
    sessions = await asyncio.gather(*(together.open(client, task) for task in spread(tasks, IN_FLIGHT)))
    await asyncio.gather(*(walk(session, together_ms) for session in sessions))
    memory_mb = memory_of(server)
    await asyncio.gather(*(session.close() for session in sessions))
    return {
        "tasks": {NAME: sum(size or 0 for size in splits.values())},
        "session_open_ms": {
            "1": alone.p50_ms,
            "1_without_pause": in_a_row.p50_ms,
            "16": together.p50_ms,
            "split": alone.split_ms,
            "split_16": together.split_ms,
        },
        "step_ms": {"p50": median(steps_ms), "p50_16": median(together_ms)},
        "memory_mb_per_session": round(memory_mb / IN_FLIGHT, 1),
    }


def spread(tasks: list[str], count: int) -> list[str]:
    """So many tasks from all over the list, some of them twice where there are fewer."""
    return [tasks[index * len(tasks) // count] for index in range(count)]


def memory_of(server: MeasuredServer) -> float:
    """Megabytes of everything the server started, shared pages shared out."""
    total = 0.0
    for process in server.process.children(recursive=True):
        try:
            total += process.memory_full_info().pss
        except psutil.NoSuchProcess:
            continue
    return total / 2**20


def median(values: list[float]) -> float:
    """To a tenth."""
    return round(statistics.median(values), 1)


async def main() -> None:
    """Serve, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    arguments = parser.parse_args()
    say(f"starting {NAME} (the first start builds its sites)")
    with measured_server(NAME, "--max-sessions", "32") as server:
        async with connect(server.url, server.token) as client:
            result = await measure(client, server, arguments.quick)
    print(json.dumps(result))


if __name__ == "__main__":
    asyncio.run(main())
