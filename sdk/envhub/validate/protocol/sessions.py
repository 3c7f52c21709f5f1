"""protocol.steps, .end, .key, .trajectory: an index is a promise, an end is final, a key opens once."""

from __future__ import annotations

import asyncio
import secrets

from envhub.sdk.trajectory import TRAINABLE, read_trajectories
from envhub.sdk.wire import Opened
from envhub.validate.bench import Bench
from envhub.validate.protocol.expect import HELLO, OTHER, refused, same, send_step, session, succeeded
from envhub.validate.report import CheckFailed

STORED = "the last step again must give its stored result"


async def check_steps(bench: Bench) -> None:
    """The same index with the same action gives the same reply, also while the step runs; all else is a conflict."""
    async with session(bench) as opened:
        refused(await send_step(bench, opened, 7), 409, "conflict", "a step index that is not the next one")
        both = await asyncio.gather(send_step(bench, opened, 0), send_step(bench, opened, 0))
        first = [succeeded(response, 200, "the first step, sent twice at once") for response in both]
        same(first[0], first[1], "two sendings of one step gave different results")
        same(first[0], succeeded(await send_step(bench, opened, 0), 200, STORED), STORED)
        refused(await send_step(bench, opened, 0, OTHER), 409, "conflict", "the last index with another action")
        steps = (await bench.api.status(opened)).steps
        same(steps, 1, "sendings of one step were counted as several")


async def check_end(bench: Bench) -> None:
    """After the end: a new step is session_ended, the last one still gives its result, reward and end stay."""
    async with session(bench, max_turns=1) as opened:
        last = succeeded(await send_step(bench, opened, 0), 200, "the only step")
        if last["result"]["end"] is None:
            raise CheckFailed("a session of max_turns = 1 did not end with its first step")
        refused(await send_step(bench, opened, 1), 410, "session_ended", "a step after the end")
        same(last, succeeded(await send_step(bench, opened, 0), 200, STORED), STORED)
        status = await bench.api.status(opened, wait_s=30)
        same((status.state, status.end), ("ended", last["result"]["end"]), "status and last step differ on the end")
        if (status.reward is not None) != (status.end in TRAINABLE):
            raise CheckFailed(f"the end {status.end!r} has the reward {status.reward}")
        same((await bench.api.close(opened)).end, status.end, "closing an ended session changed its end")
    await _check_closed(bench)


async def _check_closed(bench: Bench) -> None:
    """Closing before the end gives no reward, answers who waits for the end, and can be repeated."""
    async with session(bench) as opened:
        waiting = asyncio.create_task(bench.api.status(opened, wait_s=60))
        await asyncio.sleep(0)
        status = await bench.api.close(opened)
        same((status.end, status.reward), ("closed", None), "closed before the end")
        same((await waiting).end, "closed", "who waited for the end was told another one")
        same((await bench.api.close(opened)).end, "closed", "closing twice")
        refused(await send_step(bench, opened, 0), 410, "session_ended", "a step after closing")


async def check_key(bench: Bench) -> None:
    """Opening with the same key and request gives the same session, at once or later; another request is a conflict."""
    request = {"environment": bench.name, "task": bench.tasks[0].id, "key": secrets.token_hex(8), "wait_s": 60}
    responses = await asyncio.gather(*(bench.api.send("POST", "/v1/sessions", body=request) for _ in range(3)))
    codes = sorted(response.status_code for response in responses)
    same(codes, [200, 200, 201], "three opens with one key")
    opened = [Opened.model_validate(response.json()) for response in responses]
    try:
        same(len({each.session for each in opened}), 1, "one key opened several sessions")
        later = succeeded(await bench.api.send("POST", "/v1/sessions", body=request), 200, "the key once more")
        same(later["observation"], opened[0].observation.model_dump(mode="json"), "the key once more")
        response = await bench.api.send("POST", "/v1/sessions", body={**request, "max_turns": 1})
        refused(response, 409, "conflict", "the same key with another request")
    finally:
        await bench.api.close(opened[0])


async def check_trajectory(bench: Bench) -> None:
    """The records of a session read back as one trajectory, with its reward and without private parts."""
    async with session(bench, max_turns=1) as opened:
        await send_step(bench, opened, 0, HELLO)
        status = await bench.api.status(opened, wait_s=30)
        path = f"/v1/sessions/{opened.session}/trajectory"
        response = await bench.api.send("GET", path, token=opened.session_token)
    if response.status_code != 200:
        raise CheckFailed(f"the trajectory replied {response.status_code} {response.text[:160]!r}")
    (trajectory,) = read_trajectories(response.text.splitlines(keepends=True))
    same(trajectory.open.task, opened.task, "the trajectory's task is not the public one")
    same((trajectory.end, trajectory.reward), (status.end, status.reward), "the trajectory's end or reward differs")
    same([step.action for step in trajectory.steps], [HELLO], "the trajectory's actions")


__all__ = ["check_end", "check_key", "check_steps", "check_trajectory"]
