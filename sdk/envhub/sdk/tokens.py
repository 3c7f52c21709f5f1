"""What a policy sampled, token by token, stored as what each step adds. Nothing is ever re-tokenised.

A step's sequence is: the first `keep` tokens of an earlier step's sequence (its `parent`), then `prompt_ids`, then
`completion_ids`. Where the prompt extends everything before it, `keep` is the parent's whole length; where it does
not (compaction, a sliding window, dropped thinking), the record forks at the longest common prefix.
"""

from __future__ import annotations

import base64
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, PlainSerializer, PlainValidator, model_validator

from envhub.sdk.messages import WireModel

_CODES: dict[str, Literal["i", "f", "b"]] = {"int32": "i", "float32": "f", "int8": "b"}


def _unpack(code: str) -> Any:
    def unpack(value: Any) -> Any:
        if isinstance(value, dict):
            if value.get("dtype") != code or not isinstance(value.get("data"), str):
                raise ValueError(f"a packed array needs dtype {code!r} and data in base64")
            packed = array(_CODES[code])
            packed.frombytes(base64.b64decode(value["data"], validate=True))
            return tuple(packed)
        try:
            return tuple(array(_CODES[code], value))
        except (TypeError, OverflowError) as error:
            raise ValueError(f"not an array of {code}: {error}") from error

    return unpack


def _pack(code: str) -> Any:
    def pack(value: Sequence[float]) -> dict[str, str]:
        raw = array(_CODES[code], value).tobytes()
        return {"dtype": code, "data": base64.b64encode(raw).decode()}

    return pack


def _packed(code: str) -> Any:
    return PlainValidator(_unpack(code)), PlainSerializer(_pack(code))


TokenIds = Annotated[tuple[int, ...], *_packed("int32")]
"""(T,) int32; on disk `{"dtype": "int32", "data": <base64 of little-endian bytes>}`."""
LogProbs = Annotated[tuple[float, ...], *_packed("float32")]
"""(T,) float32 natural logarithms."""
Mask = Annotated[tuple[int, ...], *_packed("int8")]
"""(T,) int8, 1 where the policy sampled the token."""


class Sample(WireModel):
    """The tokens one step adds."""

    parent: int | None = None
    """Step index whose sequence this one continues; None: it starts afresh."""
    keep: int = Field(default=0, ge=0)
    """How many tokens of the parent's sequence come first."""
    prompt_ids: TokenIds = ()
    """(P,) tokens given to the policy after those kept; mask 0."""
    completion_ids: TokenIds = ()
    """(C,) tokens that follow."""
    logprobs: LogProbs = ()
    """(C,) log-probability of each completion token under the distribution really sampled from."""
    mask: Mask = ()
    """(C,) 1 where the token was sampled, 0 where a framework added it."""
    policy_versions: TokenIds = ()
    """(C,) version of the weights that sampled each token; empty: not known."""

    @model_validator(mode="after")
    def _lengths(self) -> Sample:
        count = len(self.completion_ids)
        if len(self.logprobs) != count or len(self.mask) != count:
            raise ValueError(f"logprobs and mask must have the completion's length {count}")
        if len(self.policy_versions) not in (0, count):
            raise ValueError(f"policy_versions must be empty or have the completion's length {count}")
        return self


@dataclass(frozen=True)
class TokenSequence:
    """A step's whole sequence. All (T,)."""

    ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    """0.0 where mask is 0: not a probability of anything."""
    mask: tuple[int, ...] = ()

    def extended(self, sample: Sample) -> TokenSequence:
        """The sequence of a sample whose parent has this one."""
        keep, given = sample.keep, len(sample.prompt_ids)
        if keep > len(self.ids):
            raise ValueError(f"a sample keeps {keep} tokens of a parent that has {len(self.ids)}")
        return TokenSequence(
            self.ids[:keep] + sample.prompt_ids + sample.completion_ids,
            self.logprobs[:keep] + (0.0,) * given + sample.logprobs,
            self.mask[:keep] + (0,) * given + sample.mask,
        )


def sequence_at(samples: Sequence[Sample | None], index: int) -> TokenSequence:
    """The whole token sequence of step `index`."""
    chain: list[Sample] = []
    at: int | None = index
    while at is not None:
        sample = samples[at]
        if sample is None or (sample.parent is not None and sample.parent >= at):
            raise ValueError(f"step {at} has no sample, or its parent is not an earlier step")
        chain.append(sample)
        at = sample.parent
    sequence = TokenSequence()
    for sample in reversed(chain):
        sequence = sequence.extended(sample)
    return sequence


def make_sample(
    samples: Sequence[Sample | None],
    prompt_ids: Sequence[int],
    completion_ids: Sequence[int],
    logprobs: Sequence[float],
    *,
    mask: Sequence[int] | None = None,
    policy_version: int | None = None,
) -> Sample:
    """The sample of the next step, given the whole prompt the policy saw.

    Args:
        samples: samples of the steps so far.
        prompt_ids: (P,) everything in front of the completion, as sent to the engine.
        completion_ids: (C,) as returned by the engine.
        logprobs: (C,).
        mask: (C,); default all 1.
        policy_version: of the weights; None where not known.
    """
    parent = next((at for at in range(len(samples) - 1, -1, -1) if samples[at] is not None), None)
    before = sequence_at(samples, parent).ids if parent is not None else ()
    keep = _common_prefix(before, prompt_ids)
    count = len(completion_ids)
    return Sample(
        parent=parent if keep else None,
        keep=keep,
        prompt_ids=tuple(prompt_ids[keep:]),
        completion_ids=tuple(completion_ids),
        logprobs=tuple(logprobs),
        mask=(1,) * count if mask is None else tuple(mask),
        policy_versions=() if policy_version is None else (policy_version,) * count,
    )


def _common_prefix(before: Sequence[int], after: Sequence[int]) -> int:
    pairs = zip(before, after, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))


__all__ = ["LogProbs", "Mask", "Sample", "TokenIds", "TokenSequence", "make_sample", "sequence_at"]
