"""Find a browser on this machine: what the caller names, a Chrome or Chromium on PATH, or Playwright's download."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .errors import BrowserNotFound

BrowserKind = Literal["given", "headless shell", "chromium", "chrome", "playwright download"]

# The headless shell comes first: it starts twice as fast as the full browser and takes half its memory.
NAMES_ON_PATH: tuple[tuple[str, BrowserKind], ...] = (
    ("chromium-headless-shell", "headless shell"),
    ("chrome-headless-shell", "headless shell"),
    ("chromium", "chromium"),
    ("chromium-browser", "chromium"),
    ("google-chrome-stable", "chrome"),
    ("google-chrome", "chrome"),
)
DOWNLOAD_PATTERNS = (
    "chromium_headless_shell-*/chrome-*/chrome-headless-shell",
    "chromium_headless_shell-*/chrome-*/headless_shell",
    "chromium-*/chrome-*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
)
APPLICATIONS = (
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
)


@dataclass(frozen=True, slots=True)
class FoundBrowser:
    """A browser executable and where it came from."""

    path: Path
    kind: BrowserKind

    def __str__(self) -> str:
        return f"{self.path} ({self.kind})"


def find_browser(
    given: str | None = None, *, search_path: str | None = None, downloads: Path | None = None
) -> FoundBrowser:
    """The browser to launch.

    Args:
        given: the executable the user names (ENVHUB_CHROMIUM); it wins, and is an error when it cannot be run.
        search_path: folders to look in, as PATH has them; None is the process's own PATH.
        downloads: Playwright's download folder; None is its usual place.

    Raises:
        BrowserNotFound: nothing was found, or `given` is not an executable file.
    """
    if given:
        return _given(given, search_path)
    for name, kind in NAMES_ON_PATH:
        if (on_path := shutil.which(name, path=search_path)) is not None:
            return FoundBrowser(Path(on_path), kind)
    if search_path is None:
        for application in APPLICATIONS:
            if _runs(application):
                return FoundBrowser(application, "chrome")
    folder = downloads if downloads is not None else _usual_downloads()
    if (download := _newest_download(folder)) is not None:
        return FoundBrowser(download, "playwright download")
    raise BrowserNotFound(
        f"no Chrome or Chromium on PATH and none in {folder}; install one with `playwright install chromium` "
        "or, on Debian and Ubuntu, `apt-get install chromium`, or name one in ENVHUB_CHROMIUM"
    )


def _given(given: str, search_path: str | None) -> FoundBrowser:
    found = shutil.which(given, path=search_path)
    if found is None:
        raise BrowserNotFound(
            f"ENVHUB_CHROMIUM names {given}, which is not an executable file; "
            "correct it, or unset it to use a browser from PATH"
        )
    return FoundBrowser(Path(found), "given")


def _usual_downloads() -> Path:
    mac = Path.home() / "Library/Caches/ms-playwright"
    return mac if mac.is_dir() else Path.home() / ".cache/ms-playwright"


def _newest_download(folder: Path) -> Path | None:
    for pattern in DOWNLOAD_PATTERNS:
        candidates = [path for path in folder.glob(pattern) if _runs(path)]
        if candidates:
            return max(candidates, key=lambda path: _build(path, folder))
    return None


def _build(path: Path, folder: Path) -> int:
    """The build number in a download's folder name, e.g. 1200 in chromium-1200."""
    digits = path.relative_to(folder).parts[0].rpartition("-")[2]
    return int(digits) if digits.isdigit() else 0


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
