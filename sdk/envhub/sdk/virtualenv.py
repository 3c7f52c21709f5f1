"""Virtual environments for environments' requirements, made by uv and shared by digest.

An environment's requirements are resolved together with envhub's own, so that the host and the environment fit into one
process. A resolution is remembered by the digest of its inputs, a virtual environment by the digest of what was
resolved: a second start runs no uv at all, and two environments that come to the same packages share one.
envhub itself is not installed there. Links to the folders it is imported from stand on a path file, which Python reads
after the packages of the virtual environment, and show it envhub and nothing else of the interpreter they point to.
Needs the extra `serve` (uv, filelock, packaging), which is why the SDK does not import this module by itself.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uv
from filelock import BaseFileLock, FileLock, Timeout

from envhub.sdk.errors import ManifestError, ServerError
from envhub.sdk.manifest import FILE_NAME, Manifest
from envhub.sdk.paths import cache_dir
from envhub.sdk.requirements import Needs, is_satisfied, needs_of, own_requirements

Progress = Callable[[str], None]

BUILD_DEADLINE_S = 1800.0
"""How long one run of uv, or waiting for another process's build, may take."""
_LINKS = "envhub-portions"
_PATH_FILE = "envhub-portions.pth"


def python_for(folder: Path, manifest: Manifest, progress: Progress) -> Path:
    """The interpreter to host an environment with: this one where it has all that is needed, else a virtual
    environment's, which is made first where there is none yet.

    Raises:
        ManifestError: the requirements cannot be resolved; uv's own words are given.
        ServerError: uv failed, or took longer than `BUILD_DEADLINE_S`.
    """
    needs = needs_of(folder, manifest)
    return Path(sys.executable) if is_satisfied(needs) else _python_with(needs, progress)


def python_for_all(environments: Sequence[tuple[Path, Manifest]], progress: Progress) -> Path:
    """The one interpreter for several environments hosted by one process; raises as `python_for`, and
    ManifestError where they need different ones."""
    all_needs = [needs_of(*each) for each in environments]
    if all(map(is_satisfied, all_needs)):
        return Path(sys.executable)
    first, *others = [needs for needs in all_needs if needs.lines]
    for other in others:
        if sorted(other.lines) != sorted(first.lines):
            raise ManifestError(
                f"{first.folder.name} and {other.folder.name} have different requirements and cannot share a process; "
                f"host them apart: `envhub serve {first.folder.name}` and `envhub serve {other.folder.name} --port 0`"
            )
    return _python_with(first, progress)


def find_python(folder: Path, manifest: Manifest) -> Path | None:
    """The interpreter `python_for` would give, if it is ready now; never builds anything."""
    needs = needs_of(folder, manifest)
    if is_satisfied(needs):
        return Path(sys.executable)
    resolution = _resolution_file(needs)
    return _existing(_target(resolution.read_text(encoding="utf-8"))) if resolution.is_file() else None


def _python_with(needs: Needs, progress: Progress) -> Path:
    resolution = _resolution_file(needs)
    with _locked(resolution.with_suffix(".lock"), needs, progress):
        if not resolution.is_file():
            progress(f"resolving the requirements of {needs.folder.name} (first start only)")
            _write_whole(resolution, _resolve(needs))
        resolved = resolution.read_text(encoding="utf-8")
    target = _target(resolved)
    # Other requirements may come to the same packages: the virtual environment has a lock of its own.
    with _locked(target.with_suffix(".lock"), needs, progress):
        return _existing(target) or _build(target, resolved, needs, progress)


def _resolution_file(needs: Needs) -> Path:
    inputs = _digest(needs.lines, own_requirements(), _interpreter())
    return cache_dir() / "virtualenvs" / "resolutions" / f"{inputs}.txt"


def _target(resolved: str) -> Path:
    portions = [str(path) for path in _portions()]
    return cache_dir() / "virtualenvs" / _digest(resolved, _interpreter(), portions, str(_metadata_folder()))


def _existing(target: Path) -> Path | None:
    python = target / "bin" / "python"
    return python if python.exists() else None


def _resolve(needs: Needs) -> str:
    """Exact versions for the environment's requirements and envhub's own together."""
    wanted = "\n".join([*needs.lines, *own_requirements()]) + "\n"
    run = _uv("pip", "compile", "-", "--python", sys.executable, "--no-header", "--no-annotate",
              folder=needs.folder, text=wanted)  # fmt: skip
    if run.returncode:
        raise ManifestError(
            f"{needs.folder / FILE_NAME}: its requirements do not resolve together with envhub's own; uv says:\n"
            f"{run.stderr.strip()}"
        )
    return run.stdout


