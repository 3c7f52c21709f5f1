"""Comparing texts: exact_match and must_include, for answers and for what pages show.

Both sides are put into one form first: Unicode compatibility form, lower case, plain quotes, single spaces, no quotes
around the whole, no full stop at its end. Then:

- Words are whole: "mug" is in "a mug." and not in "mugs"; "0" is in "The count is 0. Done." and not in "10 items".
- A requirement that is a number, with or without currency or per cent sign, is met by a number of the same value:
  "0" by "$0.00", "1234.5" by "$1,234.50". A number never ends in the middle: "5" is not in "5.25" or "15".

WebArena compares a single word with the answer's tokens and several words as a substring (Zhou et al., 2023). These
rules keep the first and are stricter about the second, where "5 stars" would be found in "15 stars".
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

from .spec import RequiredText

QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2212": "-"})
OR = re.compile(r"\s*\|or\|\s*")
# A run of digits with thousands separators or without, and a fraction; not within a longer number or a word.
NUMBER = re.compile(r"(?<![\w.,])(?:[$€£]\s?)?(-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?![\w]|[.,]\d)\s?%?")


def meets(text: str, required: RequiredText) -> bool:
    """Whether a text is what is required."""
    if required.exact_match is not None and not is_same(text, required.exact_match):
        return False
    return all(includes(text, each) for each in required.must_include or ())


def is_same(text: str, wanted: str) -> bool:
    """exact_match, with alternatives."""
    clean = plain(text)
    return any(_equal(clean, option) for option in _options(wanted))


def includes(text: str, wanted: str) -> bool:
    """must_include for one requirement, with alternatives."""
    clean = plain(text)
    return any(_within(option, clean) for option in _options(wanted))


def plain(text: str) -> str:
    """The form in which texts are compared."""
    text = unicodedata.normalize("NFKC", text).translate(QUOTES).lower()
    text = " ".join("".join(char for char in text if unicodedata.category(char) != "Cf").split())
    text = _without_stop(text)
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = _without_stop(text[1:-1].strip())
    return text


def _without_stop(text: str) -> str:
    return text[:-1].rstrip() if text.endswith(".") and not text.endswith("..") else text


def _options(wanted: str) -> list[str]:
    return [plain(option) for option in OR.split(plain(wanted))]


def _equal(clean: str, wanted: str) -> bool:
    value = _value(wanted)
    return clean == wanted or (value is not None and _value(clean) == value)


def _within(wanted: str, clean: str) -> bool:
    value = _value(wanted)
    if value is not None:
        return any(_decimal(found[1]) == value for found in NUMBER.finditer(clean))
    if not wanted:
        return not clean
    return re.search(_bounded(wanted), clean) is not None


def _bounded(wanted: str) -> str:
    """Not within a longer word or number. What begins or ends with a sign has its boundary there."""
    before = r"(?<!\w)(?<!\d[.,])" if wanted[0].isalnum() else ""
    after = r"(?!\w)(?![.,]\d)" if wanted[-1].isdigit() else r"(?!\w)" if wanted[-1].isalnum() else ""
    return before + re.escape(wanted) + after


def _value(text: str) -> Decimal | None:
    """The number that the whole text is; None if it is anything else."""
    found = NUMBER.fullmatch(text)
    return _decimal(found[1]) if found else None


def _decimal(digits: str) -> Decimal:
    return Decimal(digits.replace(",", ""))
