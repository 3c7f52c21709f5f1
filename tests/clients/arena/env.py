"""An environment that does what it is told."""

import asyncio
from typing import Literal

from envhub.sdk import Environment as Base
from envhub.sdk import Observation, SeededTasks, Task, TaskSource, prompt_of, tool


def _make(split: str, index: int) -> Task:
    return Task(
        id=SeededTasks.task_id(split, index), prompt=prompt_of(f"play {index}"), split=split, metadata={"n": index}
    )


class Environment(Base):
    """Counts what was added; ends with the sum as its reward."""

    @classmethod
    def tasks(cls) -> TaskSource:
        return SeededTasks(_make, {"train": 250, "test": 3})

    def reset(self, task: Task) -> Observation:
        if task.id == "test-2":
            raise RuntimeError("this task cannot be opened")
        self.total = 0.0
        self.runs = 0
        return Observation.of(f"seed {task.seed}")

    def message(self, text: str) -> str:
        self.runs += 1
        if text == "end":
            self.add_reward("said", 1.0)
            self.finish()
        return f"{self.runs}: {text}"

    @tool
    def add(self, value: float, times: int = 1) -> str:
        """Add a value to the total."""
        self.total += value * times
        return f"{self.total:g}"

    @tool
    async def wait(self, seconds: float) -> str:
        """Take so long."""
        self.runs += 1
        await asyncio.sleep(seconds)
        return f"run {self.runs}"

    @tool
    def paint(self, colour: Literal["red", "blue"], spots: list[int]) -> str:
        """Paint."""
        return f"{colour} {len(spots)}"

    @tool
    def fail(self) -> str:
        """Break the environment."""
        raise RuntimeError("broken on purpose")

    @tool(terminal=True)
    def finish_now(self) -> str:
        """End with the total as the reward."""
        self.add_reward("total", self.total)
        return "done"
