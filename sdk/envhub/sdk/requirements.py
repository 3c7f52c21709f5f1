"""Requirements: what an environment asks of the interpreter that hosts it, and whether that one has it.

Needs the extra `serve` (packaging), which is why the SDK does not import this module by itself.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from envhub.sdk.errors import ManifestError
from envhub.sdk.manifest import FILE_NAME, Manifest


@dataclass(frozen=True)
class Needs:
    """What an environment asks of the interpreter that hosts it."""

    folder: Path
    text: str
    """In the format of a requirements file; empty where nothing is needed."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The requirements without comments and blank lines."""
        stripped = (line.partition(" #")[0].strip() for line in self.text.splitlines())
        return tuple(line for line in stripped if line and not line.startswith("#"))


def needs_of(folder: Path, manifest: Manifest) -> Needs:
    """The requirements an environment's manifest and its requirements file name.

    Raises:
        ManifestError: no such file, or a file that includes others (they would change unnoticed).
    """
    parts = list(manifest.requirements)
    if manifest.requirements_file is not None:
        file = folder / manifest.requirements_file
        if not file.is_file():
            raise ManifestError(f"{folder / FILE_NAME}: there is no {manifest.requirements_file!r} beside it")
        parts.append(file.read_text(encoding="utf-8"))
    needs = Needs(folder, "\n".join(parts))
    including = [line for line in needs.lines if line.startswith(("-r", "-c", "-e", "--requirement", "--constraint"))]
    if including:
        raise ManifestError(f"{folder / FILE_NAME}: requirements must stand alone; write {including[0]!r} out")
    return needs


def is_satisfied(needs: Needs) -> bool:
    """True where this interpreter has every requirement in a fitting version, extras included."""
    return all(_is_installed(line) for line in needs.lines)


def _is_installed(line: str) -> bool:
    try:
        wanted = Requirement(line)
    except InvalidRequirement:  # an option or a path: uv has to look at it
        return False
    if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
        return True
    try:
        found = importlib.metadata.distribution(wanted.name)
    except importlib.metadata.PackageNotFoundError:
        return False
    fits = wanted.url is None and wanted.specifier.contains(found.version, prereleases=True)
    return fits and all(_is_installed(each) for each in _asked_by_extras(found, wanted.extras))


def _asked_by_extras(found: importlib.metadata.Distribution, extras: set[str]) -> Iterator[str]:
    for requirement in map(Requirement, found.requires or ()):
        marker, requirement.marker = requirement.marker, None
        if marker is None or marker.evaluate({"extra": ""}):
            continue
        if any(marker.evaluate({"extra": extra}) for extra in extras):
            yield str(requirement)


def own_requirements() -> tuple[str, ...]:
    """What envhub itself needs to serve, from its installed metadata."""
    own = []
    for requirement in map(Requirement, importlib.metadata.requires("envhub") or ()):
        marker, requirement.marker = requirement.marker, None
        if marker is None or marker.evaluate({"extra": "serve"}):
            own.append(str(requirement))
    return tuple(sorted(own))


__all__ = ["Needs", "is_satisfied", "needs_of", "own_requirements"]
