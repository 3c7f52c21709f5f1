"""Ledger: what is recorded and counted of one episode. Nothing is acknowledged that is not in it."""

from __future__ import annotations

import time

from envhub.sdk.errors import EnvhubError
from envhub.sdk.messages import Action, EndReason, JsonObject, StepResult
from envhub.sdk.trajectory import EndRecord, OpenRecord
from envhub.server.outcome import Outcome, result_json, to_json
from envhub.server.recording import Done, Recorder


class Ledger:
    """The records of one session, and the return so far."""

    __slots__ = ("_head", "_log", "_recorder", "parts", "session", "total")

    def __init__(self, session: str, recorder: Recorder) -> None:
        self.session, self._recorder, self._log = session, recorder, recorder.new_log()
        self._head = b'{"record":"step","session":"%b","index":' % session.encode()
        self.total: float | None = None
        """None until a reward was given."""
        self.parts: dict[str, float] = {}

    def begin(self, record: OpenRecord) -> None:
        """Write the episode's first record."""
        self._log.append(to_json(record))

    def entry(self, outcome: Outcome, result: StepResult, duration_s: float) -> tuple[bytes, bytes]:
        """A step's answer and its line, a `StepRecord` put together by hand: this runs once a step.

        Raises:
            EnvironmentFailed: the result has no JSON form.
        """
        answer, kept = result_json(result, self._recorder)
        line = b'%b%d,"action":%b,"result":%b,"started_s":%.6f,"duration_s":%.6f}' % (
            self._head,
            outcome.index,
            outcome.action_json,
            kept,
            time.time() - duration_s,
            duration_s,
        )
        return answer, line

    def write(self, line: bytes) -> None:
        """Write a line now.

        Raises:
            ServerError: it could not be written.
        """
        self._log.append(line)

    def write_soon(self, line: bytes, done: Done) -> None:
        """Write a line together with the others of this turn of the loop, then call `done`."""
        self._log.append_soon(line, done)

    def count(self, result: StepResult) -> None:
        """Add a result's rewards to the return."""
        if result.reward is None:
            return
        self.total = (self.total or 0.0) + result.reward
        for name, value in result.rewards.items():
            self.parts[name] = self.parts.get(name, 0.0) + value

    def end(
        self, end: EndReason, problem: JsonObject | None, result: StepResult | None, action: Action | None
    ) -> EnvhubError | None:
        """Write the last record; why it could not be, where it could not."""
        record = EndRecord(
            session=self.session, end=end, error=problem, ended_s=time.time(), result=result, action=action
        )
        try:
            self._log.append(to_json(record))
        except EnvhubError as failure:
            return failure
        return None

    def read(self) -> bytes:
        """All records so far, JSONL."""
        return self._log.read()


__all__ = ["Ledger"]
