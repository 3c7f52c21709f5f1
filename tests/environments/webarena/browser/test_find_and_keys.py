"""Finding a browser; names of keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from webarena_under_test.browser.errors import ActionRefused, BrowserNotFound
from webarena_under_test.browser.find import find_browser
from webarena_under_test.browser.keys import key_combination


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_given_browser_wins(tmp_path: Path) -> None:
    given, other = executable(tmp_path / "mine"), executable(tmp_path / "bin" / "chromium")
    found = find_browser(str(given), search_path=str(other.parent), downloads=tmp_path)
    assert (found.path, found.kind) == (given, "given")


def test_a_given_browser_that_does_not_run_is_an_error_and_not_replaced(tmp_path: Path) -> None:
    executable(tmp_path / "chromium")
    with pytest.raises(BrowserNotFound, match="ENVHUB_CHROMIUM names /nowhere/chrome"):
        find_browser("/nowhere/chrome", search_path=str(tmp_path), downloads=tmp_path)


def test_the_headless_shell_is_preferred_on_path(tmp_path: Path) -> None:
    executable(tmp_path / "chromium")
    assert find_browser(search_path=str(tmp_path), downloads=tmp_path).kind == "chromium"
    executable(tmp_path / "chromium-headless-shell")
    assert find_browser(search_path=str(tmp_path), downloads=tmp_path).kind == "headless shell"


def test_the_newest_download_is_found(tmp_path: Path) -> None:
    executable(tmp_path / "chromium-900" / "chrome-linux" / "chrome")
    newest = executable(tmp_path / "chromium-1200" / "chrome-linux64" / "chrome")
    found = find_browser(search_path=str(tmp_path), downloads=tmp_path)
    assert (found.path, found.kind) == (newest, "playwright download")


def test_none_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BrowserNotFound, match=r"`playwright install chromium`.*`apt-get install chromium`"):
        find_browser(search_path=str(tmp_path), downloads=tmp_path)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Enter", "Enter"),
        ("return", "Enter"),
        ("ctrl + a", "Control+a"),
        ("CTRL+SHIFT+ArrowLeft", "Control+Shift+ArrowLeft"),
        ("page_down", "PageDown"),
        ("f5", "F5"),
        ("+", "+"),
        ("Control++", "Control++"),
        ("é", "é"),
    ],
)
def test_keys_have_many_spellings(text: str, keys: str) -> None:
    assert key_combination(text) == keys


@pytest.mark.parametrize("text", ["", "Foo", "Control+", "F13", "a+b+c+d+e+f", "\x00", "ctrl-a"])
def test_unknown_keys_are_refused(text: str) -> None:
    with pytest.raises(ActionRefused):
        key_combination(text)
