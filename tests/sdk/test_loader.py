"""Loader: private mounting, and errors that name what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from envhub.sdk import EnvironmentFailed, ManifestError, NotFound, find_folder, list_bundled, load
from envhub.sdk.loader import bundled_folder

MANIFEST = """
name = "sql"
summary = "Test."
licences = { wrapper = "Apache-2.0", data = "CC0-1.0" }
"""
ENV = """
from envhub.sdk import Environment as Base

from .reward import VALUE


class Environment(Base):
    value = VALUE
"""


def write(folder: Path, *, env: str = ENV, reward: str = "VALUE = 1", manifest: str = MANIFEST) -> Path:
    folder.mkdir(parents=True)
    (folder / "envhub.toml").write_text(manifest, encoding="utf-8")
    (folder / "env.py").write_text(env, encoding="utf-8")
    (folder / "reward.py").write_text(reward, encoding="utf-8")
    return folder


def test_two_folders_of_one_name_do_not_meet(tmp_path: Path) -> None:
    first = load(str(write(tmp_path / "a" / "sql", reward="VALUE = 'first'")))
    second = load(str(write(tmp_path / "b" / "sql", reward="VALUE = 'second'")))
    assert (first.cls.value, second.cls.value) == ("first", "second")  # type: ignore[attr-defined]
    assert first.cls is not second.cls
    assert (first.cls.folder.parent.name, second.cls.folder.parent.name) == ("a", "b")


def test_one_folder_by_two_paths_is_one_module(tmp_path: Path) -> None:
    folder = write(tmp_path / "sql")
    (tmp_path / "link").symlink_to(folder)
    assert load(str(folder)).cls is load(str(tmp_path / "link")).cls


def test_entries_of_other_modules_are_found(tmp_path: Path) -> None:
    loaded = load(str(write(tmp_path / "sql")))
    assert loaded.attribute("reward:VALUE") == 1
    with pytest.raises(ManifestError, match=r"reward\.py has no 'MISSING'"):
        loaded.attribute("reward:MISSING")
    for entry in ("absent:x", "reward", ""):
        with pytest.raises(ManifestError, match="is not module:name"):
            loaded.attribute(entry)


def test_missing_requirement_is_named_with_the_remedy(tmp_path: Path) -> None:
    folder = write(tmp_path / "sql", env="import surely_not_installed.part")
    with pytest.raises(EnvironmentFailed, match=r"needs the Python module 'surely_not_installed'.*requirements"):
        load(str(folder))


def test_missing_module_of_the_folder_itself_is_no_requirement(tmp_path: Path) -> None:
    folder = write(tmp_path / "sql", env="from .rewards import VALUE")
    with pytest.raises(EnvironmentFailed, match=r"no module '\.rewards' in ") as failure:
        load(str(folder))
    assert "requirements" not in str(failure.value)


@pytest.mark.parametrize("code", ["1 / 0", "def broken(:", "raise SystemError('x')"])
def test_code_that_raises_while_imported_is_the_environments_failure(tmp_path: Path, code: str) -> None:
    with pytest.raises(EnvironmentFailed, match=r"importing env\.py raised"):
        load(str(write(tmp_path / "sql", env=code)))


def test_entry_must_be_an_environment_class(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="not a subclass of Environment"):
        load(str(write(tmp_path / "sql", env="Environment = 3")))


def test_unknown_name_is_answered_with_near_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write(tmp_path / "frozen-lake")
    monkeypatch.setattr("envhub.sdk.loader.bundled_folder", lambda: tmp_path)
    assert find_folder("frozen-lake") == tmp_path / "frozen-lake"
    with pytest.raises(NotFound, match=r"did you mean frozen-lake\?"):
        find_folder("frozenlake")
    with pytest.raises(NotFound, match="there are frozen-lake"):
        find_folder("zzz")
    with pytest.raises(NotFound):
        find_folder("")


def test_path_without_an_environment_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"no envhub\.toml in"):
        find_folder(str(tmp_path))
    with pytest.raises(ManifestError, match="no folder"):
        find_folder("./absent")
    with pytest.raises(ManifestError, match="no folder"):
        find_folder("some/where")


def test_folder_in_the_working_directory_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    assert find_folder("mine") == tmp_path / "mine"


def test_every_bundled_manifest_can_be_read() -> None:
    assert "frozen-lake" in [manifest.name for _, manifest in list_bundled()]


def test_a_bundled_name_means_the_same_in_every_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "frozen-lake"
    here.mkdir()
    (here / "envhub.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    assert find_folder("frozen-lake") == bundled_folder() / "frozen-lake"
    assert find_folder("./frozen-lake") == here
