"""`envhub version`."""

from __future__ import annotations

import importlib.metadata
import platform

from envhub.cli.output import AsJson, print_json


def version(as_json: AsJson = False) -> None:
    """Print the version of envhub.

    With --json also Python's and the platform's.

    Examples:
      envhub version
      envhub version --json
    """
    number = importlib.metadata.version("envhub")
    if as_json:
        print_json({"envhub": number, "python": platform.python_version(), "platform": platform.platform()})
    else:
        print(f"envhub {number}")


__all__ = ["version"]
