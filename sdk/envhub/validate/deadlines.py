"""deadline.* and isolation.loop: what happens when time runs out, and that nobody makes the others wait."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractAsyncContextManager

from envhub.sdk.errors import StepTimeout
from envhub.sdk.messages import Action, JsonObject
from envhub.sdk.wire import Opened
from envhub.validate.bench import Bench
from envhub.validate.episodes import END_WAIT_S, graded
from envhub.validate.report import CheckFailed, NotChecked

TINY_S = 0.001
EPISODE_S = 1.0
LEASE_S = 2.0
LAG_S = 0.2
"""How late a health probe may be while a step of an inline environment runs. Later ones count where they waited for
most of the step: a busy machine makes probes slow, but lets several through during one step."""
MAX_LATE = 2
NUM_ATTEMPTS = 3
"""A busy machine makes probes late once in a while, an environment that blocks does so every time."""


async def check_step(bench: Bench) -> None:
    """A step over its deadline ends the episode without a reward; one within it is an ordinary step."""
    async with _session(bench, step_deadline_s=TINY_S) as opened:
        try:
            end = (await bench.api.step(opened, 0, Action(message="")))["end"]
        except StepTimeout:
            end = "step_deadline"
        status = await bench.api.status(opened)
    if end not in (None, "terminated", "step_deadline"):
        raise CheckFailed(f"a step with a deadline of {TINY_S} s ended the episode with {end!r}")
    if end == "step_deadline" and (status.end, status.reward) != (end, None):
        raise CheckFailed(f"a step over its deadline left the end {status.end!r} and the reward {status.reward}")


async def check_episode(bench: Bench) -> None:
    """An episode over its time is cut and graded."""
    async with _session(bench, episode_deadline_s=EPISODE_S) as opened:
        status = await bench.api.status(opened, END_WAIT_S)
    if status.end != "episode_time":
        raise CheckFailed(f"after {EPISODE_S} s and more its end is {status.end!r}")
    graded(status)


async def check_lease(bench: Bench) -> None:
    """A session nobody renews ends without a reward; renewing keeps it."""
    async with _session(bench, lease_s=LEASE_S) as opened:
        status = await bench.api.status(opened, END_WAIT_S)
    if (status.end, status.reward) != ("lease_lost", None):
        raise CheckFailed(f"an abandoned session ended with {status.end!r} and reward {status.reward}")
    async with _session(bench, lease_s=LEASE_S) as opened:
        for _ in range(12):
            await asyncio.sleep(LEASE_S / 8)
            await bench.api.call("POST", f"/v1/sessions/{opened.session}/renew", token=opened.session_token)
        status = await bench.api.status(opened)
    if status.state != "open":
        raise CheckFailed(f"a session renewed in time ended with {status.end!r}")


async def check_loop(bench: Bench) -> None:
    """Steps of an inline environment do not hold up the server: probes are answered while they run."""
    if bench.environment.isolation != "inline":
        raise NotChecked("isolation = process: its steps cannot block the server")
    for attempt in range(NUM_ATTEMPTS):
        late = await _late_probes(bench)
        if len(late) < MAX_LATE:
            return
        bench.progress(f"isolation.loop: {len(late)} late probes, attempt {attempt + 1} of {NUM_ATTEMPTS}")
    raise CheckFailed(
        f"/healthz took up to {max(late):.2f} s while steps ran; use async code, "
        'or isolation = "process" in the manifest'
    )


async def _late_probes(bench: Bench) -> list[float]:
    """Delays of the probes that an open or a step held up."""
    late: list[float] = []
    for task in bench.spread(3):
        opening = asyncio.create_task(bench.api.open(environment=bench.name, task=task.id, seed=task.seed))
        late += await _held_up(bench, opening)
        opened = await opening
        try:
            for index, action in enumerate(bench.actions_for(task)[:5]):
                stepping = asyncio.create_task(bench.api.step(opened, index, action))
                late += await _held_up(bench, stepping)
                if (await stepping)["end"] is not None:
                    break
        finally:
            await bench.api.close(opened)
    return late


async def _held_up(bench: Bench, work: asyncio.Task[Opened] | asyncio.Task[JsonObject]) -> list[float]:
    """The delay of the slowest probe sent while the work ran, if the work held it up."""
    slowest = 0.0
    begun = time.monotonic()
    await asyncio.sleep(0.002)  # so that the work is on its way first
    while not work.done():
        started = time.monotonic()
        await bench.api.send("GET", "/healthz", anonymous=True)
        slowest = max(slowest, time.monotonic() - started)
        await asyncio.sleep(0.005)
    took = time.monotonic() - begun
    return [slowest] if slowest > LAG_S and slowest > took / 2 else []


def _session(bench: Bench, **request: float) -> AbstractAsyncContextManager[Opened]:
    return bench.api.session(environment=bench.name, task=bench.tasks[0].id, **request)


__all__ = ["check_episode", "check_lease", "check_loop", "check_step"]
