"""Virtual environments for environments' requirements: when none is made, what one holds, and two starts at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from envhub.sdk.errors import ManifestError
from envhub.sdk.manifest import Licences, Manifest
from envhub.sdk.requirements import is_satisfied, needs_of
from envhub.sdk.virtualenv import find_python, python_for, python_for_all

MAKE = """
import json, sys
from pathlib import Path
from envhub.sdk.manifest import read_manifest
from envhub.sdk.virtualenv import python_for
folder, said = Path(sys.argv[1]), []
print(json.dumps({"python": str(python_for(folder, read_manifest(folder), said.append)), "said": said}))
"""
LOOK = """
import importlib.metadata, importlib.util, json, tabulate, envhub.cli.main, envhub.sdk.virtualenv
print(json.dumps({
    "version": importlib.metadata.version("envhub"),
    "tabulate": importlib.metadata.version("tabulate"),
    "leaked": importlib.util.find_spec("pytest") is not None,
}))
"""


def manifest(*requirements: str, file: str | None = None) -> Manifest:
    licences = Licences(wrapper="Apache-2.0", data="Apache-2.0")
    return Manifest(
        name="thing", summary="A thing.", licences=licences, requirements=requirements, requirements_file=file
    )


def refuse(message: str) -> None:
    raise AssertionError(f"nothing should be built here, but: {message}")


@pytest.mark.parametrize("needed", ["pydantic", "pydantic>=2", "uvicorn>=0.1", "no-such-thing; sys_platform == 'none'"])
def test_met_requirements_need_no_virtual_environment(tmp_path: Path, needed: str) -> None:
    assert python_for(tmp_path, manifest(needed), refuse) == Path(sys.executable)


@pytest.mark.parametrize("needed", ["pydantic<2", "no-such-thing", "pydantic @ file:///nowhere", "./wheel.whl"])
def test_unmet_requirements_are_seen(tmp_path: Path, needed: str) -> None:
    assert not is_satisfied(needs_of(tmp_path, manifest(needed)))


def test_an_extra_counts_only_with_what_it_asks_for(tmp_path: Path) -> None:
    assert is_satisfied(needs_of(tmp_path, manifest("envhub[serve]")))
    assert not is_satisfied(needs_of(tmp_path, manifest("httpx[no-such-extra,zstd]>=0.27", "pydantic[timezone]<2")))


def test_a_requirements_file_is_read_beside_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("# the tools\n\npydantic  # models\nno-such-thing==1\n")
    needs = needs_of(tmp_path, manifest("httpx", file="requirements.txt"))
    assert needs.lines == ("httpx", "pydantic", "no-such-thing==1")


def test_a_missing_requirements_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"no 'pins\.txt' beside it"):
        needs_of(tmp_path, manifest(file="pins.txt"))


def test_requirements_that_include_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("-r more.txt\n")
    with pytest.raises(ManifestError, match=r"write '-r more\.txt' out"):
        needs_of(tmp_path, manifest(file="requirements.txt"))


def test_environments_that_need_different_packages_are_told_apart(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    with pytest.raises(ManifestError, match="first and second have different requirements"):
        python_for_all([(first, manifest("no-such-a")), (second, manifest("no-such-b"))], refuse)


def test_looking_for_an_interpreter_builds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVHUB_HOME", str(tmp_path / "home"))
    assert find_python(tmp_path, manifest("no-such-thing")) is None
    assert not (tmp_path / "home").exists()


@pytest.mark.install
def test_unresolvable_requirements_are_explained_in_uvs_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVHUB_HOME", str(tmp_path / "home"))
    with pytest.raises(ManifestError, match=r"(?s)envhub\.toml: its requirements do not resolve.*pydantic<2"):
        python_for(tmp_path, manifest("pydantic<2"), lambda _: None)


@pytest.mark.install
def test_two_starts_at_once_make_one_virtual_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVHUB_HOME", str(tmp_path / "home"))
    folder = tmp_path / "thing"
    folder.mkdir()
    (folder / "envhub.toml").write_text(
        'name = "thing"\nsummary = "A thing."\nrequirements = ["tabulate==0.9.0"]\n'
        'licences = { wrapper = "Apache-2.0", data = "Apache-2.0" }\n'
    )
    starts = [
        subprocess.Popen([sys.executable, "-c", MAKE, str(folder)], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    first, second = (json.loads(start.communicate(timeout=300)[0]) for start in starts)
    assert first["python"] == second["python"] != sys.executable
    assert sum("making" in line and "with" in line for line in first["said"] + second["said"]) == 1

    seen = subprocess.run([first["python"], "-P", "-c", LOOK], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(seen.stdout) == {"version": "0.1.0", "tabulate": "0.9.0", "leaked": False}

    needed = manifest("tabulate==0.9.0")
    assert str(python_for(folder, needed, refuse)) == first["python"]
    assert str(find_python(folder, needed)) == first["python"]


@pytest.mark.install
def test_a_broken_one_is_made_anew_and_abandoned_builds_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENVHUB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("UV_SYSTEM_PYTHON", "1")  # usual in images for CI; must not matter
    python = python_for(tmp_path, manifest("tabulate==0.9.0"), lambda _: None)
    target = python.parent.parent
    abandoned = target.with_name(f".{target.name}-killed")
    abandoned.mkdir()
    python.unlink()

    assert find_python(tmp_path, manifest("tabulate==0.9.0")) is None
    assert python_for(tmp_path, manifest("tabulate >=0.9, <0.9.1"), lambda _: None) == python
    assert subprocess.run([python, "-c", "import tabulate"], timeout=60).returncode == 0
    assert not abandoned.exists()
