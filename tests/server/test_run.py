"""`serve` as a process: how it stops."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import httpx
import pytest

MANIFEST = """
name = "bystander"
summary = "Leaves a mark when it is closed."
isolation = "{isolation}"
licences = {{ wrapper = "Apache-2.0", data = "CC0-1.0" }}
"""
CODE = """
from contextlib import asynccontextmanager
from envhub.sdk import Environment, ListedTasks, Task

class Environment(Environment):
    @classmethod
    def tasks(cls):
        return ListedTasks([Task(id="one")])

    @classmethod
    @asynccontextmanager
    async def lifespan(cls, context):
        yield
        (cls.folder / "lifespan-ended").touch()

    def reset(self, task):
        return "hello"

    def close(self):
        (self.folder / "closed").touch()
"""
SERVE = """
import sys
from envhub.server.config import ServeOptions
from envhub.server.run import serve
options = ServeOptions(environments=(sys.argv[1],), port=0, token="t" * 16)
serve(options, lambda url, token: print(url, flush=True))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("isolation", ["inline", "process"])
async def test_a_signal_closes_sessions_and_leaves_nothing(
    tmp_path: Path, isolation: str, number: signal.Signals
) -> None:
    folder, home, temporary = tmp_path / "bystander", tmp_path / "home", tmp_path / "tmp"
    folder.mkdir()
    temporary.mkdir()
    (folder / "envhub.toml").write_text(MANIFEST.format(isolation=isolation))
    (folder / "env.py").write_text(CODE)
    surroundings = {**os.environ, "ENVHUB_HOME": str(home), "TMPDIR": str(temporary)}
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVE, str(folder), stdout=asyncio.subprocess.PIPE, env=surroundings
    )
    assert server.stdout is not None
    async with asyncio.timeout(60):
        url = (await server.stdout.readline()).decode().strip()
        async with httpx.AsyncClient(base_url=url, headers={"authorization": "Bearer " + "t" * 16}) as client:
            assert (await client.post("/v1/sessions", json={}, timeout=60)).status_code == 201
        server.send_signal(number)
        await server.wait()
    assert {file.name for file in folder.glob("*-ended")} | {file.name for file in folder.glob("closed")} == {
        "lifespan-ended",
        "closed",
    }
    assert list(temporary.iterdir()) == []
    assert list((home / "servers").iterdir()) == []
