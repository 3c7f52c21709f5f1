"""Rule 1: sessions outlive connections; steps carry an index; nothing is lost and nothing is done twice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from envhub.sdk.errors import Conflict, EnvironmentFailed, InvalidRequest, NotFound, SandboxFailed, SessionEnded


def say(text: str) -> dict[str, Any]:
    return {"message": text}


def text_of(reply: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in reply["result"]["observation"]["parts"] if part["type"] == "text")


async def test_an_episode_runs_to_its_reward(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain", seed=5)
        assert opened["observation"]["parts"][0]["text"] == "seed 5"
        first = await driver.step(opened, 0, say("hello"))
        assert (first["index"], first["result"]["reward"], first["result"]["end"]) == (0, None, None)
        last = (await driver.step(opened, 1, say("win")))["result"]
        assert (last["reward"], last["rewards"], last["terminated"], last["end"]) == (
            1.0,
            {"won": 1.0},
            True,
            "terminated",
        )
        assert last["info"]["metrics"] == {"length": 2.0}
        status = await driver.get(opened)
        assert (status["state"], status["steps"], status["reward"], status["end"]) == ("ended", 2, 1.0, "terminated")


async def test_the_same_index_and_action_returns_the_stored_result(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain")
        first = await driver.step(opened, 0, say("hello"))
        assert await driver.step(opened, 0, say("hello")) == first
        assert text_of(await driver.step(opened, 1, say("hello"))).startswith("2:")


async def test_the_same_index_joins_the_step_still_running(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain")
        twice = await asyncio.gather(*(driver.step(opened, 0, say("sleep 0.2")) for _ in range(2)))
        assert twice[0] == twice[1]
        assert (await driver.get(opened))["steps"] == 1


async def test_another_action_under_the_last_index_is_a_conflict(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain")
        await driver.step(opened, 0, say("hello"))
        with pytest.raises(Conflict, match="another action"):
            await driver.step(opened, 0, say("other"))


@pytest.mark.parametrize("index", [2, 7])
async def test_an_index_that_is_not_the_next_is_a_conflict(probe: Any, drive: Any, index: int) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain")
        await driver.step(opened, 0, say("hello"))
        with pytest.raises(Conflict, match="it is 1"):
            await driver.step(opened, index, say("hello"))
        assert (await driver.step(opened, 1, say("hello")))["index"] == 1


@pytest.mark.parametrize("index", [-1, "0", 1.5, None, True])
async def test_an_index_that_is_no_count_is_invalid(probe: Any, drive: Any, index: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain")
        with pytest.raises(InvalidRequest, match="index"):
            await driver.step(opened, index, say("hello"))


async def test_a_step_after_the_end_says_so_and_the_last_one_can_be_read_again(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain")
        last = await driver.step(opened, 0, say("win"))
        with pytest.raises(SessionEnded, match="terminated"):
            await driver.step(opened, 1, say("more"))
        assert await driver.step(opened, 0, say("win")) == last


async def test_a_session_outlives_its_connection(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain")
        await driver.step(opened, 0, say("hello"))
    async with drive(probe) as other:
        again = await other.step(opened, 1, say("win"), token=opened["session_token"])
        assert again["result"]["reward"] == 1.0


async def test_a_lost_connection_does_not_cancel_its_step(probe: Any, any_drive: Any) -> None:
    async with any_drive(probe) as driver:
        opened = await driver.open(task="plain")
        lost = asyncio.ensure_future(driver.step(opened, 0, say("sleep 0.3")))
        await asyncio.sleep(0.05)
    lost.cancel()
    async with any_drive(probe) as other:
        joined = await other.step(opened, 0, say("sleep 0.3"), token=opened["session_token"])
        assert text_of(joined).startswith("1: sleep")


async def test_open_with_the_same_key_is_the_same_session(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        both = await asyncio.gather(*(driver.open(task="plain", key="key-of-one") for _ in range(2)))
        assert both[0] == both[1]
        assert await driver.open(task="plain", key="key-of-one") == both[0]
        assert len(probe.registry.live) == 1
        with pytest.raises(Conflict, match="key"):
            await driver.open(task="other", key="key-of-one")


async def test_a_failed_open_frees_its_key_and_its_place(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        for _ in range(2):
            with pytest.raises(EnvironmentFailed, match="reset is broken"):
                await driver.open(task="reset-raises", key="key-that-fails")
        await asyncio.sleep(0.05)
        assert probe.registry.admission.taken == 0


async def test_close_ends_the_session_without_a_reward(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain")
        await driver.step(opened, 0, say("part"))
        closed = await driver.close(opened)
        assert (closed["state"], closed["end"], closed["reward"], closed["rewards"]) == ("ended", "closed", None, {})
        assert await driver.close(opened) == closed


async def test_close_stops_a_running_step(probe: Any, any_drive: Any) -> None:
    async with any_drive(probe) as driver:
        opened = await driver.open(task="plain")
        running = asyncio.ensure_future(driver.step(opened, 0, say("sleep 3600")))
        await asyncio.sleep(0.05)
        assert (await driver.get(opened))["running"]
        await driver.close(opened)
        with pytest.raises(SessionEnded, match="closed"):
            await running


async def test_unknown_sessions_are_not_found(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        token = probe.registry.tokens.mint("ehs", "0" * 20)
        with pytest.raises(NotFound):
            await driver.step({"session": "0" * 20, "session_token": token}, 0, say("x"), token=token)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [("raise", EnvironmentFailed, "the environment is broken"), ("sandbox", SandboxFailed, "sandbox is gone")],
)
async def test_what_breaks_ends_the_session_without_a_reward(
    probe: Any, drive: Any, text: str, kind: type[Exception], message: str
) -> None:
    async with drive(probe) as driver:
        opened, other = await driver.open(task="plain"), await driver.open(task="other")
        await driver.step(opened, 0, say("part"))
        with pytest.raises(kind, match=message):
            await driver.step(opened, 1, say(text))
        status = await driver.get(opened)
        assert (status["end"], status["reward"], status["rewards"]) == ("error", None, {})
        assert status["error"]["boundary"] in ("environment", "sandbox")
        with pytest.raises(kind, match=message):
            await driver.step(opened, 1, say(text))
        with pytest.raises(SessionEnded, match=message):
            await driver.step(opened, 2, say("win"))
        assert (await driver.step(other, 0, say("win")))["result"]["reward"] == 1.0
