"""static.*: what can be said of a folder, and of its tasks, without opening a session."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from envhub.sdk.loader import LoadedEnvironment
from envhub.sdk.manifest import Manifest
from envhub.sdk.messages import JsonObject
from envhub.sdk.task import Task
from envhub.validate.bench import Bench
from envhub.validate.report import CheckFailed

PAGE = 100


def check_folder(folder: Path, manifest: Manifest) -> None:
    """The manifest's claims fit the folder. That the manifest can be read at all was seen before."""
    if not (folder / "README.md").is_file():
        raise CheckFailed(
            f"no README.md in {folder}; say what the agent sees, what is rewarded, where the data is from"
        )
    claim = manifest.oracle
    if claim.status != "proven" and not claim.reason:
        raise CheckFailed(f"oracle.status is {claim.status!r} without oracle.reason")
    if manifest.isolation == "inline" and manifest.sandbox.network != "none":
        raise CheckFailed('isolation = "inline" runs in the server, whose network no sandbox policy limits')


async def check_tasks(bench: Bench) -> None:
    """Ids are stable and unique, the server lists what the folder has, and no task is in two splits."""
    seen: dict[str, tuple[str, str]] = {}
    for split in bench.environment.splits:
        page = await bench.api.tasks(bench.name, split, 0, PAGE)
        again = await bench.api.tasks(bench.name, split, 0, PAGE)
        if page != again:
            raise CheckFailed(f"split {split!r} was listed differently the second time")
        for task in page.tasks:
            if task.split != split:
                raise CheckFailed(f"{task.id} of split {split!r} says that its split is {task.split!r}")
            whole = task if bench.loaded is None else _own(bench.loaded, task)
            other = seen.setdefault(_content(whole), (split, task.id))
            if other[0] != split:
                raise CheckFailed(f"{task.id} ({split}) and {other[1]} ({other[0]}) are the same task")


def _own(loaded: LoadedEnvironment, listed: Task) -> Task:
    """The folder's task of that id, which must be the one that the server listed."""
    own = loaded.cls.tasks().get(listed.id)
    if own.model_dump() != listed.model_dump():
        raise CheckFailed(f"{listed.id}: the server lists another public part than the folder makes")
    return own


def _content(task: Task) -> str:
    content: JsonObject = {**task.model_dump(mode="json", exclude={"id", "split"}), "private": task.private}
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


__all__ = ["check_folder", "check_tasks"]
