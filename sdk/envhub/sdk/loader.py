"""The loader: from a name or a path to an environment class, mounted privately.

A folder is imported as a package whose name is made from its resolved path, so that two environments called `sql`,
or two folders with a `reward.py`, never meet. Inside, `from .reward import …` works; there is no __init__.py to write.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from envhub.sdk.environment import Environment
from envhub.sdk.errors import EnvironmentFailed, ManifestError, NotFound
from envhub.sdk.manifest import FILE_NAME, Manifest, read_manifest
from envhub.sdk.origin import MOUNTED, told


@dataclass(frozen=True)
class LoadedEnvironment:
    """An environment ready to be hosted."""

    folder: Path
    manifest: Manifest
    cls: type[Environment]

    def attribute(self, entry: str) -> Any:
        """What `module:name` means in this folder.

        Raises:
            ManifestError: no such module or name.
            EnvironmentFailed: the module raised while it was imported.
        """
        return _attribute(self.folder, entry)


def bundled_folder() -> Path:
    """Where the environments that come with envhub lie: beside the package in a wheel, at the root in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "environments"
    return installed if installed.is_dir() else package.parent.parent / "environments"


def list_bundled() -> list[tuple[Path, Manifest]]:
    """Every bundled environment's folder and manifest, by name."""
    files = sorted(bundled_folder().glob(f"*/{FILE_NAME}"))
    return [(file.parent, read_manifest(file.parent)) for file in files]


def find_folder(name_or_path: str) -> Path:
    """The folder of a bundled environment's name, or of a path.

    A bare name is a bundled environment's before it is a folder's here: what `serve webarena` hosts must not depend
    on where it is typed. `./webarena` is the folder.

    Raises:
        NotFound: no bundled environment of that name; near names are given.
        ManifestError: a path without an environment.
    """
    path = Path(name_or_path).expanduser()
    is_path = len(path.parts) > 1 or name_or_path.startswith((".", "~")) or path.is_absolute()
    bundled = bundled_folder() / name_or_path
    if not is_path and (bundled / FILE_NAME).is_file():
        return bundled.resolve()
    if path.is_dir() and (path / FILE_NAME).is_file():
        return path.resolve()
    if is_path:
        read_manifest(path)  # raises, and says what is missing
    raise NotFound(_unknown(name_or_path))


def _unknown(name: str) -> str:
    known = sorted(file.parent.name for file in bundled_folder().glob(f"*/{FILE_NAME}"))
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known) or 'none'}."
    return f"no environment {name!r} among the bundled ones, nor a folder of that name; {hint} `envhub list` shows all"


def load(name_or_path: str) -> LoadedEnvironment:
    """Find, read and import an environment.

    Raises:
        NotFound, ManifestError: as `find_folder` and `read_manifest`.
        EnvironmentFailed: its code raised while it was imported (a missing requirement is named).
    """
    folder = find_folder(name_or_path)
    manifest = read_manifest(folder)
    cls = _attribute(folder, manifest.entry)
    if not (isinstance(cls, type) and issubclass(cls, Environment)):
        raise ManifestError(f"{folder / FILE_NAME}: entry {manifest.entry!r} is not a subclass of Environment")
    cls.manifest, cls.folder = manifest, folder
    return LoadedEnvironment(folder, manifest, cls)


def _attribute(folder: Path, entry: str) -> Any:
    module_name, _, name = entry.partition(":")
    file = folder.joinpath(*module_name.split("."))
    if not name or not (file.with_suffix(".py").is_file() or file.is_dir()):
        raise ManifestError(f"{folder / FILE_NAME}: {entry!r} is not module:name of a file in the folder")
    module = _import(folder, module_name)
    try:
        return getattr(module, name)
    except AttributeError:
        raise ManifestError(f"{folder / FILE_NAME}: {module_name}.py has no {name!r}") from None


def _import(folder: Path, module_name: str) -> ModuleType:
    """Import a module of the folder; the boundary at which others' import errors become ours."""
    package = mount(folder)
    try:
        return importlib.import_module(f"{package}.{module_name}")
    except ModuleNotFoundError as error:
        missing = str(error.name)
        if missing.startswith(package):
            raise EnvironmentFailed(f"no module {missing.removeprefix(package)!r} in {folder}") from error
        hint = f"add what provides it to `requirements` in {FILE_NAME}"
        raise EnvironmentFailed(f"{folder.name} needs the Python module {missing!r}; {hint}") from error
    except Exception as error:
        raise EnvironmentFailed(f"{folder.name}: importing {module_name}.py raised {told(error)}") from error


def mount(folder: Path) -> str:
    """Make a folder importable under a private package name, and return that name."""
    resolved = folder.resolve()
    name = f"{MOUNTED}{hashlib.sha256(str(resolved).encode()).hexdigest()[:16]}"
    if name not in sys.modules:
        package = ModuleType(name, f"The environment in {resolved.name}.")
        package.__path__ = [str(resolved)]
        sys.modules[name] = package
    return name


__all__ = ["LoadedEnvironment", "bundled_folder", "find_folder", "list_bundled", "load", "mount"]
