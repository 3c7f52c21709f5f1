"""The suite: every check in its order, and the report they come to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import fmean

from envhub.sdk.errors import EnvhubError
from envhub.sdk.loader import LoadedEnvironment, load
from envhub.sdk.manifest import read_manifest
from envhub.validate import deadlines, junk, oracle, protocol, replays, schema, static
from envhub.validate.api import Api
from envhub.validate.bench import Bench
from envhub.validate.place import local_server, make_bench
from envhub.validate.report import Check, CheckFailed, NotChecked, Report, reason_of

CHECK_DEADLINE_S = 3600.0
CHECKS: dict[str, Callable[[Bench], Awaitable[None]]] = {
    "protocol.health": protocol.check_health,
    "protocol.access": protocol.check_access,
    "protocol.problems": protocol.check_problems,
    "protocol.malformed": protocol.check_malformed,
    "protocol.unknown": protocol.check_unknown,
    "protocol.limits": protocol.check_limits,
    "protocol.steps": protocol.check_steps,
    "protocol.end": protocol.check_end,
    "protocol.key": protocol.check_key,
    "protocol.trajectory": protocol.check_trajectory,
    "protocol.batch": protocol.check_batch,
    "protocol.websocket_frames": protocol.check_frames,
    "protocol.websocket_binary": protocol.check_binary,
    "protocol.websocket_size": protocol.check_size,
    "protocol.websocket_order": protocol.check_order,
    "protocol.websocket_resume": protocol.check_resume,
    "protocol.mcp_end": protocol.check_mcp_end,
    "protocol.mcp_token": protocol.check_mcp_token,
    "protocol.driver": protocol.check_driver,
    "static.tasks": static.check_tasks,
    "schema.tools": schema.check_tools,
    "schema.observation": schema.check_observation,
    "semantic.oracle": oracle.check_oracle,
    "semantic.near_miss": oracle.check_near_miss,
    "semantic.junk": junk.check_junk,
    "semantic.determinism": replays.check_determinism,
    "isolation.sessions": replays.check_sessions,
    "isolation.loop": deadlines.check_loop,
    "deadline.step": deadlines.check_step,
    "deadline.episode": deadlines.check_episode,
    "deadline.lease": deadlines.check_lease,
}
"""In the order they run; what the oracle did is replayed by those after it."""


class Suite:
    """Runs the checks of one target and writes their outcomes into a report."""

    def __init__(
        self,
        report: Report,
        sample: int | None,
        seed: int,
        progress: Callable[[str], None],
        on_check: Callable[[Check], None],
        only: Collection[str] = (),
    ) -> None:
        self.report = report
        self._checks = {name: work for name, work in CHECKS.items() if not only or _is_among(name, only)}
        self._sample, self._seed = sample, seed
        self._progress, self._on_check = progress, on_check

    async def check_folder(self, folder: Path) -> None:
        """The folder itself, then its environment on a server of its own."""
        try:
            manifest = read_manifest(folder)
        except EnvhubError as error:
            self._tell(Check("static.manifest", False, reason_of(error)))
            return
        self._tell(Check("static.manifest", True))
        self.report.title, self.report.status = manifest.display, manifest.oracle.status
        try:
            static.check_folder(folder, manifest)
            self._tell(Check("static.folder", True))
        except CheckFailed as error:
            self._tell(Check("static.folder", False, reason_of(error)))
        try:
            loaded = load(str(folder))
        except EnvhubError as error:
            self._tell(Check("static.import", False, reason_of(error)))
            return
        self._tell(Check("static.import", True))
        await self._check_served(folder, loaded)

    async def _check_served(self, folder: Path, loaded: LoadedEnvironment) -> None:
        """Its environment, on a server that ends with the check."""
        self._progress("starting a server")
        async with AsyncExitStack() as stack:
            try:
                api = await stack.enter_async_context(local_server(folder))
            except EnvhubError as error:
                self._tell(Check("server.start", False, reason_of(error)))
                return
            self._tell(Check("server.start", True))
            await self.check_server(api, loaded)

    async def check_server(self, api: Api, loaded: LoadedEnvironment | None) -> None:
        """Everything that a running server shows."""
        bench = await make_bench(api, self.report.target, loaded, self._sample, self._seed, self._progress)
        self.report.title, self.report.status = bench.environment.title or bench.name, bench.environment.status
        if not bench.tasks:
            self._tell(Check("static.tasks", False, "there are no tasks in any split"))
            return
        for name, work in self._checks.items():
            self._progress(name)
            await self._run(name, work, bench)
        self.report.tasks_checked = len(bench.tasks)
        self.report.oracle_mean = fmean(bench.oracle_rewards) if bench.oracle_rewards else None
        self.report.junk_max = max(bench.junk_rewards, default=None)

    async def _run(self, name: str, work: Callable[[Bench], Awaitable[None]], bench: Bench) -> None:
        """One check: the boundary at which whatever broke in it becomes the reason of its failure."""
        try:
            async with asyncio.timeout(CHECK_DEADLINE_S):
                await work(bench)
        except NotChecked as skipped:
            self.report.not_checked[name] = str(skipped)
        except Exception as error:
            self._tell(Check(name, False, reason_of(error)))
        else:
            self._tell(Check(name, True))

    def _tell(self, outcome: Check) -> None:
        self.report.checks[outcome.name] = outcome
        self._on_check(outcome)


def _is_among(name: str, chosen: Collection[str]) -> bool:
    return name in chosen or name.partition(".")[0] in chosen


__all__ = ["CHECKS", "Suite"]
