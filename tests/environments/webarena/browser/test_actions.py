"""Action texts."""

from __future__ import annotations

import pytest
from webarena_under_test.browser.actions import (
    MAX_ACTION_CHARS,
    Click,
    CloseTab,
    GoBack,
    GoForward,
    Goto,
    Hover,
    NewTab,
    Press,
    Scroll,
    Stop,
    TabFocus,
    Type,
    parse_action,
)
from webarena_under_test.browser.errors import ActionParseError

VALID = {
    "click [12]": Click(12),
    "hover [ 3 ]": Hover(3),
    "type [5] [amber mug] [0]": Type(5, "amber mug", enter=False),
    "type [5] [amber mug]": Type(5, "amber mug", enter=True),
    "type [5] [amber mug] [press_enter_after=0]": Type(5, "amber mug", enter=False),
    "type [5] [a [b] c] [1]": Type(5, "a [b] c"),
    "type [5] [x [1]]": Type(5, "x [1]"),
    "type [5] [one\ntwo] [0]": Type(5, "one\ntwo", enter=False),
    "type [5] []": Type(5, ""),
    "type [5] [] [0]": Type(5, "", enter=False),
    "press [Control+a]": Press("Control+a"),
    "press []]": Press("]"),
    "scroll [down]": Scroll("down"),
    "scroll [direction=up]": Scroll("up"),
    "scroll down": Scroll("down"),
    "new_tab": NewTab(),
    "tab_focus [1]": TabFocus(1),
    "close_tab": CloseTab(),
    "goto [http://shop.test/a?b=[c]]": Goto("http://shop.test/a?b=[c]"),
    "go_back": GoBack(),
    "go_forward": GoForward(),
    "stop [EUR 12.50]": Stop("EUR 12.50"),
    "stop []": Stop(""),
    "stop": Stop(""),
}


@pytest.mark.parametrize("text", VALID)
def test_a_plain_action_is_parsed(text: str) -> None:
    assert parse_action(text) == VALID[text]


@pytest.mark.parametrize("text", VALID)
def test_an_action_in_a_block_is_parsed(text: str) -> None:
    assert parse_action(f"I think so.\n```{text}```\n") == VALID[text]


def test_the_last_block_counts() -> None:
    assert parse_action("```click [1]``` or rather\n```action\nclick [2]\n```") == Click(2)


def test_a_block_that_is_no_action_is_not_replaced_by_the_text_around_it() -> None:
    with pytest.raises(ActionParseError, match="is not an action"):
        parse_action("```nothing```\nclick [2]")


def test_the_last_line_counts_where_there_is_no_block() -> None:
    assert parse_action("The basket is in the corner.\nclick [2]") == Click(2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "there is no action"),
        ("   \n ", "there is no action"),
        ("click", r"write click \[12\]"),
        ("click [twelve]", r"write click \[12\]"),
        ("click [-1]", r"write click \[12\]"),
        ("click [1] [2]", r"write click \[12\]"),
        ("click [99999999999999999999]", r"write click \[12\]"),
        ("type [5] text", "write type"),
        ("scroll [left]", r"write scroll \[down\] or scroll \[up\]"),
        ("goto http://shop.test/", "write goto"),
        ("tab_focus [a]", "write tab_focus"),
        ("clickety [5]", "is not an action; write one of"),
        ('{"name": "click"}', "is not an action"),
        ("\x00", "is not an action"),
    ],
)
def test_a_bad_action_says_what_was_expected(text: str, expected: str) -> None:
    with pytest.raises(ActionParseError, match=expected):
        parse_action(text)


def test_a_megabyte_is_refused_before_it_is_read() -> None:
    with pytest.raises(ActionParseError, match=f"the limit is {MAX_ACTION_CHARS}. Nothing was done"):
        parse_action(f"type [1] [{'x' * 1_000_000}]")
