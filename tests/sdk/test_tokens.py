"""Samples: what each step adds, and the sequences rebuilt from it. Numbers worked by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from envhub.sdk import Sample, TokenSequence, make_sample
from envhub.sdk.tokens import sequence_at

token = st.integers(0, 5)
"""Few values, so that prefixes often agree."""


def chain(*turns: tuple[list[int], list[int]]) -> list[Sample | None]:
    samples: list[Sample | None] = []
    for prompt, completion in turns:
        samples.append(make_sample(samples, prompt, completion, [-0.5] * len(completion)))
    return samples


def test_prompt_that_extends_the_last_sequence_stores_only_what_is_new() -> None:
    first, second = chain(([1, 2], [3]), ([1, 2, 3, 4], [5, 6]))
    assert first is not None
    assert second is not None
    assert (first.parent, first.keep, first.prompt_ids) == (None, 0, (1, 2))
    assert (second.parent, second.keep, second.prompt_ids, second.completion_ids) == (0, 3, (4,), (5, 6))
    assert sequence_at([first, second], 1) == TokenSequence(
        (1, 2, 3, 4, 5, 6), (0.0, 0.0, -0.5, 0.0, -0.5, -0.5), (0, 0, 1, 0, 1, 1)
    )


def test_prompt_that_does_not_extend_it_forks_at_the_common_prefix() -> None:
    samples = chain(([1, 2], [3, 4]), ([1, 2, 3, 9], [5]))
    fork = samples[1]
    assert fork is not None
    assert (fork.parent, fork.keep, fork.prompt_ids) == (0, 3, (9,))
    assert sequence_at(samples, 1).ids == (1, 2, 3, 9, 5)
    assert sequence_at(samples, 0).ids == (1, 2, 3, 4)


def test_prompt_with_nothing_in_common_starts_afresh() -> None:
    sample = chain(([1, 2], [3]), ([7], [8]))[1]
    assert sample is not None
    assert (sample.parent, sample.keep, sample.prompt_ids) == (None, 0, (7,))


def test_step_without_a_sample_is_skipped_when_looking_for_the_parent() -> None:
    samples = [*chain(([1], [2])), None]
    sample = make_sample(samples, [1, 2, 3], [4], [-1.0], policy_version=7)
    assert (sample.parent, sample.keep, sample.policy_versions) == (0, 2, (7,))


@given(st.lists(st.tuples(st.lists(token, max_size=6), st.lists(token, max_size=4)), min_size=1, max_size=6))
def test_every_whole_prompt_and_completion_comes_back(turns: list[tuple[list[int], list[int]]]) -> None:
    samples = chain(*turns)
    for index, (prompt, completion) in enumerate(turns):
        sequence = sequence_at(samples, index)
        assert sequence.ids == (*prompt, *completion)
        assert len(sequence.logprobs) == len(sequence.mask) == len(sequence.ids)


@given(
    st.lists(st.integers(-(2**31), 2**31 - 1), max_size=20).flatmap(
        lambda ids: st.tuples(
            st.just(ids), st.lists(st.floats(width=32, allow_nan=False), min_size=len(ids), max_size=len(ids))
        )
    )
)
def test_arrays_survive_json_exactly(content: tuple[list[int], list[float]]) -> None:
    ids, logprobs = content
    sample = Sample(completion_ids=tuple(ids), logprobs=tuple(logprobs), mask=(1,) * len(ids))
    again = Sample.model_validate_json(sample.model_dump_json())
    assert again == sample
    assert again.logprobs == tuple(logprobs)


@pytest.mark.parametrize(
    "document",
    [
        {"completion_ids": [1], "logprobs": [], "mask": [1]},
        {"completion_ids": [1], "logprobs": [0.0], "mask": []},
        {"completion_ids": [1], "logprobs": [0.0], "mask": [1], "policy_versions": [1, 2]},
        {"prompt_ids": [2**31]},
        {"prompt_ids": None},
        {"prompt_ids": "12"},
        {"prompt_ids": {"dtype": "int8", "data": "AA=="}},
        {"prompt_ids": {"dtype": "int32", "data": "AAAA"}},
        {"prompt_ids": {"dtype": "int32", "data": "no base64"}},
        {"keep": -1},
    ],
)
def test_arrays_that_do_not_fit_are_refused(document: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Sample.model_validate(document)


@pytest.mark.parametrize("bad", [Sample(parent=0), Sample(parent=5), Sample(keep=1)])
def test_record_whose_parent_is_no_earlier_step_is_refused(bad: Sample) -> None:
    with pytest.raises(ValueError, match=r"not an earlier step|keeps 1 tokens"):
        sequence_at([bad], 0)
