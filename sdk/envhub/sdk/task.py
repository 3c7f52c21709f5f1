"""Tasks and where they come from: JSONL files, seeded generators (infinite allowed), or both, with splits."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from pydantic import Field, ValidationError

from envhub.sdk.errors import ManifestError, NotFound
from envhub.sdk.messages import JsonObject, Message, WireModel


class Task(WireModel):
    """One problem. Answers and checks go to `private`, which never serialises."""

    id: str
    """Stable name, unique in the environment."""
    prompt: tuple[Message, ...] = ()
    """What the policy is told first."""
    split: str = "train"
    seed: int = 0
    """Seed of everything random in the episode; the caller's seed replaces it at open."""
    metadata: JsonObject = Field(default_factory=dict)
    """Public facts: level, site, template."""
    private: JsonObject = Field(default_factory=dict, exclude=True, repr=False)
    """Answers and checks. Stays in the server process: excluded from every dump and from repr."""

    @property
    def digest(self) -> str:
        """`sha256:<hex>` of the content, private part and all but the id: changes whenever the task does."""
        content = {**self.model_dump(mode="json", exclude={"id"}), "private": self.private}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=str)
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


class TaskSource(Protocol):
    """Where tasks come from."""

    def splits(self) -> Mapping[str, int | None]:
        """Split name -> number of tasks; None where the split is infinite."""
        ...

    def get(self, task_id: str) -> Task:
        """The task of that id.

        Raises:
            NotFound: no such task.
        """
        ...

    def page(self, split: str, offset: int, limit: int) -> list[Task]:
        """At most `limit` tasks of a split from `offset` on, in a stable order."""
        ...


class ListedTasks:
    """A finite list of tasks in memory."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._by_id: dict[str, Task] = {}
        self._by_split: dict[str, list[Task]] = {}
        for task in tasks:
            if task.id in self._by_id:
                raise ManifestError(f"two tasks have the id {task.id!r}; ids must be unique")
            self._by_id[task.id] = task
            self._by_split.setdefault(task.split, []).append(task)

    def splits(self) -> Mapping[str, int | None]:
        return {split: len(tasks) for split, tasks in self._by_split.items()}

    def get(self, task_id: str) -> Task:
        try:
            return self._by_id[task_id]
        except KeyError:
            raise NotFound(f"no task {task_id!r}; `GET /v1/tasks` lists the {len(self._by_id)} there are") from None

    def page(self, split: str, offset: int, limit: int) -> list[Task]:
        return self._by_split.get(split, [])[offset : offset + limit]


def read_tasks(path: Path) -> ListedTasks:
    """Tasks of a JSONL file, or of every *.jsonl in a folder (in name order); blank lines are skipped.

    Raises:
        ManifestError: no such file or folder, or a line that is no task; says which.
    """
    if not path.exists():
        raise ManifestError(f"no tasks at {path}; put *.jsonl files there, one task a line, or override `tasks`")
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    return ListedTasks(task for file in files for task in _read_file(file))


def _read_file(file: Path) -> Iterable[Task]:
    # Lines end in \n alone: str.splitlines would also cut at U+2028 and its like, which JSON strings may hold.
    for number, line in enumerate(file.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            yield Task.model_validate_json(line)
        except ValidationError as error:
            raise ManifestError(f"{file}:{number}: not a task: {error.errors()[0]['msg']}") from error


_INDEX_DIGITS = 18
"""No task has a longer number; Python refuses to read one of thousands of digits."""


class SeededTasks:
    """Tasks made on demand from an index: the same split and index give the same task for ever.

    Args:
        make: (split, index) -> Task; it must set the id to `task_id(split, index)`.
        sizes: split -> number of tasks, None for infinite.
    """

    def __init__(self, make: Callable[[str, int], Task], sizes: Mapping[str, int | None]) -> None:
        self._make = make
        self._sizes = dict(sizes)

    @staticmethod
    def task_id(split: str, index: int) -> str:
        """The id of a split's task number `index`."""
        return f"{split}-{index}"

    def splits(self) -> Mapping[str, int | None]:
        return dict(self._sizes)

    def get(self, task_id: str) -> Task:
        split, _, number = task_id.rpartition("-")
        is_number = number.isascii() and number.isdigit() and len(number) <= _INDEX_DIGITS
        if split in self._sizes and is_number and str(int(number)) == number:
            size = self._sizes[split]
            if size is None or int(number) < size:
                return self._make(split, int(number))
        known = ", ".join(f"{split}-0…" for split in self._sizes)
        raise NotFound(f"no task {task_id!r}; this environment makes {known}")

    def page(self, split: str, offset: int, limit: int) -> list[Task]:
        if split not in self._sizes:
            return []
        size = self._sizes[split]
        stop = offset + limit if size is None else min(offset + limit, size)
        return [self._make(split, index) for index in range(offset, stop)]


class JoinedTasks:
    """Several sources as one; a split of the same name is read from the first, then the next."""

    def __init__(self, sources: Sequence[TaskSource]) -> None:
        self._sources = tuple(sources)

    def splits(self) -> Mapping[str, int | None]:
        total: dict[str, int | None] = {}
        for source in self._sources:
            for split, size in source.splits().items():
                before = total.get(split, 0)
                total[split] = None if before is None or size is None else before + size
        return total

    def get(self, task_id: str) -> Task:
        for source in self._sources:
            try:
                return source.get(task_id)
            except NotFound:
                continue
        raise NotFound(f"no task {task_id!r} in any of {len(self._sources)} sources")

    def page(self, split: str, offset: int, limit: int) -> list[Task]:
        found: list[Task] = []
        for source in self._sources:
            found += source.page(split, offset, limit - len(found))
            size = source.splits().get(split, 0)
            if size is None or len(found) >= limit:
                break
            offset = max(0, offset - size)
        return found


def choose_task(source: TaskSource, split: str | None, seed: int) -> Task:
    """A task of the split (default: "train", else the first there is), the same for the same seed.

    Raises:
        NotFound: no such split, or it is empty.
    """
    sizes = source.splits()
    chosen = split or ("train" if "train" in sizes else next(iter(sizes), "train"))
    size = sizes.get(chosen, 0)
    if size == 0:
        raise NotFound(f"no tasks in split {chosen!r}; there are {', '.join(sizes) or 'none'}")
    index = random.Random(seed).randrange(2**31 if size is None else size)
    return source.page(chosen, index, 1)[0]


def prompt_of(text: str) -> tuple[Message, ...]:
    """A prompt of one user message."""
    return (Message(role="user", content=text),)


def private_of(task: Task, key: str) -> Any:
    """A required entry of the private part.

    Raises:
        ManifestError: the task has none.
    """
    if key not in task.private:
        raise ManifestError(f"task {task.id!r} has no private {key!r}")
    return task.private[key]


__all__ = [
    "JoinedTasks",
    "ListedTasks",
    "SeededTasks",
    "Task",
    "TaskSource",
    "choose_task",
    "private_of",
    "prompt_of",
    "read_tasks",
]
