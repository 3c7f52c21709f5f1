"""Environment code that does what none should: it ends its own session, in a typed way, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from envhub.sdk.errors import EnvironmentFailed, ServerError, SessionEnded, StepTimeout
from envhub.sdk.messages import Action
from envhub.server import deadline
from envhub.server.agent import Agent

END = {"message": "end"}


@pytest.fixture
async def hostile(serve: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    monkeypatch.setattr(deadline, "GRACE_S", 0.05)
    async with serve("hostile") as running:
        yield running
        cls = running.registry.hosted["hostile"].loaded.cls
        cls.deaf = False  # let what was left behind end, before the server does
    cls.deaf = True


async def _is_well(driver: Any) -> None:
    """Another session opens, steps and is graded."""
    opened = await driver.open(task="plain")
    assert (await driver.step(opened, 0, END))["result"]["reward"] == 1.0


async def _freed(running: Any) -> None:
    async with asyncio.timeout(20):
        while running.registry.admission.taken:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("how", ["exit", "interrupt", "cancel", "surrogate", "surrogate text", "parts", "orphan"])
async def test_what_a_step_raises_or_gives_ends_its_session_alone(hostile: Any, any_drive: Any, how: str) -> None:
    async with any_drive(hostile) as driver:
        opened = await driver.open(task="plain")
        with pytest.raises(EnvironmentFailed):
            await driver.step(opened, 0, {"message": how})
        status = await driver.get(opened)
        assert (status["end"], status["reward"], status["error"]["code"]) == ("error", None, "environment")
        await _is_well(driver)
    await _freed(hostile)


async def test_tools_beside_each_other_cannot_end_the_process(hostile: Any, any_drive: Any) -> None:
    calls = [{"name": "leave"}, {"name": "echo", "arguments": {"text": "x"}}]
    async with any_drive(hostile) as driver:
        opened = await driver.open(task="plain")
        with pytest.raises(EnvironmentFailed, match="SystemExit"):
            await driver.step(opened, 0, {"tool_calls": calls})
        await _is_well(driver)


@pytest.mark.parametrize("text", ['{"text": "\\ud83d"}', '{"text": NaN}', "[" * 100_000, "1" * 5000])
async def test_arguments_that_are_no_json_are_told_to_the_model(hostile: Any, any_drive: Any, text: str) -> None:
    call = {"name": "echo", "arguments": text, "id": "c"}
    async with any_drive(hostile) as driver:
        opened = await driver.open(task="plain")
        part = (await driver.step(opened, 0, {"tool_calls": [call]}))["result"]["observation"]["parts"][0]
        assert (part["is_error"], part["call_id"]) == (True, "c")
        assert "the arguments" in part["content"][0]["text"]
        await _is_well(driver)


@pytest.mark.parametrize("how", ["exit", "interrupt"])
async def test_a_reset_that_exits_is_a_failed_open(hostile: Any, any_drive: Any, how: str) -> None:
    async with any_drive(hostile) as driver:
        with pytest.raises(EnvironmentFailed):
            await driver.open(task=f"reset-{how}")
        await _is_well(driver)
    await _freed(hostile)


async def test_a_deaf_reset_is_given_up_at_its_deadline(hostile: Any, any_drive: Any) -> None:
    async with any_drive(hostile) as driver:
        with pytest.raises(StepTimeout):
            await driver.open(task="reset-deaf")
    await _freed(hostile)


@pytest.mark.parametrize("how", ["exit", "deaf", "overflow"])
async def test_a_grader_that_exits_hangs_or_overflows_leaves_it_unresolved(
    hostile: Any, any_drive: Any, how: str
) -> None:
    async with any_drive(hostile) as driver:
        opened = await driver.open(task=f"grade-{how}")
        result = (await driver.step(opened, 0, END))["result"]
        assert (result["end"], result["reward"], result["rewards"]) == ("unresolved", None, {})
        assert (await driver.get(opened))["error"]["code"] == "grading"
        cut = await driver.open(task=f"grade-{how}", episode_deadline_s=0.05)
        status = await driver.get(cut, wait_s=20)
        assert (status["end"], status["reward"]) == ("unresolved", None)
    await _freed(hostile)


@pytest.mark.parametrize("how", ["exit", "deaf"])
async def test_a_close_that_exits_or_hangs_gives_its_place_back(
    serve: Any, any_drive: Any, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(deadline, "GRACE_S", 0.05)
    async with serve("hostile", limits={"close_s": 0.1}) as running, any_drive(running) as driver:
        opened = await driver.open(task=f"close-{how}")
        assert (await driver.close(opened))["end"] == "closed"
        await _freed(running)
        monkeypatch.setattr(running.registry.hosted["hostile"].loaded.cls, "deaf", False)


async def test_a_deaf_step_ends_at_its_deadline(hostile: Any, any_drive: Any) -> None:
    async with any_drive(hostile) as driver:
        opened = await driver.open(task="plain", step_deadline_s=0.1)
        result = (await driver.step(opened, 0, {"message": "deaf"}))["result"]
        assert (result["end"], result["reward"]) == ("step_deadline", None)
        with pytest.raises(SessionEnded):
            await driver.step(opened, 1, END)


async def test_a_number_msgpack_cannot_carry_is_a_typed_error_and_the_connection_lives(
    hostile: Any, drive: Any
) -> None:
    async with drive(hostile) as driver:
        opened = await driver.open(task="plain")
        if getattr(driver, "binary", False):
            with pytest.raises(ServerError, match="msgpack"):
                await driver.step(opened, 0, {"message": "big"})
        else:
            assert (await driver.step(opened, 0, {"message": "big"}))["result"]["info"] == {"number": 2**70}
        await _is_well(driver)


async def test_what_is_changed_after_a_step_changes_no_record(hostile: Any, any_drive: Any) -> None:
    async with any_drive(hostile) as driver:
        opened = await driver.open(task="plain")
        for index, text in enumerate(("one", "two")):
            await driver.step(opened, index, {"message": text})
        lines = (await driver.trajectory(opened)).splitlines()
    assert '"info":{"text":"one"}' in lines[1]
    assert '"info":{"text":"two"}' in lines[2]


async def test_an_agent_whose_caller_left_may_go_on(probe: Any, any_drive: Any) -> None:
    async with any_drive(probe) as driver:
        opened = await driver.open(task="plain", driver="mcp")
        session = probe.registry.session(opened["session"])
        agent = Agent(session)
        left = asyncio.create_task(agent.act(Action(message="sleep 0.2")))
        while not session.running:
            await asyncio.sleep(0)
        left.cancel()
        result = await agent.act(Action(message="part"))
        assert result.reward == 0.25
        assert session.steps == 2


async def test_an_open_under_way_at_the_end_is_closed_like_any_other(serve: Any, any_drive: Any) -> None:
    async with serve("probe") as running, any_drive(running) as driver:
        asked = asyncio.create_task(driver.open(task="reset-hangs"))
        while not running.registry.admission.taken:
            await asyncio.sleep(0.005)
        await running.registry.shutdown()
        with pytest.raises(ServerError, match="stopp"):
            await asked
        with pytest.raises(ServerError, match="stopp"):
            await driver.open(task="plain")
        assert (running.registry.admission.taken, running.registry.sessions) == (0, {})
