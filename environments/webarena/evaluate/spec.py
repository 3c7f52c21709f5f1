"""Evaluation: a task's `eval` object, checked when the tasks are read, so that a mistake in one is no reward of 0.

WebArena's format (Zhou et al., 2023; config_files of https://github.com/web-arena-x/webarena) and two types of our own:

    db          [{"sql": "select …", "equals": [[…], …]}]: the rows are exactly these, in this order
    unchanged   {"allowed": {"order_order": [1, 0]}}: beyond so many rows added and removed in these tables, nothing
                changed anywhere
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, model_validator

EvalType = Literal["string_match", "url_match", "program_html", "db", "unchanged"]
EVAL_TYPES: tuple[EvalType, ...] = get_args(EvalType)

NO_JUDGE = (
    "fuzzy_match needs a language model as judge, and the local suite has none; "
    "use exact_match, must_include or a db check"
)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RequiredText(_Part):
    """What a text must be or have in it."""

    exact_match: str | None = None
    must_include: tuple[str, ...] | None = Field(default=None, min_length=1)
    """All of them; alternatives within one are joined by " |OR| "."""

    @model_validator(mode="after")
    def _something(self) -> RequiredText:
        if self.exact_match is None and self.must_include is None:
            raise ValueError("needs exact_match or must_include; an empty requirement is met by anything")
        return self


class ReferenceAnswers(RequiredText):
    """What the answer must be or have in it."""

    @model_validator(mode="before")
    @classmethod
    def _no_judge(cls, value: Any) -> Any:
        if isinstance(value, dict) and "fuzzy_match" in value:
            raise ValueError(NO_JUDGE)
        return value


class PageCheck(_Part):
    """Something a page must show."""

    url: str
    """Address with placeholders, or "last": where the agent ended."""
    locator: str = ""
    """A JavaScript expression on that page; empty: the page's visible text."""
    required_contents: RequiredText

    @model_validator(mode="after")
    def _plain(self) -> PageCheck:
        for value in (self.url, self.locator):
            if value.startswith(("func:", "lambda:")):
                raise ValueError(f"{value[:40]!r}: functions of WebArena's own package are not supported here")
        return self


class DatabaseCheck(_Part):
    """Rows that the session's database must give."""

    sql: str
    equals: tuple[tuple[str | int | float | None, ...], ...]


class Unchanged(_Part):
    """How much may have changed."""

    allowed: dict[str, tuple[NonNegativeInt, NonNegativeInt]] = Field(default_factory=dict)
    """Table -> at most so many rows (added, removed); a changed row counts as both."""


class Evaluation(_Part):
    """A task's `eval`: it is passed if every one of `eval_types` is."""

    eval_types: tuple[EvalType, ...] = Field(min_length=1)
    reference_answers: ReferenceAnswers | None = None
    reference_url: str | None = None
    """Alternatives are joined by " |OR| "."""
    url_note: Literal["GOLD in PRED", "EXACT"] = "GOLD in PRED"
    program_html: tuple[PageCheck, ...] = ()
    db: tuple[DatabaseCheck, ...] = ()
    unchanged: Unchanged | None = None
    string_note: str | None = None
    """A remark of WebArena's authors; not used."""
    reference_answer_raw_annotation: str | None = None
    """A remark of WebArena's authors; not used."""

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, value: Any) -> Any:
        """WebArena writes null and "" for what a task does not use."""
        if not isinstance(value, dict):
            return value
        return {key: entry for key, entry in value.items() if entry is not None and entry != ""}

    @model_validator(mode="after")
    def _complete(self) -> Evaluation:
        given = {
            "string_match": self.reference_answers is not None,
            "url_match": self.reference_url is not None,
            "program_html": bool(self.program_html),
            "db": bool(self.db),
            "unchanged": self.unchanged is not None,
        }
        for kind, present in given.items():
            if present != (kind in self.eval_types):
                raise ValueError(
                    f"eval_types has {kind!r} but there is nothing to check"
                    if not present
                    else f"there is something to check for {kind!r}, which eval_types does not name"
                )
        return self
