"""Echo: an environment that does nothing, so that what is measured is the server."""

from __future__ import annotations

from envhub.sdk import Action, Environment, ListedTasks, Observation, StepResult, Task, TaskSource, prompt_of, tool


class Echo(Environment):
    """Repeats messages; its tool repeats its argument."""

    @classmethod
    def tasks(cls) -> TaskSource:
        return ListedTasks([Task(id="echo", prompt=prompt_of("Say something."))])

    def reset(self, task: Task) -> Observation:
        return Observation.of("ready")

    async def step(self, action: Action) -> StepResult:
        if action.message is None:
            return await super().step(action)
        return StepResult.of(action.message, reward=0.0)

    @tool
    async def echo(self, text: str) -> str:
        """Repeat a text."""
        return text
