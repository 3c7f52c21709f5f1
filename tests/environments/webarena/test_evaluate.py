"""Evaluators: texts, addresses, pages, rows and changes, and task files that say what cannot be checked."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from web_server import FOLDER

from envhub.sdk import ManifestError
from envhub.sdk.loader import mount

evaluate = importlib.import_module(f"{mount(FOLDER)}.evaluate")
texts = importlib.import_module(f"{mount(FOLDER)}.evaluate.texts")
addresses = importlib.import_module(f"{mount(FOLDER)}.evaluate.addresses")
web_task = importlib.import_module(f"{mount(FOLDER)}.web_task")

SITES = {"shop": "shop.test", "forum": "forum.test", "wiki": "wiki.test"}


@pytest.mark.parametrize(
    ("text", "wanted", "included"),
    [
        ("The count is 0. Done.", "0", True),
        ("10 items", "0", False),
        ("0", "0", True),
        ("$0.00", "0", True),  # numbers are compared by value
        ("It costs $1,234.50.", "1234.5", True),
        ("It costs 12.50 dollars", "$12.50", True),
        ("15.25", "5", False),
        ("15.25", "15", False),
        ("3 of 10", "3.0", True),
        ("-5", "5", False),
        ("version 1.2.3", "1.2", False),
        ("A Linen Mug!", "linen mug", True),
        ("Linen mugs", "linen mug", False),
        ("15 stars", "5 stars", False),
        ("“Linen   Mug”", '"linen mug"', True),
        ("It’s Ada’s", "ada's", True),
        ("forum or board", "topic |OR| board", True),
        ("the boards", "topic |OR| board", False),
        ("anything", "", False),
        ("", "", True),
        ("ada@example.com", "ada@example.com", True),
    ],
)
def test_must_include_finds_whole_words_and_numbers(text: str, wanted: str, included: bool) -> None:
    assert texts.includes(text, wanted) is included


@pytest.mark.parametrize(
    ("text", "wanted", "same"),
    [
        ("Linen Mug", "linen mug", True),
        ("'Linen Mug'.", "linen mug", True),
        ("The Linen Mug", "linen mug", False),
        ("12.50", "$12.5", True),
        ("12.50 USD", "12.5", False),
        ("N/A", "n/a", True),
        ("", "n/a", False),
        ("wait...", "wait", False),
        ("two", "1 |OR| two", True),
    ],
)
def test_exact_match_is_of_the_whole_text(text: str, wanted: str, same: bool) -> None:
    assert texts.is_same(text, wanted) is same


@pytest.mark.parametrize(
    ("address", "wanted", "rule", "there"),
    [
        ("http://shop.test/basket", "http://shop.test/basket/", "EXACT", True),
        ("http://shop.test/basket/#top", "http://shop.test/basket/", "EXACT", True),
        ("http://SHOP.test/a%20b?y=2&x=1", "http://shop.test/a b/?x=1&y=2", "EXACT", True),
        ("http://shop.test/basket/?x=1", "http://shop.test/basket/", "EXACT", False),
        ("http://forum.test/basket/", "http://shop.test/basket/", "EXACT", False),
        ("http://shop.test/catalogue/mug_1/reviews/", "http://shop.test/catalogue/mug_1/", "GOLD in PRED", True),
        ("http://shop.test/catalogue/mug_12/", "http://shop.test/catalogue/mug_1", "GOLD in PRED", False),
        ("http://shop.test/x?sort=price&page=2", "http://shop.test/x?sort=price", "GOLD in PRED", True),
        ("http://shop.test/x?page=2", "http://shop.test/x?sort=price", "GOLD in PRED", False),
        ("http://shop.test/b", "http://shop.test/a |OR| http://shop.test/b", "GOLD in PRED", True),
        ("about:blank", "http://shop.test/", "GOLD in PRED", False),
    ],
)
def test_url_match(address: str, wanted: str, rule: str, there: bool) -> None:
    assert addresses.is_at(address, wanted, rule) is there


@dataclass(frozen=True)
class Change:
    added: Sequence[Mapping[str, Any]] = ()
    removed: Sequence[Mapping[str, Any]] = ()


class Left:
    """What an episode left behind, in memory; each question is kept."""

    def __init__(self, pages: dict[str, Any] | None = None, rows: Any = (), changes: Any = None) -> None:
        self.pages, self.given, self.changed = pages or {}, rows, changes or {}
        self.asked: list[str] = []

    async def look(self, address: str, expression: str) -> Any:
        assert "document" in expression
        self.asked.append(address)
        return self.pages[address]

    async def rows(self, sql: str) -> Any:
        self.asked.append(sql)
        return self.given

    async def changes(self) -> Any:
        self.asked.append("changes")
        return self.changed

    async def judge(self, spec: dict[str, Any], answer: str = "", address: str = "http://shop.test/") -> Any:
        resolve = lambda text: web_task.resolve(text, SITES)  # noqa: E731
        evidence = evaluate.Evidence(answer, address, resolve, self.look, self.rows, self.changes)
        return await evaluate.judge(evaluate.Evaluation.model_validate(spec), evidence)


async def test_program_html_looks_at_the_address_or_where_the_agent_ended() -> None:
    spec = {
        "eval_types": ["program_html"],
        "program_html": [
            {"url": "last", "locator": "document.title", "required_contents": {"exact_match": "Basket"}},
            {"url": "__WIKI__/a/", "required_contents": {"must_include": ["Lisbon", "tram |OR| bus"]}},
        ],
    }
    pages = {"http://shop.test/b/": "Basket", "http://wiki.test/a/": "In Lisbon take a bus."}
    left = Left(pages)
    assert await left.judge(spec, address="http://shop.test/b/") == {"program_html": ""}
    assert left.asked == list(pages)
    verdict = await Left({**pages, "http://wiki.test/a/": "In Lisbon."}).judge(spec, address="http://shop.test/b/")
    assert "'In Lisbon.'" in verdict["program_html"]


async def test_db_compares_rows_in_order_and_unchanged_counts_rows_by_table() -> None:
    spec = {
        "eval_types": ["db", "unchanged"],
        "db": [{"sql": "select 1", "equals": [["a", 1], ["b", 2.5]]}],
        "unchanged": {"allowed": {"basket_line": [1, 0]}},
    }
    line = Change(added=[{"id": 1}])
    assert await Left(rows=[("a", 1), ("b", 2.5)], changes={"basket_line": line}).judge(spec) == {
        "db": "",
        "unchanged": "",
    }
    verdicts = await Left(rows=[("b", 2.5), ("a", 1)], changes={"basket_line": line, "order_order": line}).judge(spec)
    assert verdicts["db"].startswith("select 1 gave")
    assert verdicts["unchanged"] == "order_order +1 -0 (allowed +0 -0)"


async def test_databases_are_read_before_pages_are_loaded() -> None:
    left = Left({"http://shop.test/": "x"}, rows=[[1]])
    await left.judge(
        {
            "eval_types": ["program_html", "db", "unchanged"],
            "program_html": [{"url": "last", "required_contents": {"must_include": ["x"]}}],
            "db": [{"sql": "select 1", "equals": [[1]]}],
            "unchanged": {},
        }
    )
    assert left.asked == ["select 1", "changes", "http://shop.test/"]


async def test_an_answer_that_recites_the_page_is_none() -> None:
    spec = {"eval_types": ["string_match"], "reference_answers": {"must_include": ["42"]}}
    assert await Left().judge(spec, "It is 42") == {"string_match": ""}
    assert (await Left().judge(spec, "42 " * 500))["string_match"]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"eval_types": ["string_match"], "reference_answers": {"fuzzy_match": ["x"]}}, "needs a language model"),
        ({"eval_types": ["string_match"], "reference_answers": {}}, "needs exact_match or must_include"),
        ({"eval_types": ["string_match"]}, "nothing to check"),
        ({"eval_types": ["string_match"], "reference_answers": {"must_include": []}}, "at least 1"),
        ({"eval_types": []}, "at least 1"),
        ({"eval_types": ["url_match"], "reference_url": "x", "db": [{"sql": "x", "equals": []}]}, "does not name"),
        ({"eval_types": ["url_match"], "reference_url": "x", "url_notes": "EXACT"}, "Extra inputs"),
        ({"eval_types": ["program_html"], "program_html": [
            {"url": "func:last()", "required_contents": {"exact_match": "x"}}]}, "not supported"),
    ],
)  # fmt: skip
def test_what_cannot_be_checked_is_refused_when_tasks_are_read(spec: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        evaluate.Evaluation.model_validate(spec)


def line(**changed: Any) -> str:
    answer = {"eval_types": ["string_match"], "reference_answers": {"exact_match": "SECRET"}}
    task = {"task_id": 7, "sites": ["shop"], "start_url": "__SHOP__/a/", "intent_template": "", "intent": "Go.",
            "intent_template_id": 3, "eval": answer, "split": "train"}  # fmt: skip
    return json.dumps({**task, **changed}) + "\n"


def test_tasks_take_the_sites_names_and_keep_the_answer_private(tmp_path: Path) -> None:
    text = line(login={"shop": "boris"}, intent="See __SHOP__/a/.")
    (tmp_path / "a.jsonl").write_text(text)
    task = web_task.read_web_tasks(tmp_path, {"shop": "store.example"}).get("webarena-7")
    assert task.metadata["start_url"] == "http://store.example/a/"
    assert "You are logged in to the shop as boris." in str(task.prompt[1].content)
    assert "See http://store.example/a/." in str(task.prompt[1].content)
    assert "SECRET" not in task.model_dump_json()
    other = text.replace("SECRET", "OTHER")
    (tmp_path / "a.jsonl").write_text(other)
    assert web_task.read_web_tasks(tmp_path, {"shop": "store.example"}).get("webarena-7").digest != task.digest


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (line() + line(task_id=8, split="test"), "template 3 is in both splits, see task 8"),
        (line() + line(), "two tasks have the id 'webarena-7'"),
        (line(eval={"eval_types": ["string_match"], "reference_answers": {"fuzzy_match": "x"}}), r"a\.jsonl:1: eval"),
        (line(start_url="__SHOP__ |AND| __WIKI__"), "several start addresses"),
        (line(difficulty=3), "difficulty: Extra inputs"),
        (line() + "{", r"a\.jsonl:2: the line: Invalid JSON"),
    ],
)
def test_a_task_file_with_a_mistake_is_refused_with_its_place(tmp_path: Path, lines: str, problem: str) -> None:
    (tmp_path / "a.jsonl").write_text(lines)
    with pytest.raises(ManifestError, match=problem):
        web_task.read_web_tasks(tmp_path, SITES)


def test_a_folder_without_tasks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="no tasks in"):
        web_task.read_web_tasks(tmp_path, SITES)
