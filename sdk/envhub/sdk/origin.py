"""What an environment's own code raised, and where: in the words its author needs."""

from __future__ import annotations

import traceback
from pathlib import Path

MOUNTED = "envhub_mounted_"
"""How the private package names begin under which the loader mounts environments' folders."""


def told(error: BaseException) -> str:
    """Type, message, and the innermost line of the environment's own code, as in `ValueError: no (env.py:12)`.

    The file's name only, without its folder: the text reaches clients.
    """
    places = [
        f" ({Path(frame.f_code.co_filename).name}:{line})"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__", "")).startswith(MOUNTED)
    ]
    return f"{type(error).__name__}: {error}{places[-1] if places else ''}"


__all__ = ["MOUNTED", "told"]
