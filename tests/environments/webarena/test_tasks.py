"""webarena's stored tasks: each reference is what the seed's database says, and none is met by doing nothing."""

from __future__ import annotations

import importlib
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any

import pytest
import pytest_asyncio
import task_references as references
from web_server import FOLDER

from envhub.sdk.loader import mount
from envhub.sdk.paths import cache_dir

PACKAGE = mount(FOLDER)
addresses = importlib.import_module(f"{PACKAGE}.evaluate.addresses")
oracle = importlib.import_module(f"{PACKAGE}.oracle")
seed_cache = importlib.import_module(f"{PACKAGE}.sites.seed_cache")
spec = importlib.import_module(f"{PACKAGE}.evaluate.spec")
texts = importlib.import_module(f"{PACKAGE}.evaluate.texts")
web_task = importlib.import_module(f"{PACKAGE}.web_task")

SITES = {"shop": "shop.test", "forum": "forum.test", "wiki": "wiki.test"}
FILES = sorted((FOLDER / "tasks").glob("*.jsonl"))
TASKS: list[dict[str, Any]] = [json.loads(line) for file in FILES for line in file.read_text().splitlines()]
NEXT_STATUS = {"Pending": ("Being processed", "Cancelled"), "Being processed": ("Shipped", "Cancelled")}


def checked_by(kind: str) -> list[Any]:
    """The tasks that an evaluator checks, as parameters of a test."""
    return [pytest.param(t, id=str(t["task_id"])) for t in TASKS if kind in t["eval"]["eval_types"]]


def of_templates(*templates: int) -> list[Any]:
    """The tasks of some templates, as parameters of a test."""
    return [pytest.param(t, id=str(t["task_id"])) for t in TASKS if t["intent_template_id"] in templates]


def required(task: dict[str, Any]) -> Any:
    """What the answer must be."""
    return spec.ReferenceAnswers.model_validate(task["eval"]["reference_answers"])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def seed() -> AsyncIterator[sqlite3.Connection]:
    """The database that every session begins with."""
    folder = await seed_cache.ensure_seed(cache_dir() / "environments" / "webarena", SITES, lambda line: None)
    with closing(sqlite3.connect(f"file:{folder / 'db.sqlite3'}?mode=ro", uri=True)) as connection:
        yield connection


def test_both_splits_have_all_sites_and_templates_of_their_own() -> None:
    templates = {split: {t["intent_template_id"] for t in TASKS if t["split"] == split} for split in ("train", "test")}
    assert not templates["train"] & templates["test"]
    assert len(templates["train"] | templates["test"]) >= 20
    assert len(TASKS) >= 48
    for split in templates:
        assert {site for t in TASKS if t["split"] == split for site in t["sites"]} == set(SITES)
        assert any(len(t["sites"]) > 1 for t in TASKS if t["split"] == split)


def test_the_environment_reads_them() -> None:
    source = web_task.read_web_tasks(FOLDER / "tasks", SITES)
    assert sum(source.splits().values()) == len(TASKS)


@pytest.mark.parametrize("task", [pytest.param(t, id=str(t["task_id"])) for t in TASKS])
def test_an_intent_is_its_template_filled_in(task: dict[str, Any]) -> None:
    filled = task["intent_template"]
    for name, value in task["instantiation_dict"].items():
        assert f"{{{{{name}}}}}" in filled
        filled = filled.replace(f"{{{{{name}}}}}", value)
    assert filled == task["intent"]


@pytest.mark.parametrize("task", [pytest.param(t, id=str(t["task_id"])) for t in TASKS])
def test_a_near_miss_is_the_task_with_another_parameter(task: dict[str, Any]) -> None:
    near, given = oracle.TEMPLATES[task["intent_template_id"]].near, task["instantiation_dict"]
    assert near.keys() <= given.keys()
    assert {**given, **near} != given


@pytest.mark.parametrize("task", [pytest.param(t, id=str(t["task_id"])) for t in TASKS])
def test_what_changes_something_is_checked_in_the_database_and_beside_it(task: dict[str, Any]) -> None:
    kinds, allowed = set(task["eval"]["eval_types"]), task["eval"]["unchanged"]["allowed"]
    assert "unchanged" in kinds
    assert ("db" in kinds) == bool(allowed)
    assert kinds & {"string_match", "url_match", "db"}


