"""Reading an environment's folder, for `envhub list`, `envhub info` and `envhub tasks`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from envhub.cli.interpreter import enter, run_again
from envhub.cli.output import quiet_stdout
from envhub.sdk.errors import EnvhubError, NotFound
from envhub.sdk.loader import find_folder, load
from envhub.sdk.manifest import Manifest, read_manifest


def summary(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """What a list shows of an environment."""
    return {
        "name": manifest.name,
        "title": manifest.display,
        "version": manifest.version,
        "summary": manifest.summary,
        "status": manifest.oracle.status,
        "reason": manifest.oracle.reason,
        "isolation": manifest.isolation,
        "capabilities": list(manifest.capabilities),
        "tags": list(manifest.tags),
        "folder": str(folder),
    }


def describe_folder(target: str, no_virtualenv: bool) -> dict[str, Any]:
    """What the manifest says, and what the code says where it can be imported without building anything.

    Raises:
        NotFound, ManifestError: as `find_folder` and `read_manifest`.
    """
    folder = find_folder(target)
    manifest = read_manifest(folder)
    if not no_virtualenv:
        from envhub.sdk.virtualenv import find_python

        if (ready := find_python(folder, manifest)) is not None:
            run_again(ready)
    stated = {
        "max_turns": manifest.max_turns,
        "licences": manifest.licences.model_dump(),
        "requirements": list(manifest.requirements),
        "requirements_file": manifest.requirements_file,
        "config": manifest.config,
    }
    return summary(folder, manifest) | stated | _describe_code(folder, manifest)


def _describe_code(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """Tasks and tools; the boundary at which others' code may fail without hiding its manifest."""
    try:
        with quiet_stdout():
            cls = load(str(folder)).cls
            sizes = dict(cls.tasks().splits())
    except Exception as error:
        reason = error.message if isinstance(error, EnvhubError) else repr(error)
        return {"splits": None, "tools": None, "note": f"tasks and tools are not shown: {reason}"}
    return {
        "splits": {name: {"tasks": size, "about": manifest.splits.get(name, "")} for name, size in sizes.items()},
        "tools": [{"name": tool.name, "description": tool.description} for tool in cls.tools.values()],
        "accepts_messages": cls.accepts_messages(),
        "note": None,
    }


def page_of_folder(target: str, split: str | None, offset: int, limit: int, no_virtualenv: bool) -> dict[str, Any]:
    """A page of tasks, as GET /v1/tasks gives it.

    Raises:
        NotFound: no such environment or split.
        EnvhubError: as `load`, and as `envhub.sdk.virtualenv.python_for`.
    """
    folder = find_folder(target)
    manifest = read_manifest(folder)
    if not no_virtualenv:
        enter([(folder, manifest)])
    with quiet_stdout():
        source = load(str(folder)).cls.tasks()
        sizes = dict(source.splits())
        chosen = split or next(iter(sizes), "train")
        if chosen not in sizes:
            raise NotFound(f"{manifest.name} has no split {chosen!r}; it has {', '.join(sizes) or 'no tasks at all'}")
        page = source.page(chosen, offset, limit)
    after, size = offset + len(page), sizes[chosen]
    return {
        "environment": manifest.name,
        "splits": sizes,
        "tasks": [task.model_dump(mode="json") for task in page],
        "next_offset": after if page and (size is None or after < size) else None,
    }


__all__ = ["describe_folder", "page_of_folder", "summary"]
