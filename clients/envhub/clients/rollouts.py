"""rollouts: many episodes at once, bounded, written as they finish, and resumable."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import ExitStack, aclosing
from pathlib import Path

from envhub.clients.client import Client
from envhub.clients.opening import OpenOptions
from envhub.clients.policy import Policy
from envhub.clients.progress import Report, RolloutProgress, report_to
from envhub.clients.rollout import PATIENCE_S, rollout
from envhub.clients.trajectory_file import TrajectoryFile
from envhub.sdk.errors import InvalidRequest
from envhub.sdk.trajectory import Trajectory

PolicyFactory = Callable[[OpenOptions], Policy]
"""Makes a fresh policy for a request."""
Done = tuple[int, Trajectory]
"""A request's index and its trajectory."""


async def rollouts(
    client: Client,
    policy_factory: PolicyFactory,
    requests: Sequence[OpenOptions],
    *,
    concurrency: int = 16,
    progress: bool | Report | None = None,
    out: Path | None = None,
    patience_s: float = PATIENCE_S,
) -> list[Trajectory]:
    """Roll out many episodes.

    Args:
        client: connected.
        policy_factory: a fresh policy for each episode.
        requests: (N,) what each session is opened with, e.g. `{"task": "test-0", "seed": 7}`.
        concurrency: how many run at a time.
        progress: True: a bar or lines on stderr; or a callable that is told.
        out: JSONL file that each is appended to as it finishes. Requests it already answers are not run again; they
            are recognised by environment, task, split and seed.
        patience_s: seconds for which a full server is asked again.

    Returns:
        (N,) trajectories in the order of the requests; failed ones as `rollout` has them.

    Raises:
        RequestError: an opening was refused. The other rollouts are stopped and their sessions closed.
        Exception: whatever a policy raises; likewise.
    """
    found: dict[int, Trajectory] = {}
    stream = stream_rollouts(
        client, policy_factory, requests, concurrency=concurrency, progress=progress, out=out, patience_s=patience_s
    )
    async with aclosing(stream):
        async for index, trajectory in stream:
            found[index] = trajectory
    return [found[index] for index in range(len(requests))]


async def stream_rollouts(
    client: Client,
    policy_factory: PolicyFactory,
    requests: Sequence[OpenOptions],
    *,
    concurrency: int = 16,
    progress: bool | Report | None = None,
    out: Path | None = None,
    patience_s: float = PATIENCE_S,
) -> AsyncGenerator[Done, None]:
    """As `rollouts`, giving (index, trajectory) as they finish, those found in `out` first.

    A consumer that leaves early should close it (`contextlib.aclosing`): that stops what still runs.
    """
    if concurrency < 1:
        raise InvalidRequest(f"concurrency must be at least 1, not {concurrency}")
    with ExitStack() as stack:
        file = stack.enter_context(TrajectoryFile(out)) if out else None
        done = file.find_done(requests) if file else {}
        tally = _Tally(len(requests), stack.enter_context(report_to(progress)))
        for item in done.items():
            tally.add(item[1])
            yield item
        todo = iter([(index, request) for index, request in enumerate(requests) if index not in done])
        async with aclosing(_run(client, policy_factory, todo, concurrency, patience_s)) as running:
            async for item in running:
                if file:
                    file.append(item[1])
                tally.add(item[1])
                yield item


async def _run(
    client: Client,
    policy_factory: PolicyFactory,
    todo: Iterator[tuple[int, OpenOptions]],
    concurrency: int,
    patience_s: float,
) -> AsyncGenerator[Done, None]:
    """Roll out what is to do with so many workers; the first exception of any ends all."""
    queue: asyncio.Queue[Done | Exception | None] = asyncio.Queue(maxsize=concurrency)
    stopping = asyncio.Event()

    async def work() -> None:
        """The broad except hands the exception to the consumer, who raises it."""
        try:
            for index, request in todo:
                await queue.put(
                    (index, await rollout(client, policy_factory(request), patience_s=patience_s, **request))
                )
        except asyncio.CancelledError:
            if not stopping.is_set():  # Not by us: the policy let a cancellation of its own escape.
                await queue.put(RuntimeError("a policy raised CancelledError"))
            raise
        except Exception as error:
            await queue.put(error)
        else:
            await queue.put(None)

    # Not a TaskGroup: a generator may be closed by another task than the one that started it.
    workers = [asyncio.create_task(work(), name=f"rollouts {number}") for number in range(concurrency)]
    try:
        left = concurrency
        while left:
            item = await queue.get()
            if isinstance(item, Exception):
                raise item
            if item is None:
                left -= 1
            else:
                yield item
    finally:
        stopping.set()
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


class _Tally:
    """Counts for the progress report."""

    def __init__(self, total: int, report: Report) -> None:
        self._total = total
        self._report = report
        self._started = time.monotonic()
        self._done = 0
        self._rewards: list[float] = []

    def add(self, trajectory: Trajectory) -> None:
        self._done += 1
        if trajectory.reward is not None:
            self._rewards.append(trajectory.reward)
        self._report(self._progress())

    def _progress(self) -> RolloutProgress:
        rewards, failed = self._rewards, self._done - len(self._rewards)
        mean = sum(rewards) / len(rewards) if rewards else None
        return RolloutProgress(self._done, self._total, failed, mean, time.monotonic() - self._started)


__all__ = ["PolicyFactory", "rollouts", "stream_rollouts"]
