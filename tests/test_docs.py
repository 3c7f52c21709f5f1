"""Documentation: its code runs, its links lead somewhere, the tests it names exist."""

from __future__ import annotations

import importlib.util
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

from envhub.sdk import errors

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def _neighbour(name: str) -> ModuleType:
    """A module beside this one; tests are no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


docs_page = _neighbour("docs_page")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def runs(page: Path) -> bool:
    return any(block.language in docs_page.RUN and block.mode != "no-run" for block in docs_page.read_blocks(page))


@pytest.mark.parametrize("page", [page for page in PAGES if runs(page)], ids=name_of)
async def test_code_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, home = tmp_path / "work", tmp_path / "home"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ENVHUB_HOME", str(home))
    await docs_page.Page(page, folder, home).run()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_says_what_it_is_and_why_it_does_not_run(page: Path) -> None:
    for block in docs_page.read_blocks(page):
        where = f"{page.name}:{block.line}"
        assert block.language, f"{where}: the block has no language"
        assert block.mode in ("", "file", "background", "no-run"), where
        assert block.language not in ("bash", "sh", "shell", "py"), f"{where}: use console or python"
        if block.mode in ("no-run", "file"):
            assert block.argument, f"{where}: say why, or which file"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_relative_links_lead_to_files(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)|<img[^>]* src=\"([^\"]+)\"", text)
    targets = [(one or other).partition("#")[0] for one, other in links]
    local = [target for target in targets if target and "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_named_tests_exist(page: Path) -> None:
    named = re.findall(r"`(tests/[\w/.-]+\.py)(?:::(test_\w+))?`", page.read_text(encoding="utf-8"))
    for file, test in named:
        assert (ROOT / file).is_file(), f"{page.name}: no {file}"
        source = (ROOT / file).read_text(encoding="utf-8")
        assert not test or re.search(rf"def {test}\b", source), f"{page.name}: no {test} in {file}"


def test_pictures_are_well_formed() -> None:
    for picture in DOCS.rglob("*.svg"):
        assert ElementTree.parse(picture).getroot().tag.endswith("svg")


def test_protocol_page_lists_every_error_with_its_status_and_boundary() -> None:
    row = re.compile(r"^\| (\w+) \| (\d{3}) \| (request|environment|sandbox|server) \|", re.MULTILINE)
    told = {code: (int(status), kind) for code, status, kind in row.findall((DOCS / "protocol.md").read_text("utf-8"))}
    kinds = [getattr(errors, name) for name in errors.__all__ if isinstance(getattr(errors, name), type)]
    abstract = {"error", "request", "connection_lost"}  # bases, and what only a client can notice
    assert told == {kind.code: (kind.status, kind.boundary) for kind in kinds if kind.code not in abstract}
