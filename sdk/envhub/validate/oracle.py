"""The oracle and the near miss: one must earn 1 on every task through the agent's token, the other exactly 0."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from envhub.sdk.messages import Action, JsonObject
from envhub.sdk.task import Task
from envhub.validate.agent import Agent, connect_mcp
from envhub.validate.bench import Bench
from envhub.validate.episodes import END_WAIT_S, Recording, graded, replay
from envhub.validate.report import CheckFailed, NotChecked

Solve = Callable[[Task, Agent], Awaitable[None]]
TOLERANCE = 1e-9


async def check_oracle(bench: Bench) -> None:
    """The oracle earns 1 on every task; what it did is kept for the checks that follow."""
    solve = _solve_of(bench)

    async def one(task: Task) -> None:
        recording = await _run(bench, task, solve)
        reward = graded(recording)
        bench.oracle_rewards.append(reward)
        if abs(reward - 1) > TOLERANCE:
            raise CheckFailed(f"the oracle earned {reward:g} in {len(recording.actions)} actions, not 1")
        bench.recordings[task.id] = recording

    await bench.each(bench.tasks, one, "semantic.oracle")


async def check_near_miss(bench: Bench) -> None:
    """The near miss of the manifest, else the oracle without its last action, earns 0."""
    code = bench.code()
    entry = code.manifest.oracle.near_miss
    nearly: Solve | None = code.attribute(entry) if entry else None
    tasks = [task for task in bench.tasks if nearly is not None or task.id in bench.recordings]
    if not tasks:
        raise NotChecked("no task was solved by an oracle, so there is nothing to leave a step out of")

    async def one(task: Task) -> None:
        if nearly is None:
            recording = await _cut(bench, task, bench.recordings[task.id].actions[:-1])
        else:
            recording = await _missed(bench, task, nearly)
        reward = graded(recording)
        bench.junk_rewards.append(reward)
        if reward != 0:
            raise CheckFailed(f"a near miss earned {reward:g}, not 0")

    await bench.each(tasks, one, "semantic.near_miss")


async def _missed(bench: Bench, task: Task, nearly: Solve) -> Recording:
    """The environment's own near miss; where it leaves the episode open, the same actions cut by max_turns."""
    recording = await _run(bench, task, nearly)
    return recording if recording.end is not None else await _cut(bench, task, recording.actions)


async def _cut(bench: Bench, task: Task, actions: tuple[Action, ...]) -> Recording:
    """Exactly these actions, after which the episode is cut and graded; no action at all is an empty message."""
    chosen = actions or (Action(message=""),)
    return await replay(bench.api, bench.name, task, chosen, max_turns=len(chosen))


async def _run(bench: Bench, task: Task, solve: Solve) -> Recording:
    """One episode driven by `solve` over MCP; reward and end come from the control side."""
    request: JsonObject = {"environment": bench.name, "task": task.id, "seed": task.seed, "driver": "mcp"}
    async with bench.api.session(**request) as opened:

        async def has_ended() -> bool:
            return (await bench.api.status(opened)).state == "ended"

        async with connect_mcp(bench.api.url, opened) as client:
            agent = Agent(client, opened.observation, has_ended)
            await solve(task, agent)
        status = await bench.api.status(opened, END_WAIT_S if agent.done else 0.0)
        if status.end is not None:
            graded(status)  # a failure is told with its detail, which a recording does not keep
    return Recording(tuple(agent.actions), (), tuple(agent.texts), status.reward, status.end)


def _solve_of(bench: Bench) -> Solve:
    """The oracle's function.

    Raises:
        CheckFailed: there is none, and the manifest does not say why.
        NotChecked: there is none, and the manifest says why.
    """
    code = bench.code()
    claim = code.manifest.oracle
    module = claim.entry.partition(":")[0].replace(".", "/")
    if not code.folder.joinpath(f"{module}.py").is_file():
        if claim.status == "proven" or not claim.reason:
            raise CheckFailed(f"no {claim.entry!r} in {code.folder}; write it, or set oracle.status and oracle.reason")
        raise NotChecked(f"{claim.status}: {claim.reason}")
    solve: Solve = code.attribute(claim.entry)
    return solve


__all__ = ["check_near_miss", "check_oracle"]
