"""The worker process of one session: `python -m envhub.server.worker FD PARENT`, started by envhub.server.process.

It speaks over the socket FD only; what environment code prints goes elsewhere. It loads the environment's folder and
its tasks itself, so that no answer of a task ever travels. It ends with its server, whatever its code is doing.

    ->  start {folder, config, cache_dir, run_dir}    <-  ok | error problem
    ->  reset {task, seed}                            <-  ok observation | error problem
    ->  step action                                   <-  ok step result | error problem
    ->  grade                                         <-  ok score or null | error problem
    ->  close                                         <-  ok | error problem, and the process ends
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from envhub.sdk.environment import Environment, HostContext
from envhub.sdk.errors import EnvironmentFailed, NotFound
from envhub.sdk.loader import load
from envhub.sdk.messages import Action
from envhub.sdk.rubric import Score
from envhub.sdk.task import Task, TaskSource
from envhub.server.channel import Channel, ChannelClosed
from envhub.server.episode import Episode, InlineEpisode, failed

REQUEST_LIMIT_BYTES = 64 * 2**20
_SCORE: TypeAdapter[Score | None] = TypeAdapter(Score | None)
_PR_SET_PDEATHSIG = 1


async def main(end: socket.socket) -> None:
    """Serve one session on a socket until it is closed or the server is gone."""
    channel = await Channel.open(end, REQUEST_LIMIT_BYTES)
    requests = Requests(channel)
    try:
        await _serve(requests, json.loads((await requests.next("start"))[1]))
    except ChannelClosed:
        os.killpg(0, signal.SIGKILL)
    except Exception as error:  # the one boundary at which all that environment code raises becomes a reply
        requests.fail(error)
    else:
        channel.send("ok")
    channel.close()
    await asyncio.sleep(0)


class Requests:
    """The requests of the server, one at a time, and their replies."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.reply = channel.send

    async def next(self, *expected: str) -> tuple[str, bytes]:
        """The next request's word and body."""
        word, body = await self._channel.receive()
        if word not in expected:
            raise EnvironmentFailed(f"the worker was asked to {word!r} where one of {expected} was expected")
        return word, body

    def fail(self, error: Exception) -> None:
        """Answer with an error."""
        self._channel.send("error", json.dumps(failed(error).to_problem()).encode())


async def _serve(requests: Requests, start: dict[str, Any]) -> None:
    loaded = load(start["folder"])
    config = start["config"]
    context = HostContext(Path(start["cache_dir"]), Path(start["run_dir"]), config, _to_stderr)
    async with loaded.cls.lifespan(context) as shared:
        requests.reply("ok")
        await _drive(requests, loaded.cls, InlineEpisode(loaded.cls, shared, config))


async def _drive(requests: Requests, cls: type[Environment], episode: Episode) -> None:
    """Answer requests until close; its own reply is left to the caller, after the lifespan's end."""
    tasks = cls.tasks()
    while True:
        word, body = await requests.next("reset", "step", "grade", "close")
        if word == "close":
            return await episode.close()
        try:
            requests.reply("ok", await _answer(episode, tasks, word, body))
        except Exception as error:  # part of the same boundary: the session may still be closed in order
            requests.fail(error)


async def _answer(episode: Episode, tasks: TaskSource, word: str, body: bytes) -> bytes:
    if word == "step":
        return (await episode.step(Action.model_validate_json(body))).model_dump_json().encode()
    if word == "grade":
        return _SCORE.dump_json(await episode.grade())
    wanted = json.loads(body)
    return (await episode.reset(_find(tasks, wanted["task"], wanted["seed"]))).model_dump_json().encode()


def _find(tasks: TaskSource, task_id: str, seed: int) -> Task:
    try:
        return tasks.get(task_id).model_copy(update={"seed": seed})
    except NotFound as error:
        raise EnvironmentFailed(
            f"the worker has no task {task_id!r} though the server has; tasks() must give the same in every process"
        ) from error


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _end_with(parent: int) -> None:
    """Have the kernel kill this process when its server dies, also in the middle of code that never awaits."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the server is gone")


def _start() -> None:
    descriptor, parent = map(int, sys.argv[1:3])
    _end_with(parent)
    os.set_inheritable(descriptor, False)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(socket.socket(fileno=descriptor)))


if __name__ == "__main__":
    _start()
