"""The conformance suite and the checks by which an environment proves itself. `envhub validate` runs it.

A check either passes, fails with a reason, or does not apply to the target, which is said too.

    static.*      the manifest, the folder, the tasks
    protocol.*    docs/protocol.md, on any server
    schema.*      tools a model can be given; observations that give no answer away
    semantic.*    the oracle earns 1 on every task, near misses and junk exactly 0, replays are byte-identical
    isolation.*   sessions see nothing of each other; an inline environment does not hold up the server
    deadline.*    what happens when a step, an episode or a lease runs out

The oracle is `oracle.py` in the environment's folder (the manifest's `oracle.entry` names another one):

    async def solve(task: Task, agent: Agent) -> None

`task` has its private part. `agent.observation` is the latest observation, and `agent.done` says that the episode has
ended. `await agent.act("text")` sends a message, `await agent.call("tool", argument=…)` calls a tool; both return the
new observation. The handle holds nothing but the agent's token and acts over MCP, so an oracle can do no more than a
policy. It runs in the validator's process and imports only envhub.sdk.

A near miss is a function of the same shape, named by `oracle.near_miss`; where it does not end the episode, its actions
are replayed and cut by max_turns. Without one, the oracle's own actions but the last are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from envhub.sdk.loader import find_folder
from envhub.validate.place import at_url, is_url
from envhub.validate.report import Check, Report
from envhub.validate.suite import Suite


def _quiet(_: object) -> None:
    """What nobody listens to."""


async def validate(
    target: str,
    *,
    sample: int | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    on_check: Callable[[Check], None] | None = None,
    token: str | None = None,
    only: Collection[str] = (),
) -> Report:
    """Check an environment, or a server.

    Args:
        target: a bundled environment's name, a folder, or the URL of a running server (`URL#name` where it hosts
            several environments). For a name or folder a server is started that ends with the call.
        sample: how many tasks, chosen by `seed`; None: all of finite splits up to 200, and 50 of each infinite one.
        progress: told what is going on.
        on_check: told each outcome as it is known.
        only: names of checks, or of their groups ("semantic"); empty: all. Some replay what semantic.oracle did.
        token: server token for a URL; None: what a server of this user left for local clients.

    Raises:
        NotFound: no environment of that name.
        Unauthorized: a URL, and no token for it.
        ConnectionLost: nothing answers at the URL.
    """
    report = Report(target)
    suite = Suite(report, sample, seed, progress or _quiet, on_check or _quiet, only)
    started = time.monotonic()
    if is_url(target):
        async with at_url(target, token) as api:
            await suite.check_server(api, None)
    else:
        await suite.check_folder(find_folder(target))
    report.seconds = time.monotonic() - started
    return report


__all__ = ["Check", "Report", "validate"]
