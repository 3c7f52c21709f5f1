"""What `envhub validate` runs: the suite, a line a check, and the exit code."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys

from envhub.validate import validate
from envhub.validate.report import Check, Report, line_of


def run(target: str, sample: int | None = None, json_output: bool = False, token: str | None = None) -> int:
    """Validate and print; 0 where something was checked and all of it passed, else 1.

    The environment's requirements must be importable here: the caller enters its virtual environment first.

    Args:
        target: NAME, PATH or URL, as `envhub.validate.validate` takes it.
        sample: how many tasks; None: all that are looked at.
        json_output: print one JSON object as the last line, and the lines of the checks on stderr.
        token: server token, for a URL.

    Raises:
        EnvhubError: the target cannot be found or reached.
    """
    screen = Screen(json_output)
    report = asyncio.run(
        validate(target, sample=sample, progress=screen.progress, on_check=screen.outcome, token=token)
    )
    screen.finish(report)
    return 0 if report.ok else 1


class Screen:
    """Lines on stdout (stderr where stdout is for JSON); what is going on, on a terminal's last line."""

    def __init__(self, json_output: bool) -> None:
        self._json = json_output
        self._lines = sys.stderr if json_output else sys.stdout
        self._live = sys.stderr.isatty()

    def progress(self, text: str) -> None:
        """Overwrite the last line of a terminal."""
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{text[:width]}")
            sys.stderr.flush()

    def outcome(self, check: Check) -> None:
        """A check's line."""
        self.progress("")
        print(line_of(check), file=self._lines, flush=True)

    def finish(self, report: Report) -> None:
        """What did not apply, and the summary or the JSON object."""
        self.progress("")
        for name, why in report.not_checked.items():
            print(f"- {name}: not checked: {why}", file=self._lines)
        print(report.summary(), file=self._lines, flush=True)
        if self._json:
            print(json.dumps(report.to_json(), ensure_ascii=False), flush=True)


__all__ = ["run"]