def _build(target: Path, resolved: str, needs: Needs, progress: Progress) -> Path:
    """Make the virtual environment beside its place, then rename: whoever sees it sees it whole."""
    packages = sum("==" in line or " @ " in line for line in resolved.splitlines())
    progress(f"making a virtual environment with {packages} packages for {needs.folder.name} (first start only)")
    prefix = f".{target.name}-"
    for abandoned in target.parent.glob(f"{prefix}*"):  # by a process that was killed; we hold the lock
        shutil.rmtree(abandoned, ignore_errors=True)
    making = Path(tempfile.mkdtemp(prefix=prefix, dir=target.parent))
    try:
        listed = making / "requirements.txt"
        _write_whole(listed, resolved)
        virtualenv = making / "virtualenv"
        _checked("venv", "--relocatable", "--python", sys.executable, str(virtualenv), folder=needs.folder)
        python = virtualenv / "bin" / "python"
        _checked("pip", "install", "--no-deps", "--python", str(python), "-r", str(listed), folder=needs.folder)
        _show_envhub(virtualenv)
        shutil.rmtree(target, ignore_errors=True)  # only ever there with an interpreter that is gone
        virtualenv.rename(target)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return target / "bin" / "python"


def _show_envhub(virtualenv: Path) -> None:
    """Make envhub importable: links to its portions on a path file, and to its metadata (for its version)."""
    library = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = virtualenv / "lib" / library / "site-packages"
    portions = _portions()
    for number, portion in enumerate(portions):
        link = virtualenv / _LINKS / str(number) / "envhub"
        link.parent.mkdir(parents=True)
        link.symlink_to(portion, target_is_directory=True)
    up = os.path.relpath(virtualenv / _LINKS, packages)
    lines = [f"{up}/{number}\n" for number in range(len(portions))]
    (packages / _PATH_FILE).write_text("".join(lines), encoding="utf-8")
    metadata = _metadata_folder()
    (packages / metadata.name).symlink_to(metadata, target_is_directory=True)


def _portions() -> list[Path]:
    """The folders that make up the namespace `envhub`: one in a wheel, five in a checkout."""
    import envhub

    return sorted(Path(each).resolve() for each in envhub.__path__)


def _metadata_folder() -> Path:
    files = importlib.metadata.distribution("envhub").files or []
    return next(Path(str(file.locate())).resolve().parent for file in files if file.name == "METADATA")


def _interpreter() -> tuple[str, ...]:
    return (sys.implementation.name, sys.version, sys.base_prefix, sysconfig.get_platform())


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _write_whole(file: Path, text: str) -> None:
    """Write a file so that nobody ever reads half of it."""
    partial = file.with_suffix(f".{os.getpid()}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)


@contextmanager
def _locked(file: Path, needs: Needs, progress: Progress) -> Iterator[None]:
    """Hold the lock of a resolution or of a virtual environment, across processes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(file)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress(f"another process is making the virtual environment for {needs.folder.name}; waiting for it")
        _wait_for(lock)
    try:
        yield
    finally:
        lock.release()


def _wait_for(lock: BaseFileLock) -> None:
    try:
        lock.acquire(timeout=BUILD_DEADLINE_S)
    except Timeout as error:
        raise ServerError(
            f"{lock.lock_file} was held by another process for {BUILD_DEADLINE_S:g} s; end that process"
        ) from error


def _checked(*arguments: str, folder: Path) -> None:
    run = _uv(*arguments, folder=folder)
    if run.returncode:
        raise ServerError(
            f"making the virtual environment for {folder.name} failed at `uv {' '.join(arguments[:2])}`; uv says:\n"
            f"{run.stderr.strip()}"
        )


def _uv(*arguments: str, folder: Path, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run uv in the environment's folder, against which relative paths in requirements are read."""
    try:
        return subprocess.run(
            [uv.find_uv_bin(), *arguments, "--no-progress"],
            input=text, cwd=folder, capture_output=True, text=True, timeout=BUILD_DEADLINE_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise ServerError(f"`uv {' '.join(arguments[:2])}` took longer than {BUILD_DEADLINE_S:g} s") from error


__all__ = ["Progress", "find_python", "python_for", "python_for_all"]