@pytest.mark.parametrize("task", checked_by("string_match"))
def test_an_answer_is_what_the_seed_says(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    answer = references.answer(seed, task["intent_template_id"], task["instantiation_dict"])
    assert task["eval"]["reference_answers"] == {"exact_match": answer}


@pytest.mark.parametrize("task", checked_by("string_match"))
def test_other_answers_are_wrong(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    template, given = task["intent_template_id"], task["instantiation_dict"]
    near = references.answer(seed, template, {**given, **oracle.TEMPLATES[template].near})
    for answer in ("", task["intent"], near, f"{near} or {task['eval']['reference_answers']['exact_match']}"):
        assert not texts.meets(answer, required(task)), answer


@pytest.mark.parametrize("task", of_templates(104, 105, 206, 305))
def test_an_address_is_what_the_seed_says(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    wanted = references.address(seed, task["intent_template_id"], task["instantiation_dict"])
    assert task["eval"]["reference_url"] == wanted


@pytest.mark.parametrize("task", checked_by("url_match"))
def test_the_start_is_not_where_a_task_leads(task: dict[str, Any]) -> None:
    wanted = web_task.resolve(task["eval"]["reference_url"], SITES)
    for start in (task["start_url"], *(f"__{site.upper()}__/" for site in SITES)):
        assert not addresses.is_at(web_task.resolve(start, SITES), wanted, task["eval"]["url_note"])


@pytest.mark.parametrize("task", checked_by("db"))
def test_the_seed_does_not_hold_what_a_task_is_to_bring_about(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    holds = [[list(row) for row in seed.execute(check["sql"])] == check["equals"] for check in task["eval"]["db"]]
    assert not all(holds)


@pytest.mark.parametrize("task", of_templates(105))
def test_one_product_of_a_kind_is_of_the_material(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    title = references.title_of_material(seed, task["instantiation_dict"])
    assert task["eval"]["program_html"][0]["required_contents"] == {"exact_match": title}


@pytest.mark.parametrize("task", of_templates(106, 107, 401))
def test_the_shop_has_enough_of_what_is_to_be_bought(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    given = task["instantiation_dict"]
    quantity = int(given.get("quantity") or references.bridges(seed, given["river"]))
    assert references.stock(seed, given["product"]) >= quantity
    assert task["eval"]["db"][0]["equals"][0][:2] == [given["product"], quantity]


@pytest.mark.parametrize("task", of_templates(107))
def test_an_order_costs_what_the_seed_says(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    given = task["instantiation_dict"]
    total = references.price(seed, given["product"]) * int(given["quantity"])
    assert f"${total:.2f}" in task["eval"]["program_html"][0]["required_contents"]["must_include"]
    assert task["eval"]["db"][0]["equals"][0][2:] == list(references.default_address(seed, "ada"))


@pytest.mark.parametrize("task", of_templates(111))
def test_the_newest_order_may_get_its_status(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    given = task["instantiation_dict"]
    number = references.newest_order(seed, given["customer"])
    assert all(f"'{number}'" in check["sql"] for check in task["eval"]["db"])
    status = references.only(seed, "select status from order_order where number = :number", {"number": number})
    assert given["status"] in NEXT_STATUS[status]


@pytest.mark.parametrize("task", of_templates(113))
def test_only_the_stock_of_a_product_is_to_change(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    given = task["instantiation_dict"]
    price = round(references.price(seed, given["product"]), 2)
    assert task["eval"]["db"][0]["equals"] == [[int(given["stock"]), price]]


@pytest.mark.parametrize("task", of_templates(114))
def test_one_review_of_a_product_waits(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    number = references.waiting_review(seed, task["instantiation_dict"]["product"])
    assert f"r.id = {number} " in task["eval"]["db"][1]["sql"]


@pytest.mark.parametrize("task", of_templates(203))
def test_a_topic_is_to_be_started_on_a_board(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    given = task["instantiation_dict"]
    references.only(seed, "select id from forum_forum where name = :board and type = 0", {"board": given["board"]})
    assert task["eval"]["db"][0]["equals"] == [[given["board"], given["subject"], given["message"], "ada", 1]]


@pytest.mark.parametrize("task", of_templates(204, 402))
def test_a_reply_is_to_an_open_topic(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    given = task["instantiation_dict"]
    message = given.get("message") or f"${references.price(seed, given['product']):.2f}"
    assert task["eval"]["db"][0]["equals"] == [[given["subject"], message, "ada"]]
    assert task["eval"]["program_html"][0]["url"] == references.topic_address(seed, given["subject"])
    sql = "select status from forum_conversation_topic where subject = :subject"
    assert references.only(seed, sql, {"subject": given["subject"]}) == 0


@pytest.mark.parametrize("task", of_templates(205))
def test_a_vote_is_for_an_option_of_the_poll(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    sql = """select o.id from forum_polls_topicpolloption o join forum_polls_topicpoll p on p.id = o.poll_id
        join forum_conversation_topic t on t.id = p.topic_id where t.subject = :subject and o.text = :option"""
    references.only(seed, sql, task["instantiation_dict"])


@pytest.mark.parametrize("task", of_templates(303))
def test_a_sentence_is_new_to_its_article(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    given = task["instantiation_dict"]
    assert given["sentence"] not in references.article(seed, given["article"])
    assert task["eval"]["program_html"][0]["url"] == references.article_address(seed, given["article"])
    assert task["eval"]["db"][0]["equals"] == [[1, given["sentence"], 1]]


@pytest.mark.parametrize("task", of_templates(304))
def test_a_new_article_has_a_free_address(seed: sqlite3.Connection, task: dict[str, Any]) -> None:
    given = task["instantiation_dict"]
    parent = references.article_address(seed, given["parent"])
    assert task["eval"]["reference_url"] == f"{parent}{given['slug']}/"
    moved = references.rows_renumbered(seed, given["parent"])
    assert task["eval"]["unchanged"]["allowed"]["wiki_urlpath"] == [moved + 1, moved]
    taken = seed.execute("select count(*) from wiki_urlpath where slug = :slug", given).fetchone()
    assert taken == (0,)
