"""Trajectories: lossless JSONL, torn files, returns."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envhub.sdk import (
    Action,
    EndReason,
    InvalidRequest,
    Observation,
    Sample,
    StepResult,
    Task,
    ToolCall,
    Trajectory,
    read_trajectories,
    write_trajectories,
)
from envhub.sdk.trajectory import EndRecord, OpenRecord, StepRecord, mean_reward

text = st.text(st.characters(codec="utf-8"), max_size=20)
number = st.floats(allow_nan=False, allow_infinity=False)
json_value = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | number | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
json_object = st.dictionaries(text, json_value, max_size=3)
actions = st.one_of(
    st.builds(Action, message=text),
    st.builds(
        lambda name, given: Action(tool_calls=(ToolCall(name=name, arguments=given, id="1"),)), text, text | json_object
    ),
)
results = st.builds(
    StepResult,
    observation=st.builds(Observation.of, text),
    reward=st.none() | number,
    rewards=st.dictionaries(text, number, max_size=2),
    info=json_object,
)
samples = st.lists(st.tuples(st.integers(0, 2**31 - 1), st.floats(width=32, max_value=0)), max_size=5).map(
    lambda pairs: Sample(
        completion_ids=tuple(token for token, _ in pairs),
        logprobs=tuple(logprob for _, logprob in pairs),
        mask=(1,) * len(pairs),
    )
)


def opened(session: str = "s", observation: str = "") -> OpenRecord:
    return OpenRecord(
        session=session,
        environment="test",
        environment_version="1",
        task=Task(id="t", seed=3),
        task_digest="sha256:0",
        observation=Observation.of(observation),
        opened_s=0.5,
    )


def stepped(index: int, result: StepResult, session: str = "s", sample: Sample | None = None) -> StepRecord:
    return StepRecord(
        session=session, index=index, action=Action(message="go"), result=result,
        started_s=1.0, duration_s=0.25, sample=sample,
    )  # fmt: skip


def ended(end: EndReason = "terminated", session: str = "s", result: StepResult | None = None) -> EndRecord:
    return EndRecord(session=session, end=end, ended_s=2.0, result=result)


def reward(value: float | None, **parts: float) -> StepResult:
    return StepResult(observation=Observation(), reward=value, rewards=parts)


def episode(end: EndReason, *values: float | None) -> Trajectory:
    steps = tuple(stepped(index, reward(value)) for index, value in enumerate(values))
    return Trajectory(open=opened(), steps=steps, ended=ended(end))


@given(text, st.lists(st.tuples(actions, results, st.none() | samples), max_size=4), st.booleans())
def test_round_trip_is_lossless(
    tmp_path_factory: pytest.TempPathFactory,
    observation: str,
    turns: list[tuple[Action, StepResult, Sample | None]],
    finished: bool,
) -> None:
    steps = tuple(
        stepped(index, result, sample=sample).model_copy(update={"action": action})
        for index, (action, result, sample) in enumerate(turns)
    )
    trajectory = Trajectory(open=opened(observation=observation), steps=steps, ended=ended() if finished else None)
    file = tmp_path_factory.getbasetemp() / "round-trip.jsonl"
    file.write_text(trajectory.to_jsonl(), encoding="utf-8", newline="")
    assert read_trajectories(file) == [trajectory]
    assert read_trajectories(trajectory.to_jsonl().split("\n")) == [trajectory]


def test_private_part_of_the_task_is_not_recorded() -> None:
    record = opened().model_copy(update={"task": Task(id="t", private={"answer": "s3cret"})})
    assert "s3cret" not in Trajectory(open=record).to_jsonl()


def test_interleaved_episodes_are_told_apart(tmp_path: Path) -> None:
    records = [opened("a"), opened("b"), stepped(0, reward(1.0), "b"), stepped(0, reward(0.5), "a"), ended(session="b")]
    file = tmp_path / "two.jsonl"
    file.write_text("".join(record.model_dump_json() + "\n" for record in records), encoding="utf-8")
    first, second = read_trajectories(file)
    assert (first.session, first.end, first.reward) == ("a", None, None)
    assert (second.session, second.end, second.reward) == ("b", "terminated", 1.0)


@pytest.mark.parametrize("torn_bytes", [1, 5, 40])
def test_line_a_killed_writer_left_unfinished_is_left_out(tmp_path: Path, torn_bytes: int) -> None:
    file = tmp_path / "torn.jsonl"
    whole = opened(observation="\N{SNOWMAN}" * 30).model_dump_json().encode() + b"\n"
    file.write_bytes(whole + whole.replace(b'"s"', b'"later"')[:torn_bytes])
    assert [trajectory.session for trajectory in read_trajectories(file)] == ["s"]


def test_file_torn_within_a_character_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "torn.jsonl"
    file.write_bytes(opened().model_dump_json().encode() + b'\n{"record": "\xe2\x98')
    assert len(read_trajectories(file)) == 1


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["{"], "line 1 is not a record"),
        ([opened().model_dump_json(), '{"record": "jump"}'], "line 2 is not a record"),
        ([stepped(0, reward(None)).model_dump_json()], "line 1: session s was never opened"),
        ([opened().model_dump_json()] * 2, "line 2: session s is opened a second time"),
        ([opened().model_dump_json(), stepped(1, reward(None)).model_dump_json()], "step 1 where step 0 should be"),
        ([opened().model_dump_json(), ended().model_dump_json(), ended().model_dump_json()], "record after its end"),
        ([opened().model_copy(update={"version": 2}).model_dump_json()], "version 2 is newer"),
    ],
)
def test_records_that_do_not_fit_are_named_by_line(lines: list[str], problem: str) -> None:
    with pytest.raises(InvalidRequest, match=problem):
        read_trajectories(lines)


@pytest.mark.parametrize("end", ["terminated", "max_turns", "episode_time"])
def test_return_is_the_sum_of_the_steps_and_of_what_came_after_them(end: EndReason) -> None:
    trajectory = episode(end, 0.25, None, 0.5)
    assert trajectory.reward == 0.75
    late = trajectory.model_copy(update={"ended": ended(end, result=reward(0.125, solved=0.125))})
    assert late.reward == 0.875
    assert late.rewards == {"solved": 0.125}


@pytest.mark.parametrize("end", ["step_deadline", "error", "lease_lost", "closed", "unresolved"])
def test_other_endings_have_no_return_whatever_the_steps_gave(end: EndReason) -> None:
    assert episode(end, 1.0, 1.0).reward is None


def test_no_reward_given_is_none_and_not_zero() -> None:
    assert episode("terminated", None).reward is None


def test_mean_counts_only_episodes_that_have_a_return() -> None:
    trajectories = [episode("terminated", 1.0), episode("error", 1.0), episode("max_turns", 0.0)]
    assert mean_reward(trajectories) == 0.5
    assert mean_reward([episode("error")]) is None


def test_tokens_of_the_last_step_by_default() -> None:
    sample = Sample(prompt_ids=(1,), completion_ids=(2,), logprobs=(-1.0,), mask=(1,))
    follow = Sample(parent=0, keep=2, prompt_ids=(3,), completion_ids=(4,), logprobs=(-2.0,), mask=(1,))
    steps = (stepped(0, reward(None), sample=sample), stepped(1, reward(None), sample=follow))
    trajectory = Trajectory(open=opened(), steps=steps)
    assert trajectory.tokens().ids == (1, 2, 3, 4)
    assert trajectory.tokens(0).ids == (1, 2)
    with pytest.raises(IndexError):
        Trajectory(open=opened()).tokens()


def test_writing_appends(tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    for session in ("a", "b"):
        with file.open("a", encoding="utf-8") as stream:
            write_trajectories(stream, [Trajectory(open=opened(session))])
    assert [trajectory.session for trajectory in read_trajectories(file)] == ["a", "b"]
