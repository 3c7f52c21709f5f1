"""Rules 4 and 5: every wait has a deadline, and a reward is never made up."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from envhub.sdk.errors import InvalidRequest, LeaseLost, SessionEnded, StepTimeout

SLEEP = {"message": "sleep 3600"}


async def test_a_step_past_its_deadline_is_stopped_and_truncates(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain", step_deadline_s=0.2)
        result = (await driver.step(opened, 0, SLEEP))["result"]
        assert (result["end"], result["truncated"], result["terminated"]) == ("step_deadline", True, False)
        assert result["reward"] is None
        status = await driver.get(opened)
        assert (status["end"], status["reward"]) == ("step_deadline", None)
        with pytest.raises(SessionEnded):
            await driver.step(opened, 1, {"message": "win"})


async def test_the_work_of_a_late_step_really_stops(probe: Any, any_drive: Any) -> None:
    async with any_drive(probe) as driver:
        opened = await driver.open(task="plain", step_deadline_s=0.1)
        await driver.step(opened, 0, SLEEP)
        await asyncio.sleep(0.05)
        session = probe.registry.session(opened["session"])
        assert session._work.done()
        assert probe.registry.admission.taken == 0


async def test_turns_run_out_with_the_reward_at_the_cut(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain", max_turns=2)
        assert opened["max_turns"] == 2
        await driver.step(opened, 0, {"message": "part"})
        result = (await driver.step(opened, 1, {"message": "x"}))["result"]
        assert (result["end"], result["truncated"], result["reward"]) == ("max_turns", True, 0.0)
        assert (await driver.get(opened))["reward"] == 0.25


async def test_more_turns_than_the_manifest_allows_are_refused(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        with pytest.raises(InvalidRequest, match="max_turns"):
            await driver.open(task="plain", max_turns=21)


async def test_the_episodes_time_ends_it_with_the_reward_at_the_cut(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain", episode_deadline_s=0.2)
        await driver.step(opened, 0, {"message": "part"})
        status = await driver.get(opened, wait_s=5)
        assert (status["end"], status["reward"]) == ("episode_time", 0.25)
        records = [json.loads(line) for line in (await driver.trajectory(opened)).splitlines()]
        assert records[-1]["result"]["rewards"] == {"won": 0.0}


async def test_a_session_nobody_renews_is_lost_and_its_environment_closed(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain", lease_s=0.3, seed=4242)
        await driver.step(opened, 0, {"message": "part"})
        status = await driver.get(opened, wait_s=5)
        assert (status["end"], status["reward"]) == ("lease_lost", None)
        with pytest.raises(LeaseLost, match="0.3 s"):
            await driver.step(opened, 1, {"message": "win"})
        with pytest.raises(LeaseLost):
            await driver.renew(opened)
        await asyncio.sleep(0.05)
        assert probe.registry.admission.taken == 0


async def test_renewing_keeps_a_session(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain", lease_s=0.4)
        for _ in range(4):
            await asyncio.sleep(0.2)
            assert (await driver.renew(opened))["lease_left_s"] > 0.3
        assert (await driver.step(opened, 0, {"message": "win"}))["result"]["reward"] == 1.0


async def test_a_running_step_keeps_its_lease(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain", lease_s=0.2)
        result = (await driver.step(opened, 0, {"message": "sleep 0.6"}))["result"]
        assert result["end"] is None


async def test_a_reset_that_hangs_is_a_timeout(serve: Any, drive: Any) -> None:
    async with serve("probe") as running, drive(running) as driver:
        with pytest.raises(StepTimeout, match="reset"):
            await driver.open(task="reset-hangs")
        await asyncio.sleep(0.05)
        assert running.registry.admission.taken == 0


@pytest.mark.parametrize("task", ["grade-raises", "grade-hangs", "grade-nan"])
async def test_failed_grading_is_unresolved_and_never_zero(probe: Any, drive: Any, task: str) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task=task)
        await driver.step(opened, 0, {"message": "part"})
        result = (await driver.step(opened, 1, {"message": "win"}))["result"]
        assert (result["end"], result["reward"], result["rewards"]) == ("unresolved", None, {})
        status = await driver.get(opened)
        assert (status["end"], status["reward"]) == ("unresolved", None)
        assert status["error"]["code"] == "grading"


async def test_stopping_the_server_ends_sessions_with_an_error(serve: Any, any_drive: Any) -> None:
    async with serve("probe") as running, any_drive(running) as driver:
        opened = await driver.open(task="plain")
        registry = running.registry
    session = registry.session(opened["session"])
    assert (session.end, session.status().reward) == ("error", None)
    assert registry.admission.taken == 0


async def test_get_waits_for_the_end(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain")
        waiting = asyncio.ensure_future(driver.get(opened, wait_s=10))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await driver.step(opened, 0, {"message": "win"})
        assert (await waiting)["end"] == "terminated"
        assert (await driver.get(await driver.open(task="plain"), wait_s=0.1))["state"] == "open"
