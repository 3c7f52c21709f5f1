"""Trajectory: one episode as it happened, and its lossless JSONL form.

A file holds records, one a line, of any number of episodes, in any interleaving; `session` joins them. The server
appends each record before it acknowledges the step; a client writes the same records with its samples in them.

    {"record": "open",  "session": …, "version": 1, "environment": …, "task": …, "observation": …}
    {"record": "step",  "session": …, "index": 0, "action": …, "result": …, "started_s": …, "duration_s": …}
    {"record": "end",   "session": …, "end": "terminated", "error": null}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from envhub.sdk.errors import InvalidRequest
from envhub.sdk.messages import Action, EndReason, JsonObject, Observation, StepResult, WireModel
from envhub.sdk.task import Task
from envhub.sdk.tokens import Sample, TokenSequence, sequence_at

VERSION = 1
TRAINABLE: frozenset[EndReason] = frozenset({"terminated", "max_turns", "episode_time"})
"""The endings that carry a reward; every other one is replaced, never counted as zero."""


class OpenRecord(WireModel):
    """The beginning of an episode."""

    record: Literal["open"] = "open"
    session: str
    version: int = VERSION
    environment: str
    environment_version: str
    task: Task
    """Its public part, with the episode's seed."""
    task_digest: str
    driver: Literal["control", "mcp"] = "control"
    observation: Observation
    opened_s: float
    """Unix time."""


class StepRecord(WireModel):
    """One step."""

    record: Literal["step"] = "step"
    session: str
    index: int
    action: Action
    result: StepResult
    started_s: float
    """Unix time at which the step began."""
    duration_s: float
    """Seconds it took, on a monotonic clock."""
    sample: Sample | None = None
    """What the policy sampled; None in the server's own recording."""


class EndRecord(WireModel):
    """The end of an episode."""

    record: Literal["end"] = "end"
    session: str
    end: EndReason
    error: JsonObject | None = None
    """Problem document where the episode failed."""
    ended_s: float
    """Unix time."""
    result: StepResult | None = None
    """Rewards given after the last step (an episode cut by time is graded without a step)."""
    action: Action | None = None
    """The action whose step failed; it has no step record."""


Record = Annotated[OpenRecord | StepRecord | EndRecord, Field(discriminator="record")]
_RECORD: TypeAdapter[OpenRecord | StepRecord | EndRecord] = TypeAdapter(Record)


class Trajectory(WireModel):
    """One episode."""

    open: OpenRecord
    steps: tuple[StepRecord, ...] = ()
    ended: EndRecord | None = None
    """None where the record stops before the end (a server killed, an episode still running)."""

    @property
    def session(self) -> str:
        """The session's id."""
        return self.open.session

    @property
    def end(self) -> EndReason | None:
        """Why it ended; None while it has not."""
        return self.ended.end if self.ended else None

    @property
    def reward(self) -> float | None:
        """The return: sum of all rewards given. None unless the episode ended in a way that has a reward."""
        if self.ended is None or self.ended.end not in TRAINABLE:
            return None
        results = [step.result for step in self.steps] + ([self.ended.result] if self.ended.result else [])
        given = [result.reward for result in results if result.reward is not None]
        return sum(given) if given else None

    @property
    def rewards(self) -> dict[str, float]:
        """The return by named part."""
        total: dict[str, float] = {}
        results = [step.result for step in self.steps] + (
            [self.ended.result] if self.ended and self.ended.result else []
        )
        for result in results:
            for name, value in result.rewards.items():
                total[name] = total.get(name, 0.0) + value
        return total

    def tokens(self, index: int = -1) -> TokenSequence:
        """The whole token sequence of a step (default the last): ids, logprobs and mask, all (T,)."""
        samples = [step.sample for step in self.steps]
        return sequence_at(samples, range(len(samples))[index])

    def records(self) -> Iterator[OpenRecord | StepRecord | EndRecord]:
        """Its records in order."""
        yield self.open
        yield from self.steps
        if self.ended:
            yield self.ended

    def to_jsonl(self) -> str:
        """Its lines; `read_trajectories` gives back an equal trajectory."""
        return "".join(record.model_dump_json(exclude_defaults=False) + "\n" for record in self.records())


def write_trajectories(file: IO[str], trajectories: Iterable[Trajectory]) -> None:
    """Append trajectories to an open text file."""
    for trajectory in trajectories:
        file.write(trajectory.to_jsonl())


def read_trajectories(source: Path | Iterable[str]) -> list[Trajectory]:
    """The trajectories of a JSONL file (or its lines), in order of opening.

    The last line of a file without its newline is what a killed writer leaves; it is left out.

    Raises:
        InvalidRequest: a line that is no record, or records that do not fit together; says which line.
    """
    # Lines end in \n alone: str.splitlines would also cut at U+2028 and its like, which JSON strings may hold.
    lines: Iterable[str | bytes] = source.read_bytes().split(b"\n")[:-1] if isinstance(source, Path) else source
    builders: dict[str, _Builder] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            _add(builders, number, line)
    return [builder.build() for builder in builders.values()]


def _add(builders: dict[str, _Builder], number: int, line: str | bytes) -> None:
    try:
        record = _RECORD.validate_json(line)
    except ValidationError as error:
        raise InvalidRequest(f"line {number} is not a record: {error.errors()[0]['msg']}") from error
    if isinstance(record, OpenRecord):
        if record.version > VERSION:
            raise InvalidRequest(f"line {number}: version {record.version} is newer than {VERSION}; update envhub")
        if record.session in builders:
            raise InvalidRequest(f"line {number}: session {record.session} is opened a second time")
        builders[record.session] = _Builder(record)
        return
    if record.session not in builders:
        raise InvalidRequest(f"line {number}: session {record.session} was never opened in this file")
    problem = builders[record.session].add(record)
    if problem:
        raise InvalidRequest(f"line {number}: session {record.session}: {problem}")


class _Builder:
    def __init__(self, opened: OpenRecord) -> None:
        self._open = opened
        self._steps: list[StepRecord] = []
        self._end: EndRecord | None = None

    def add(self, record: StepRecord | EndRecord) -> str | None:
        """Add a record; says what is wrong where it does not follow those before it."""
        if self._end is not None:
            return "a record after its end"
        if isinstance(record, EndRecord):
            self._end = record
        elif record.index != len(self._steps):
            return f"step {record.index} where step {len(self._steps)} should be"
        else:
            self._steps.append(record)
        return None

    def build(self) -> Trajectory:
        return Trajectory(open=self._open, steps=tuple(self._steps), ended=self._end)


def mean_reward(trajectories: Sequence[Trajectory]) -> float | None:
    """Mean return over the episodes that have one; None where none has."""
    rewards = [trajectory.reward for trajectory in trajectories if trajectory.reward is not None]
    return sum(rewards) / len(rewards) if rewards else None


__all__ = [
    "TRAINABLE",
    "VERSION",
    "EndRecord",
    "OpenRecord",
    "Record",
    "StepRecord",
    "Trajectory",
    "mean_reward",
    "read_trajectories",
    "write_trajectories",
]
