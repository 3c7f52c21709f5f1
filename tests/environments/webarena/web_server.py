"""webarena with tasks of its own for tests, served in this process on a real port, with a real browser."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import uvicorn

from envhub.clients import Client, Session, connect
from envhub.sdk import load
from envhub.server.app import Server, open_server
from envhub.server.config import ServeOptions

FOLDER = Path(__file__).resolve().parents[3] / "environments" / "webarena"
TOKEN = "the-token-of-webarena-tests"

LOGGED_IN = {"login": {"shop": "ada", "forum": "ada"}, "require_login": True}
BASKET = {
    "eval_types": ["url_match", "program_html", "unchanged"],
    "reference_url": "__SHOP__/basket/",
    "url_note": "EXACT",
    "program_html": [
        {"url": "last", "locator": "document.querySelector('h1').innerText",
         "required_contents": {"must_include": ["basket |OR| cart"]}}
    ],
    "unchanged": {"allowed": {"basket_basket": [1, 0]}},
}  # fmt: skip
TASKS: list[dict[str, Any]] = [
    {"eval": {"eval_types": ["string_match", "unchanged"], "reference_answers": {"must_include": ["42"]},
              "unchanged": {}}},
    {"eval": BASKET, **LOGGED_IN},
    {"eval": {"eval_types": ["db"], "db": [{"sql": "select from nowhere", "equals": []}]}},
    {"eval": {"eval_types": ["program_html"], "program_html": [
        {"url": "last", "locator": ")(", "required_contents": {"must_include": ["x"]}}]}},
    {"eval": {"eval_types": ["string_match"], "reference_answers": {"exact_match": "N/A"}},
     "start_url": "__FORUM__/", "require_login": True, "start_time": "2025-07-04T20:30:00Z"},
]  # fmt: skip


def make_folder(parent: Path) -> Path:
    """The environment's folder, but for its tasks: webarena-0 and so on are those above."""
    folder = parent / "webarena"
    (folder / "tasks").mkdir(parents=True)
    for entry in FOLDER.iterdir():
        if entry.name not in ("tasks", "__pycache__"):
            (folder / entry.name).symlink_to(entry)
    common = {"sites": ["shop"], "start_url": "__SHOP__/", "intent_template": "", "intent": "Do it.", "split": "train"}
    lines = [{**common, "task_id": n, "intent_template_id": n, **task} for n, task in enumerate(TASKS)]
    (folder / "tasks" / "tests.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


class Web:
    """A running server, seen from both sides."""

    def __init__(self, server: Server, client: Client) -> None:
        self.server, self.client = server, client

    @property
    def suite(self) -> Any:
        """Sites and browsers that run now."""
        return self.server.registry.hosted["webarena"].shared._suite

    def visit(self, session: Session) -> Any:
        """What a session's environment holds."""
        return self.server.registry.sessions[session.id]._episode._environment._visit

    def page(self, session: Session) -> Any:
        """The page a session is on, as Playwright's."""
        return self.visit(session).browser._tabs.current.page

    def session_folders(self) -> list[str]:
        """Sessions of the sites that are in use, on disk."""
        folder: Path = self.suite.host._sessions_dir
        return [entry.name for entry in folder.iterdir() if entry.name not in self.suite._open]


@asynccontextmanager
async def serving(folder: Path, **options: Any) -> AsyncIterator[Web]:
    """The folder on a free port, and a client."""
    chosen = ServeOptions(environments=(str(folder),), token=TOKEN, **options)
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        server = await stack.enter_async_context(open_server([load(str(folder))], chosen))
        runner = uvicorn.Server(
            uvicorn.Config(server, lifespan="off", log_config=None, ws_max_size=2**24, timeout_graceful_shutdown=1)
        )
        work = asyncio.create_task(runner.serve(sockets=[listener]))
        while not runner.started:
            await asyncio.sleep(0.005)
        try:
            async with connect(f"http://127.0.0.1:{listener.getsockname()[1]}", TOKEN) as client:
                yield Web(server, client)
        finally:
            runner.should_exit = True
            await work


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something is so; what takes longer than this has failed."""
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.05)


def browsers_of(process: psutil.Process) -> list[psutil.Process]:
    """The main processes of the browsers that a process started, itself or its driver."""
    found = [(p, p.cmdline()) for p in process.children(recursive=True) if p.is_running()]
    return [p for p, line in found if "--remote-debugging-pipe" in line and "--type=" not in " ".join(line)]
