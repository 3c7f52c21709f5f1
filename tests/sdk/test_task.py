"""Tasks and their sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from envhub.sdk import (
    JoinedTasks,
    ListedTasks,
    ManifestError,
    NotFound,
    SeededTasks,
    Task,
    choose_task,
    private_of,
    prompt_of,
    read_tasks,
)


def make(split: str, index: int) -> Task:
    return Task(id=SeededTasks.task_id(split, index), split=split, seed=index)


def listed(prefix: str, count: int) -> ListedTasks:
    return ListedTasks(Task(id=f"{prefix}{number}") for number in range(count))


def ids(tasks: list[Task]) -> list[str]:
    return [task.id for task in tasks]


def test_private_part_never_serialises_and_is_not_in_repr() -> None:
    task = Task(id="a", private={"answer": "s3cret"})
    assert "s3cret" not in task.model_dump_json() + repr(task) + str(task.model_dump())
    assert private_of(task, "answer") == "s3cret"


def test_missing_private_entry_names_the_task() -> None:
    with pytest.raises(ManifestError, match=r"'a' has no private 'answer'"):
        private_of(Task(id="a"), "answer")


def test_digest_changes_with_content_and_private_part_but_not_with_the_id() -> None:
    task = Task(id="a", prompt=prompt_of("go"), private={"answer": 1})
    assert task.digest == task.model_copy(update={"id": "b"}).digest
    assert task.digest != task.model_copy(update={"private": {"answer": 2}}).digest
    assert task.digest != task.model_copy(update={"prompt": prompt_of("stay")}).digest


def test_jsonl_of_a_folder_is_read_in_name_order_and_blank_lines_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text('{"id": "b0", "split": "test"}\n', encoding="utf-8")
    (tmp_path / "a.jsonl").write_text('\n{"id": "a0"}\r\n\n{"id": "a1"}', encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no task", encoding="utf-8")
    source = read_tasks(tmp_path)
    assert source.splits() == {"train": 2, "test": 1}
    assert ids(source.page("train", 0, 10)) == ["a0", "a1"]


def test_jsonl_lines_may_hold_unicode_line_separators(tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text('{"id": "a", "metadata": {"text": "one\u2028two\u0085three"}}\n', encoding="utf-8")
    assert read_tasks(file).get("a").metadata["text"] == "one\u2028two\u0085three"


@pytest.mark.parametrize("line", ["{", "[]", '{"id": 3}', '{"id": "a", "answer": 1}', '"a"', "\ufeff{}"])
def test_bad_jsonl_line_is_named_by_file_and_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text('{"id": "fine"}\n\n' + line + "\n", encoding="utf-8")
    with pytest.raises(ManifestError, match=r"tasks\.jsonl:3: not a task"):
        read_tasks(file)


def test_bytes_that_are_not_utf8_are_named_by_line(tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(ManifestError, match=r"tasks\.jsonl:1"):
        read_tasks(file)


def test_missing_tasks_folder_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="one task a line"):
        read_tasks(tmp_path / "tasks")


def test_two_tasks_of_one_id_are_refused() -> None:
    with pytest.raises(ManifestError, match="'a0'"):
        ListedTasks([Task(id="a0"), Task(id="a0")])


def test_seeded_source_gives_the_same_task_for_ever_and_pages_without_end() -> None:
    source = SeededTasks(make, {"train": None, "test": 3})
    assert source.get("train-123456789") == make("train", 123456789)
    assert ids(source.page("train", 10**9, 2)) == ["train-1000000000", "train-1000000001"]
    assert ids(source.page("test", 2, 5)) == ["test-2"]
    assert source.page("nowhere", 0, 5) == []


@pytest.mark.parametrize("task_id", ["test-3", "train-01", "train--1", "train-", "train-²", "other-0", "train", ""])
def test_seeded_source_knows_one_spelling_an_index(task_id: str) -> None:
    with pytest.raises(NotFound, match="train-0…"):
        SeededTasks(make, {"train": None, "test": 3}).get(task_id)


def test_joined_pages_continue_in_the_next_source() -> None:
    source = JoinedTasks([listed("a", 3), listed("b", 2), SeededTasks(make, {"train": None, "test": 1})])
    assert source.splits() == {"train": None, "test": 1}
    assert ids(source.page("train", 0, 4)) == ["a0", "a1", "a2", "b0"]
    assert ids(source.page("train", 4, 3)) == ["b1", "train-0", "train-1"]
    assert ids(source.page("test", 0, 3)) == ["test-0"]
    assert source.get("b1").id == "b1"
    with pytest.raises(NotFound):
        source.get("c0")


def test_every_joined_task_is_on_exactly_one_page() -> None:
    source = JoinedTasks([listed("a", 3), listed("b", 4), listed("c", 1)])
    for limit in range(1, 10):
        seen = [task_id for offset in range(0, 8, limit) for task_id in ids(source.page("train", offset, limit))]
        assert seen == ["a0", "a1", "a2", "b0", "b1", "b2", "b3", "c0"]


def test_chosen_task_follows_from_the_seed() -> None:
    source = listed("a", 50)
    assert choose_task(source, None, 7) == choose_task(source, "train", 7)
    assert len({choose_task(source, None, seed).id for seed in range(50)}) > 20


def test_default_split_is_train_else_the_first() -> None:
    assert choose_task(ListedTasks([Task(id="a", split="test")]), None, 0).split == "test"


def test_choosing_from_an_unknown_or_empty_split_names_those_there_are() -> None:
    with pytest.raises(NotFound, match="there are train"):
        choose_task(listed("a", 1), "validation", 0)
    with pytest.raises(NotFound, match="there are none"):
        choose_task(ListedTasks([]), None, 0)
