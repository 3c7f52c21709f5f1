"""ProcessEpisode on real worker processes: whatever environment code does, it harms its own session only."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from envhub.sdk import Action, EnvironmentFailed, HostContext, Task, load
from envhub.sdk.wire import OpenRequest
from envhub.server.agent import Agent
from envhub.server.app import open_server
from envhub.server.config import ServeOptions
from envhub.server.process import ProcessEpisode

MANIFEST = """
name = "trouble"
summary = "Does what it is told, however bad."
isolation = "process"
licences = { wrapper = "Apache-2.0", data = "CC0-1.0" }
[config]
greeting = "hello"
"""
CODE = """
import asyncio, os, subprocess, sys, time
from contextlib import asynccontextmanager
from pathlib import Path
from envhub.sdk import Criterion, Environment, Observation, Rubric, SeededTasks, StepResult, Task

class Environment(Environment):
    steps = 0
    rubric = Rubric(Criterion("steps", lambda environment: environment.steps))

    @classmethod
    def tasks(cls):
        return SeededTasks(lambda split, i: Task(id=f"{split}-{i}", private={"answer": i}), {"train": 10})

    @classmethod
    @asynccontextmanager
    async def lifespan(cls, context):
        (context.run_dir / "open").touch()
        yield context
        (context.cache_dir / "lifespan-ended").touch()

    def reset(self, task):
        return f"{self.config['greeting']} {task.id} {task.seed} {task.private['answer']} {os.getpid()}"

    async def step(self, action):
        self.steps += 1
        match action.message.split(" ", 1):
            case ["hang"]:
                while True:
                    time.sleep(0.01)
            case ["child", file]:
                child = subprocess.Popen(["sleep", "600"])
                Path(file).write_text(str(child.pid))
                time.sleep(600)
            case ["exit"]:
                sys.exit(3)
            case ["_exit"]:
                print("going down", file=sys.stderr, flush=True)
                os._exit(4)
            case ["raise"]:
                raise ValueError("no good")
            case ["print"]:
                for _ in range(20_000):
                    print("x" * 100)
                    print("y" * 100, file=sys.stderr)
            case ["huge"]:
                return StepResult(observation=Observation.of("x" * (65 * 2**20)))
            case ["nan"]:
                return StepResult(observation=Observation.of(""), reward=1.0, rewards={"part": float("nan")})
            case ["hangup"]:
                os.closerange(3, 64)
        return StepResult(observation=Observation.of(f"step {self.steps}"), reward=0.5, rewards={"half": 0.5})

    def close(self):
        if self.steps == 99:
            time.sleep(600)
        if self.shared:
            (self.shared.cache_dir / "closed").touch()
