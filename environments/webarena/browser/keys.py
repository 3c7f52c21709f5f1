"""Names of keys, as policies write them, in the browser's spelling."""

from __future__ import annotations

import re

from .errors import ActionRefused

MAX_KEYS = 5
SPELLINGS = {
    "ctrl": "Control",
    "control": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "meta": "Meta",
    "alt": "Alt",
    "option": "Alt",
    "shift": "Shift",
    "enter": "Enter",
    "return": "Enter",
    "esc": "Escape",
    "escape": "Escape",
    "tab": "Tab",
    "space": "Space",
    "backspace": "Backspace",
    "del": "Delete",
    "delete": "Delete",
    "insert": "Insert",
    "home": "Home",
    "end": "End",
    "pageup": "PageUp",
    "pagedown": "PageDown",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "arrowup": "ArrowUp",
    "arrowdown": "ArrowDown",
    "arrowleft": "ArrowLeft",
    "arrowright": "ArrowRight",
    "plus": "+",
}
FUNCTION_KEY = re.compile(r"[fF]([1-9]|1[0-2])")


def key_combination(text: str) -> str:
    """A combination the browser knows, e.g. "ctrl + a" -> "Control+a".

    Raises:
        ActionRefused: a key of that name does not exist.
    """
    # "Control++" is Control and the plus key; a bare "+" is the plus key.
    parts = re.sub(r"(^|\+)\s*\+\s*$", r"\1plus", text.strip()).split("+")
    if len(parts) > MAX_KEYS:
        raise ActionRefused(f"a combination has at most {MAX_KEYS} keys")
    return "+".join(_key(part.strip()) for part in parts)


def _key(name: str) -> str:
    known = SPELLINGS.get(re.sub(r"[\s_-]", "", name).lower()) if len(name) > 1 else None
    if known is not None:
        return known
    if FUNCTION_KEY.fullmatch(name):
        return name.upper()
    if len(name) == 1 and name.isprintable():
        return name
    raise ActionRefused(f"there is no key {name[:30]!r}; write for example Enter, Control+a, ArrowDown, F5")
