"""Environments to validate: a sound one, and defective ones that are the sound one with some files changed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

ENVIRONMENTS = Path(__file__).parent / "environments"


@pytest.fixture
def folder_of(tmp_path: Path) -> Callable[[str], Path]:
    """The whole folder of an environment here."""

    def make(name: str) -> Path:
        folder = tmp_path / name
        shutil.copytree(ENVIRONMENTS / "sound", folder, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ENVIRONMENTS / name, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        return folder

    return make