"""

Opened = Callable[..., ProcessEpisode]


@pytest.fixture
async def new(tmp_path: Path) -> AsyncIterator[Opened]:
    """Makes episodes of the environment above; they are closed at the end."""
    folder = tmp_path / "trouble"
    folder.mkdir()
    (folder / "envhub.toml").write_text(MANIFEST)
    (folder / "env.py").write_text(CODE)
    for name in ("cache", "run"):
        (tmp_path / name).mkdir()
    context = HostContext(tmp_path / "cache", tmp_path / "run")
    made: list[ProcessEpisode] = []

    def make(close_s: float = 5.0) -> ProcessEpisode:
        made.append(ProcessEpisode(folder, {"greeting": "hi"}, context, close_s=close_s))
        return made[-1]

    yield make
    for episode in made:
        await episode.close()
    assert list((tmp_path / "run").iterdir()) == []


def say(text: str) -> Action:
    return Action(message=text)


def task(number: int = 1, seed: int = 7) -> Task:
    return Task(id=f"train-{number}", seed=seed)


def pid_of(episode: ProcessEpisode) -> int:
    pid = episode._worker.pid
    assert pid is not None
    return pid


async def wait_until_gone(pid: int) -> None:
    await wait_until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


async def test_an_episode_runs_in_a_process_of_its_own_with_its_task_and_config(new: Opened, tmp_path: Path) -> None:
    episode = new()
    seen = await episode.reset(task(3, seed=11))
    assert seen.text == f"hi train-3 11 3 {pid_of(episode)}"
    result = await episode.step(say("go"))
    assert (result.observation.text, result.reward, result.rewards) == ("step 1", 0.5, {"half": 0.5})
    score = await episode.grade()
    assert score is not None
    assert score.rewards == {"steps": 1.0}
    await episode.close()
    await episode.close()
    assert {file.name for file in (tmp_path / "cache").iterdir()} == {"closed", "lifespan-ended"}
    assert not psutil.pid_exists(pid_of(episode))


async def test_sessions_share_nothing(new: Opened) -> None:
    one, two = new(), new()
    await asyncio.gather(one.reset(task()), two.reset(task()))
    assert pid_of(one) != pid_of(two)
    await one.step(say("go"))
    assert (await two.step(say("go"))).observation.text == "step 1"
    with pytest.raises(EnvironmentFailed):
        await one.step(say("_exit"))
    assert (await two.step(say("go"))).observation.text == "step 2"


async def test_cancelling_a_step_kills_code_that_blocks(new: Opened) -> None:
    episode = new()
    await episode.reset(task())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await episode.step(say("hang"))
    await wait_until_gone(pid_of(episode))
    with pytest.raises(EnvironmentFailed, match="stopped by a deadline"):
        await episode.step(say("go"))


async def test_cancelling_a_step_kills_what_the_worker_started(new: Opened, tmp_path: Path) -> None:
    episode, file = new(), tmp_path / "child"
    await episode.reset(task())
    running = asyncio.create_task(episode.step(say(f"child {file}")))
    await wait_until(lambda: file.exists() and file.read_text() != "")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await wait_until_gone(int(file.read_text()))


async def test_close_during_a_step_kills_it(new: Opened) -> None:
    episode = new()
    await episode.reset(task())
    running = asyncio.create_task(episode.step(say("hang")))
    await asyncio.sleep(0.05)
    await episode.close()
    with pytest.raises(EnvironmentFailed, match="session was closed"):
        await running
    assert not psutil.pid_exists(pid_of(episode))


async def test_close_during_the_start_leaves_nothing(new: Opened, tmp_path: Path) -> None:
    episode = new()
    starting = asyncio.create_task(episode.reset(task()))
    await wait_until(lambda: any((tmp_path / "run").iterdir()))
    await episode.close()
    with pytest.raises(EnvironmentFailed):
        await starting


async def test_cancelling_the_start_kills_the_worker(new: Opened, tmp_path: Path) -> None:
    episode = new()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await episode.reset(task())
    await episode.close()
    assert list((tmp_path / "run").iterdir()) == []


async def test_a_close_that_hangs_is_killed(new: Opened) -> None:
    episode = new(close_s=0.2)
    await episode.reset(task())
    for _ in range(99):
        await episode.step(say("go"))
    with pytest.raises(EnvironmentFailed, match=r"longer than 0\.2 s"):
        await episode.close()
    assert not psutil.pid_exists(pid_of(episode))


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("exit", "raised SystemExit: 3"),
        ("_exit", "exited with code 4; its last words:\ngoing down"),
        ("raise", "raised ValueError: no good (env.py:"),
        ("huge", "at most 67108864 are allowed"),
        ("nan", "raised ValidationError"),
        ("hangup", "the worker process"),
    ],
)
async def test_broken_code_is_a_typed_error(new: Opened, told: str, message: str) -> None:
    episode = new()
    await episode.reset(task())
    with pytest.raises(EnvironmentFailed) as caught:
        async with asyncio.timeout(30):
            await episode.step(say(told))
    assert message in caught.value.message


async def test_a_killed_worker_is_a_typed_error(new: Opened) -> None:
    episode = new()
    await episode.reset(task())
    running = asyncio.create_task(episode.step(say("hang")))
    await asyncio.sleep(0.05)
    os.kill(pid_of(episode), signal.SIGKILL)
    with pytest.raises(EnvironmentFailed, match="killed by SIGKILL"):
        await running


async def test_printing_a_lot_neither_blocks_nor_harms(new: Opened) -> None:
    episode = new()
    await episode.reset(task())
    async with asyncio.timeout(30):
        assert (await episode.step(say("print"))).observation.text == "step 1"


async def test_a_task_only_the_server_has_is_the_environments_failure(new: Opened) -> None:
    with pytest.raises(EnvironmentFailed, match="has no task 'train-77'"):
        await new().reset(task(77))


async def test_a_folder_that_cannot_be_imported_is_a_typed_error(new: Opened, tmp_path: Path) -> None:
    (tmp_path / "trouble" / "env.py").write_text("import nothing_of_that_name")
    with pytest.raises(EnvironmentFailed, match="nothing_of_that_name"):
        await new().reset(task())


async def test_a_step_deadline_of_the_server_kills_the_worker_and_gives_no_reward(new: Opened, tmp_path: Path) -> None:
    environments = [load(str(tmp_path / "trouble"))]
    async with open_server(environments, ServeOptions(environments=("trouble",))) as server:
        opened, _ = await server.registry.open(OpenRequest(driver="mcp", step_deadline_s=0.2))
        session, worker = server.registry.session(opened.session), int(opened.observation.text.split()[-1])
        agent = Agent(session)
        assert (await agent.act(say("go"))).reward == 0.5
        result = await agent.act(say("hang"))
        assert (result.end, result.truncated, result.reward) == ("step_deadline", True, None)
        await wait_until_gone(worker)
        assert session.status().reward is None


SERVER = """
import sys
from pathlib import Path
import uvloop
from envhub.sdk import Action, HostContext, Task
from envhub.server.process import ProcessEpisode

async def main(folder):
    context = HostContext(folder.parent / "cache", folder.parent / "run")
    episode = ProcessEpisode(folder, {"greeting": "hi"}, context)
    await episode.reset(Task(id="train-1"))
    print(episode._worker.pid, flush=True)
    await episode.step(Action(message=sys.argv[2]))

uvloop.run(main(Path(sys.argv[1])))
"""


async def test_a_worker_dies_with_its_server_and_so_does_what_it_started(new: Opened, tmp_path: Path) -> None:
    child = tmp_path / "child"
    arguments = ("-c", SERVER, str(tmp_path / "trouble"), f"child {child}")
    server = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    worker = int(await server.stdout.readline())
    await wait_until(lambda: child.exists() and child.read_text() != "")
    server.kill()
    await server.wait()
    await wait_until_gone(worker)
    await wait_until_gone(int(child.read_text()))
    shutil.rmtree(next((tmp_path / "run").iterdir()))  # the folder above it is the server's, which could not clean up
