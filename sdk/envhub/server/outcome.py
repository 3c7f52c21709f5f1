"""Outcome: one step of a session, its reply or its error, and its record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
from pydantic_core import PydanticSerializationError

from envhub.sdk.errors import EnvhubError, EnvironmentFailed, InvalidRequest, ServerError
from envhub.sdk.messages import Action, StepResult, TextPart, WireModel
from envhub.server.recording import Recorder


class Outcome:
    """One step: its action, and once it is done its reply or its error. InvalidRequest: the action has no JSON form.

    Not an asyncio future: whoever waits is called at once, which at thousands of steps a second is worth having.
    """

    __slots__ = ("_waiting", "action", "action_json", "error", "index", "reply")

    def __init__(self, index: int, action: Action) -> None:
        self.index, self.action = index, action
        self.action_json = _action_json(action)
        self.reply: bytes | None = None
        """`Stepped` as JSON."""
        self.error: EnvhubError | None = None
        self._waiting: list[Callable[[Outcome], None]] | None = []
        """None once it is done."""

    @property
    def done(self) -> bool:
        """It has its reply or its error."""
        return self._waiting is None

    @property
    def failure(self) -> EnvhubError:
        """The error of an outcome without a reply."""
        return self.error or ServerError(f"step {self.index} has no outcome yet")

    def then(self, call: Callable[[Outcome], None]) -> None:
        """Call when it is done; at once if it is."""
        if self._waiting is None:
            call(self)
        else:
            self._waiting.append(call)

    async def wait(self) -> bytes:
        """The reply.

        Raises:
            EnvhubError: the step failed.
        """
        if self._waiting is not None:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.then(lambda _: None if done.done() else done.set_result(None))
            await done
        if self.reply is None:
            raise self.failure
        return self.reply

    def answer(self, result: bytes) -> None:
        """Settle it with a result's JSON; too late changes nothing."""
        if self._waiting is not None:
            self.reply = b'{"index":%d,"result":%b}' % (self.index, result)
            self._tell()

    def refuse(self, error: EnvhubError) -> None:
        """Settle it with an error; too late changes nothing."""
        if self._waiting is not None:
            self.error = error
            self._tell()

    def _tell(self) -> None:
        waiting, self._waiting = self._waiting or (), None
        for call in waiting:
            call(self)


def to_json(model: WireModel) -> bytes:
    """A model's JSON.

    Raises:
        EnvironmentFailed: the environment put something into it that JSON has no form for.
    """
    try:
        return model.__pydantic_serializer__.to_json(model)
    except PydanticSerializationError as error:
        raise EnvironmentFailed(f"the environment's result has no JSON form: {error}") from error


def _action_json(action: Action) -> bytes:
    """Raises InvalidRequest where it cannot be recorded (nested beyond all measure), before anything is executed."""
    try:
        return action.__pydantic_serializer__.to_json(action)
    except PydanticSerializationError as error:
        raise InvalidRequest(f"the action has no JSON form: {error}") from error


def result_json(result: StepResult, recorder: Recorder) -> tuple[bytes, bytes]:
    """A result's JSON as it is answered and as it is recorded (with images by digest)."""
    parts = result.observation.parts
    if len(parts) == 1 and type(parts[0]) is TextPart and not (result.info or result.rewards or result.ended):
        plain = _plain_json(parts[0].text, result.reward)
        return plain, plain
    answered = to_json(result)
    seen = recorder.stored(result.observation)
    if seen is result.observation:
        return answered, answered
    return answered, to_json(result.model_copy(update={"observation": seen}))


def _plain_json(text: str, reward: float | None) -> bytes:
    """What `to_json` gives of the most common result, one text in the midst of an episode, in a third of its time."""
    try:
        return _PLAIN % (msgspec.json.encode(text), msgspec.json.encode(reward))
    except UnicodeEncodeError as error:
        raise EnvironmentFailed(f"the environment's result has no JSON form: {error}") from error


_PLAIN = (
    b'{"observation":{"parts":[{"type":"text","text":%b}]},"reward":%b,"rewards":{},'
    b'"terminated":false,"truncated":false,"end":null,"info":{}}'
)


__all__ = ["Outcome", "result_json", "to_json"]
