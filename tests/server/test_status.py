"""The status page."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from envhub.server.status import EndRow, EnvironmentRow, SessionRow, StatusSnapshot, duration, render

LAKE = EnvironmentRow(
    "frozen-lake", "Frozen lake", "0.1.0", "proven", "inline", {"train": None, "test": 1200}, 1, 12345
)
LIVE = SessionRow("a1b2c3", "frozen-lake", "test-7", "control", 3, True, 4.2, 117.9)
ENDED = EndRow("d4e5f6", "frozen-lake", "test-8", "error", 9, 61, "the environment raised ValueError: no good")
SNAPSHOT = StatusSnapshot(
    version="0.1.0",
    uptime_s=3700,
    capacity=64,
    waiting=2,
    connections=1,
    loop_lag_s=0.0012,
    environments=(LAKE,),
    sessions=(LIVE,),
    ended=(ENDED,),
    opened=10,
    steps=12345,
    ends={"terminated": 8, "error": 1},
    errors={"environment: environment": 1},
)


class Page(HTMLParser):
    """The visible text, and every address the page names."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def test_the_page_shows_environments_sessions_and_ends() -> None:
    text = Page(render(SNAPSHOT)).text
    assert "Live sessions 1 / 64" in text
    assert "Frozen lake frozen-lake 0.1.0 proven inline train ∞, test 1,200 1 12,345" in text
    assert "a1b2c3 frozen-lake test-7 control 3 ● 4 s 117 s" in text
    assert "d4e5f6 frozen-lake test-8 error 9 61 s the environment raised ValueError: no good" in text
    assert "terminated 8" in text


def test_the_page_asks_nobody_for_anything() -> None:
    html = render(SNAPSHOT)
    assert Page(html).addresses == ["data:,"]
    assert not re.search(r"url\(|@import|https?://", html)
    assert "script" not in Page(html).tags


def test_what_environments_say_is_escaped() -> None:
    evil = "<script>alert(1)</script>"
    html = render(replace(SNAPSHOT, sessions=(replace(LIVE, task=evil),), ended=(replace(ENDED, error=evil),)))
    assert "script" not in Page(html).tags
    assert evil in Page(html).text


def test_an_idle_server_and_a_crowded_one_have_a_page() -> None:
    idle = replace(SNAPSHOT, sessions=(), ended=(), ends={}, errors={})
    assert Page(render(idle)).text.count("None.") == 2
    crowd = tuple(replace(LIVE, id=f"s{number}") for number in range(1000))
    text = Page(render(replace(SNAPSHOT, sessions=crowd))).text
    assert "and 800 more" in text
    assert "1000 / 64" in text


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (119, "119 s"), (720, "12 min"), (11_100, "3 h 5 min"), (187_200, "2 d 4 h")]
)
def test_durations_read_well(seconds: float, said: str) -> None:
    assert duration(seconds) == said
