"""What a policy sees, read back: the lines of the numbered tree as elements that can be searched."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
LINE = re.compile(rf"(?P<tabs>\t*)\[(?P<number>\d+)\] (?P<role>\S+) (?P<name>{QUOTED})(?: value: (?P<value>{QUOTED}))?")

Name = str | re.Pattern[str] | Callable[[str], bool]
"""A whole name, a pattern found in it, or a test of it."""


@dataclass(frozen=True, slots=True)
class Element:
    """One line of the tree."""

    number: int
    depth: int
    role: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Page:
    """One observation."""

    url: str
    elements: tuple[Element, ...]

    def all(self, role: str, name: Name | None = None) -> Iterator[Element]:
        """Elements of a role, in order."""
        return (each for each in self.elements if each.role == role and (name is None or _fits(each.name, name)))

    def find(self, role: str, name: Name | None = None, *, after: Element | None = None) -> Element:
        """The first element of a role and name, of those below `after` on the page.

        Raises:
            LookupError: there is none.
        """
        start = after.number if after else 0
        for element in self.all(role, name):
            if element.number > start:
                return element
        below = f" below [{start}]" if start else ""
        raise LookupError(f"no {role} {name!r}{below} on {self.url}; it has {[each.name for each in self.all(role)]}")

    def has(self, role: str, name: Name | None = None) -> bool:
        """Whether there is such an element."""
        return any(True for _ in self.all(role, name))

    def within(self, element: Element) -> list[Element]:
        """What hangs below an element."""
        found: list[Element] = []
        for each in self.elements[element.number :]:
            if each.depth <= element.depth:
                break
            found.append(each)
        return found

    def rows(self) -> Iterator[list[str]]:
        """The cells of every row of every table."""
        for row in self.all("row"):
            yield [each.name for each in self.within(row) if each.depth == row.depth + 1]


def read_page(text: str) -> Page:
    """The page in an observation's text."""
    url = re.search(r"^URL: (.*)$", text, re.MULTILINE)
    return Page(url[1] if url else "", tuple(map(_element, LINE.finditer(text))))


def _element(line: re.Match[str]) -> Element:
    name, value = (ast.literal_eval(line[part]) if line[part] else "" for part in ("name", "value"))
    return Element(int(line["number"]), len(line["tabs"]), line["role"], name, value)


def _fits(text: str, name: Name) -> bool:
    if isinstance(name, str):
        return text == name
    return name.search(text) is not None if isinstance(name, re.Pattern) else name(text)
