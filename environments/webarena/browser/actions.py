"""WebArena's action strings, parsed into one small type an action.

    click [id]   type [id] [content] [press_enter_after=0|1]   hover [id]   press [key_comb]   scroll [down|up]
    new_tab   tab_focus [tab_index]   close_tab   goto [url]   go_back   go_forward   stop [answer]

`parse_action` reads the last ```block``` of a message, or the whole message, or its last line. Doing an action is the
session's job: the same types are what tools with arguments build.
Format: WebArena (Zhou et al., 2023), https://arxiv.org/abs/2307.13854, table of the action space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from .errors import ActionParseError

MAX_ACTION_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class Click:
    """Click the element; an option of a select is chosen."""

    element: int


@dataclass(frozen=True, slots=True)
class Type:
    """Replace what the element holds by `text`, then press Enter if `enter`."""

    element: int
    text: str
    enter: bool = True


@dataclass(frozen=True, slots=True)
class Hover:
    """Move the mouse over the element."""

    element: int


@dataclass(frozen=True, slots=True)
class Press:
    """Press a key or a combination, e.g. "Control+a"."""

    keys: str


@dataclass(frozen=True, slots=True)
class Scroll:
    """Scroll by one height of the window."""

    direction: Literal["down", "up"]


@dataclass(frozen=True, slots=True)
class NewTab:
    """Open an empty tab and go to it."""


@dataclass(frozen=True, slots=True)
class TabFocus:
    """Go to another tab, by the number in the tab line."""

    index: int


@dataclass(frozen=True, slots=True)
class CloseTab:
    """Close the current tab."""


@dataclass(frozen=True, slots=True)
class Goto:
    """Open an address in the current tab."""

    address: str


@dataclass(frozen=True, slots=True)
class GoBack:
    """Go to the page before this one."""


@dataclass(frozen=True, slots=True)
class GoForward:
    """Undo a go_back."""


@dataclass(frozen=True, slots=True)
class Stop:
    """End the task with an answer; empty where the task asks for none."""

    answer: str = ""


Action = Click | Type | Hover | Press | Scroll | NewTab | TabFocus | CloseTab | Goto | GoBack | GoForward | Stop

NUMBER = r"\[\s*(\d{1,9})\s*\]"
BODY = r"\s*\[(.*)\]"


@dataclass(frozen=True, slots=True)
class _Form:
    usage: str
    patterns: tuple[str, ...]
    build: Callable[..., Action]


def _type(element: str, text: str, enter: str = "1") -> Action:
    return Type(int(element), text, enter == "1")


FORMS: dict[str, _Form] = {
    "click": _Form("click [12]", (rf"\s*{NUMBER}",), lambda number: Click(int(number))),
    # With the flag first: only what follows the last bracket can be the flag, so brackets inside the text are text.
    "type": _Form(
        "type [12] [the text] [1], where the last number says whether Enter is pressed afterwards",
        (rf"\s*{NUMBER}{BODY}\s*\[(?:press_enter_after=)?([01])\]", rf"\s*{NUMBER}{BODY}"),
        _type,
    ),
    "hover": _Form("hover [12]", (rf"\s*{NUMBER}",), lambda number: Hover(int(number))),
    "press": _Form("press [Control+a]", (BODY,), lambda keys: Press(keys.strip())),
    "scroll": _Form(
        "scroll [down] or scroll [up]",
        (r"\s*\[\s*(?:direction=)?(down|up)\s*\]", r"\s+(down|up)"),
        lambda direction: Scroll(direction),
    ),
    "new_tab": _Form("new_tab", (r"(?:\s*\[\s*\])?",), NewTab),
    "tab_focus": _Form("tab_focus [1]", (rf"\s*{NUMBER}",), lambda number: TabFocus(int(number))),
    "close_tab": _Form("close_tab", (r"(?:\s*\[\s*\])?",), CloseTab),
    "goto": _Form("goto [http://...]", (BODY,), lambda address: Goto(address)),
    "go_back": _Form("go_back", (r"(?:\s*\[\s*\])?",), GoBack),
    "go_forward": _Form("go_forward", (r"(?:\s*\[\s*\])?",), GoForward),
    "stop": _Form("stop [the answer]", (BODY, ""), lambda answer="": Stop(answer.strip())),
}
COMPILED = {verb: [re.compile(p, re.DOTALL) for p in form.patterns] for verb, form in FORMS.items()}


def parse_action(text: str) -> Action:
    """The action in a policy's message.

    Raises:
        ActionParseError: there is none; the message says what was expected.
    """
    if len(text) > MAX_ACTION_CHARS:
        raise ActionParseError(
            f"the action has {len(text)} characters; the limit is {MAX_ACTION_CHARS}. Nothing was done"
        )
    failure: ActionParseError | None = None
    for candidate in _candidates(text):
        try:
            return _parse_one(candidate)
        except ActionParseError as error:
            failure = failure or error
    raise failure or ActionParseError(f"there is no action; write one of: {_usages()}")


def _candidates(text: str) -> Iterator[str]:
    """Where the action may stand, the likeliest first."""
    blocks = re.findall(r"```(.*?)```", text, re.DOTALL)
    if blocks:
        block = blocks[-1].strip()
        yield block
        label, _, rest = block.partition("\n")
        if rest and label.strip() not in FORMS and re.fullmatch(r"\w+", label.strip()):
            yield rest.strip()
        return
    if whole := text.strip():
        yield whole
        last_line = whole.rpartition("\n")[2].strip()
        if last_line != whole:
            yield last_line


def _parse_one(text: str) -> Action:
    verb = re.match(r"\w*", text)
    name = verb[0] if verb else ""
    form = FORMS.get(name)
    if form is None:
        raise ActionParseError(f"{text[:60]!r} is not an action; write one of: {_usages()}")
    for pattern in COMPILED[name]:
        if match := pattern.fullmatch(text, len(name)):
            return form.build(*match.groups())
    raise ActionParseError(f"{text[:60]!r} is not complete; write {form.usage}")


def _usages() -> str:
    return "; ".join(form.usage.partition(",")[0] for form in FORMS.values())
