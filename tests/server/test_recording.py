"""Recording: written before the acknowledgement, lossless, and still there after kill -9."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from envhub.sdk import Observation, StepResult, read_trajectories
from envhub.sdk.errors import ServerError
from envhub.server.outcome import result_json
from envhub.server.recording import MemoryRecorder

PROBE = Path(__file__).parent / "environments" / "probe"


async def test_a_recorded_episode_reads_back_as_it_was(serve: Any, drive: Any, tmp_path: Path) -> None:
    async with serve("probe", record=tmp_path) as running, drive(running) as driver:
        opened = await driver.open(task="plain", seed=9)
        await driver.step(opened, 0, {"message": "part"})
        call = {"tool_calls": [{"name": "submit", "arguments": {"answer": "win"}, "id": "c1"}]}
        last = await driver.step(opened, 1, call)
        lines = await driver.trajectory(opened)
    (file,) = tmp_path.glob("*.jsonl")
    (trajectory,) = read_trajectories(file)
    assert trajectory == read_trajectories(lines.splitlines(keepends=True))[0]
    assert trajectory.reward == 1.25
    assert trajectory.rewards == {"part": 0.25, "won": 1.0}
    assert trajectory.end == "terminated"
    assert trajectory.open.task.seed == 9
    assert json.loads(trajectory.steps[1].result.model_dump_json()) == last["result"]
    assert trajectory.steps[1].action.tool_calls[0].id == "c1"
    assert trajectory.steps[0].duration_s > 0
    assert "hunter2" not in file.read_text()
    assert oct(file.stat().st_mode)[-3:] == "600"


async def test_a_failed_step_is_recorded_with_its_action(serve: Any, any_drive: Any, tmp_path: Path) -> None:
    async with serve("probe", record=tmp_path) as running, any_drive(running) as driver:
        opened = await driver.open(task="plain")
        with pytest.raises(Exception, match="is broken"):
            await driver.step(opened, 0, {"message": "raise"})
    (trajectory,) = read_trajectories(next(tmp_path.glob("*.jsonl")))
    assert trajectory.ended is not None
    assert (trajectory.end, trajectory.reward, trajectory.steps) == ("error", None, ())
    assert trajectory.ended.action is not None
    assert trajectory.ended.action.message == "raise"
    assert (trajectory.ended.error or {})["code"] == "environment"


async def test_sessions_interleave_in_one_file(serve: Any, any_drive: Any, tmp_path: Path) -> None:
    async with serve("probe", record=tmp_path) as running, any_drive(running) as driver:
        opened = [await driver.open(task="plain", seed=seed) for seed in range(4)]
        for index in range(3):
            items = [
                {"op": "step", "session": one["session"], "index": index, "action": {"message": f"say {index}"}}
                for one in opened
            ]
            assert all("ok" in reply for reply in await driver.batch(items))
        alone = await driver.trajectory(opened[2])
    found = {trajectory.session: trajectory for trajectory in read_trajectories(next(tmp_path.glob("*.jsonl")))}
    assert [len(found[one["session"]].steps) for one in opened] == [3] * 4
    assert read_trajectories(alone.splitlines(keepends=True))[0].steps == found[opened[2]["session"]].steps


async def test_what_cannot_be_recorded_is_not_acknowledged(
    serve: Any, drive: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve("probe", record=tmp_path) as running, drive(running) as driver:
        opened = await driver.open(task="plain")
        await driver.step(opened, 0, {"message": "part"})
        full = os.open("/dev/full", os.O_WRONLY)
        monkeypatch.setattr(running.registry.recorder, "_file", full)
        monkeypatch.setattr(os, "ftruncate", lambda *_: None)  # /dev/full has no length to cut
        with pytest.raises(ServerError, match="No space left"):
            await driver.step(opened, 1, {"message": "part"})
        status = await driver.get(opened)
        assert (status["end"], status["reward"]) == ("error", None)
        monkeypatch.undo()
        again = await driver.open(task="plain")
        assert (await driver.step(again, 0, {"message": "win"}))["result"]["reward"] == 1.0
        (kept,) = read_trajectories((await driver.trajectory(opened)).split("\n"))  # nothing of the other's
        assert (kept.session, len(kept.steps), kept.ended) == (opened["session"], 1, None)
        os.close(full)
    assert len(read_trajectories(next(tmp_path.glob("*.jsonl")))) == 2


def test_every_acknowledged_step_survives_kill_9(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from envhub.server.run import serve; from envhub.server.config import ServeOptions;"
        f"serve(ServeOptions(environments=({str(PROBE)!r},), port=0, record=Path({str(tmp_path)!r})),"
        " lambda url, token: print(url, token, flush=True))"
    )
    environ = {**os.environ, "ENVHUB_HOME": str(tmp_path / "home")}
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environ)
    assert server.stdout is not None
    url, token = server.stdout.readline().split()
    with httpx.Client(base_url=url) as client:
        opened = client.post(
            "/v1/sessions", json={"task": "plain"}, headers={"Authorization": f"Bearer {token}"}
        ).json()
        path = f"/v1/sessions/{opened['session']}/step"
        headers = {"Authorization": f"Bearer {opened['session_token']}"}
        for index in range(10):
            reply = client.post(path, json={"index": index, "action": {"message": "part"}}, headers=headers)
            assert reply.status_code == 200
        server.send_signal(signal.SIGKILL)
    server.wait()
    server.stdout.close()
    (trajectory,) = read_trajectories(next(tmp_path.glob("*.jsonl")))
    assert [step.index for step in trajectory.steps] == list(range(10))
    assert (trajectory.end, trajectory.reward) == (None, None)


@given(text=st.text(), reward=st.none() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_plain_result_written_by_hand_is_what_the_model_would_write(text: str, reward: float | None) -> None:
    result = StepResult(observation=Observation.of(text), reward=reward)
    answered, kept = result_json(result, MemoryRecorder())
    assert StepResult.model_validate_json(answered) == result
    assert list(json.loads(answered)) == list(json.loads(result.model_dump_json()))
    assert kept == answered
