"""Says the wrong word."""

from __future__ import annotations

from typing import Any


async def solve(task: Any, agent: Any) -> None:
    word = agent.observation.text.removeprefix("The word is ").rstrip(".")
    await agent.call("say", word=word.upper())
    await agent.call("done")
