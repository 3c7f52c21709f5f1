"""Reads the word from the observation."""

from __future__ import annotations

from typing import Any


async def solve(task: Any, agent: Any) -> None:
    word = agent.observation.text.removeprefix("The word is ").rstrip(".")
    await agent.call("say", word=word)
    await agent.call("done")
