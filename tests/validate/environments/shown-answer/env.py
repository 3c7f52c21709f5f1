"""Shows the private part."""

from __future__ import annotations

from envhub.sdk import Criterion, Environment, Rubric, SeededTasks, Task, TaskSource, tool
from envhub.sdk.task import prompt_of

WORDS = ("plum", "cherry", "quince", "medlar", "damson", "loquat", "mulberry", "persimmon")


class Say(Environment):
    """One word to say."""

    rubric = Rubric(Criterion("said", lambda episode: float(episode.said and episode.is_done)))

    @classmethod
    def tasks(cls) -> TaskSource:
        return SeededTasks(make_task, {"train": 5, "test": 3})

    def reset(self, task: Task) -> str:
        self.said = False
        self.is_done = False
        return f"The word is {task.private['word']}."

    @tool
    def say(self, word: str) -> str:
        """Say a word."""
        self.said = word == self.task.private["word"]
        return f"You said {word}."

    @tool(terminal=True)
    def done(self) -> str:
        """End the episode."""
        self.is_done = True
        return "Done."


def make_task(split: str, index: int) -> Task:
    word = WORDS[index + (5 if split == "test" else 0)]
    prompt = prompt_of("Say the word, then call done.")
    return Task(id=f"{split}-{index}", prompt=prompt, split=split, private={"word": f"secret-{word}"})
