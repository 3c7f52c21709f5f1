"""Session: one live episode. Its steps, its deadlines, its end, and the promise that nothing is lost or invented.

A step runs in a task of the session, never of a connection: a lost connection cannot cancel it. Its outcome is kept
apart from that task, so that a deadline settles it even where the environment's code will not stop.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from functools import partial
from typing import Literal, Protocol

from envhub.sdk.errors import (
    Conflict,
    EnvhubError,
    LeaseLost,
    ServerError,
    SessionEnded,
)
from envhub.sdk.messages import Action, EndReason, JsonObject, Observation, StepResult
from envhub.sdk.task import Task
from envhub.sdk.trajectory import TRAINABLE
from envhub.sdk.wire import Driver, SessionStatus
from envhub.server.clock import Clock, Due
from envhub.server.episode import Episode
from envhub.server.grading import check_parts, grade
from envhub.server.hosting import HostedEnvironment
from envhub.server.ledger import Ledger
from envhub.server.outcome import Outcome
from envhub.server.terms import Terms

Cut = Literal["step_deadline", "closed", "lease_lost"]


class Owner(Protocol):
    """What a session tells the registry."""

    def spawn(self, work: asyncio.Task[None]) -> None:
        """Hold a task until it is done."""
        ...

    def stepped(self, session: Session, duration_s: float) -> None: ...

    def ended(self, session: Session) -> None: ...


class Session:
    """One live episode."""

    __slots__ = (
        "_clock",
        "_ended_event",
        "_episode",
        "_expiring",
        "_last",
        "_owner",
        "_work",
        "end",
        "error",
        "hosted",
        "id",
        "ledger",
        "observation",
        "opened_s",
        "steps",
        "task",
        "terms",
    )

    def __init__(
        self, hosted: HostedEnvironment, task: Task, terms: Terms, episode: Episode, owner: Owner, ledger: Ledger
    ) -> None:
        self.id, self.hosted, self.task, self.terms = ledger.session, hosted, task, terms
        self._episode, self._owner, self.ledger = episode, owner, ledger
        self.observation = Observation()
        self.opened_s = time.time()
        self.steps = 0
        self.end: EndReason | None = None
        self.error: EnvhubError | None = None
        self._last: Outcome | None = None
        self._work: asyncio.Task[None] | None = None
        self._ended_event: asyncio.Event | None = None
        self._clock = Clock(terms, self._due)
        self._expiring = False

    # -- opening ----------------------------------------------------------------------------------------------

    async def start(self) -> Observation:
        """Reset the episode and start the clocks. Raises EnvhubError where the environment fails."""
        self.observation = await self._episode.reset(self.task)
        if self.end is None:  # a reset that would not stop comes back to an open that failed
            self._clock.start()
        return self.observation

    def abandon(self) -> None:
        """Stop the clocks of a session whose open failed; nobody ever saw it."""
        self.end = "error"
        self._clock.stop()

    # -- stepping ---------------------------------------------------------------------------------------------

    def submit(self, index: int, action: Action, driver: Driver = "control") -> Outcome:
        """Begin step `index`, or return the outcome it already has.

        Raises:
            Conflict: another index than the next or the last, another action under the last, or the other driver.
            SessionEnded, LeaseLost: the episode is over.
        """
        if driver != self.terms.driver:
            raise Conflict(f"this session is driven by {self.terms.driver}, not by {driver}", session=self.id)
        last = self._last
        if last is not None and index == last.index:
            if action != last.action:
                raise Conflict(f"step {index} was taken with another action", session=self.id)
            return last
        if self.end is not None or self._expiring:
            raise self._over()
        if index != self.steps or self.running:
            expected = self.steps if not self.running else f"{self.steps - 1} (still running) to join it"
            raise Conflict(f"step index {index} is not the next one; it is {expected}", session=self.id)
        return self._begin(index, action)

    def _begin(self, index: int, action: Action) -> Outcome:
        self._last = outcome = Outcome(index, action)
        self.steps = index + 1
        self._work = asyncio.get_running_loop().create_task(self._run(outcome, self._clock.step_begins()))
        return outcome

    async def idle(self) -> None:
        """Return once no step is being worked on."""
        while self._last is not None and not self._last.done:
            with suppress(EnvhubError):
                await self._last.wait()

    @property
    def running(self) -> bool:
        """A step is being worked on."""
        return self._last is not None and not self._last.done

    async def _run(self, outcome: Outcome, started: float) -> None:
        """One step from the environment to its record: the boundary at which failures become the episode's end."""
        try:
            result = await self._episode.step(outcome.action)
            if self.end is not None:
                return
            if result.rewards:
                check_parts(result)
            end = self._end_after(result)
            if end is not None:
                await self._last_step(outcome, result, end, started)
            else:
                self._acknowledge(outcome, result, started)
        except asyncio.CancelledError:
            if self.end is None:
                self._fail(outcome, ServerError("the server stopped while the step was running", session=self.id))
            raise
        except EnvhubError as error:
            self._fail(outcome, error)
        except Exception as error:
            self._fail(outcome, ServerError(f"the step broke the server: {type(error).__name__}: {error}"))

    async def _last_step(self, outcome: Outcome, result: StepResult, end: EndReason, started: float) -> None:
        self._clock.step_grades()
        result, end = await self._graded(result, end)
        if self.end is None:
            answer = self._write_now(outcome, result, started)
            self._finish(end)
            outcome.answer(answer)

    def _end_after(self, result: StepResult) -> EndReason | None:
        if result.terminated:
            return "terminated"
        if result.truncated or self.steps >= self.terms.max_turns:
            return "max_turns"
        return "episode_time" if time.monotonic() >= self._clock.episode_due else None

    async def _graded(self, result: StepResult, end: EndReason) -> tuple[StepResult, EndReason]:
        result, end, error = await grade(self._episode, result, end, self.terms.grade_s)
        if error is not None:
            error.session = self.id
            self.error = error
        return result, end

    def _acknowledge(self, outcome: Outcome, result: StepResult, started: float) -> None:
        """Record, together with the other steps of this turn of the loop, and only then answer."""
        if result.end is not None:  # the host alone says how an episode ends
            result = result.model_copy(update={"end": None})
        duration_s = self._clock.step_ends() - started
        answer, line = self.ledger.entry(outcome, result, duration_s)
        self.ledger.count(result)
        self._owner.stepped(self, duration_s)
        self.ledger.write_soon(line, partial(self._recorded, outcome, answer))

    def _write_now(self, outcome: Outcome, result: StepResult, started: float) -> bytes:
        """Record a last step; its answer, to be given once the episode has ended."""
        duration_s = self._clock.step_ends() - started
        answer, line = self.ledger.entry(outcome, result, duration_s)
        self.ledger.write(line)
        self.ledger.count(result)
        self._owner.stepped(self, duration_s)
        return answer

    def _recorded(self, outcome: Outcome, answer: bytes, error: ServerError | None) -> None:
        if error is None:
            outcome.answer(answer)
        else:
            self._fail(outcome, error)

    def _fail(self, outcome: Outcome, error: EnvhubError) -> None:
        error.session = self.id
        if self.end is None:
            self._finish("error", error, action=outcome.action)
        outcome.refuse(error)

    # -- ending -----------------------------------------------------------------------------------------------

    def cut(self, reason: Cut) -> None:
        """End the episode from outside, without a reward. A running step is stopped and answered."""
        if self.end is not None:
            return
        if reason == "step_deadline" and self._last is not None:
            self._time_out(self._last)
        if self.end is None:
            self._finish(reason)
        self._stop_work(self._over())

    def abort(self, error: EnvhubError) -> None:
        """End the episode because something it stands on failed."""
        if self.end is not None:
            return
        self._finish("error", error)
        self._stop_work(error)

    def _stop_work(self, error: EnvhubError) -> None:
        if self._last is not None:
            self._last.refuse(error)
        if self._work is not None and not self._work.done():
            self._work.cancel()

    def _time_out(self, outcome: Outcome) -> None:
        limit = self.terms.step_s
        text = f"The step passed its deadline of {limit:g} s and was stopped. The episode is over."
        result = StepResult(observation=Observation.of(text), truncated=True, end="step_deadline")
        try:
            answer = self._write_now(outcome, result, time.monotonic() - limit)
        except ServerError as error:
            self._fail(outcome, error)
            return
        self._finish("step_deadline")
        outcome.answer(answer)

    async def expire(self) -> None:
        """The episode's time is up between two steps: truncated, graded at the cut."""
        result, end = await self._graded(StepResult(observation=Observation()), "episode_time")
        if self.end is not None:
            return
        self.ledger.count(result)
        self._finish(end, result=result)

    def _finish(
        self,
        end: EndReason,
        error: EnvhubError | None = None,
        result: StepResult | None = None,
        action: Action | None = None,
    ) -> None:
        """The one path by which an episode ends: recorded, told, its environment closed."""
        self.end = end
        self.error = error or self.error
        self._clock.stop()
        self.error = self.ledger.end(end, self._problem(), result, action) or self.error
        if self._ended_event is not None:
            self._ended_event.set()
        self._owner.ended(self)

    async def release(self) -> None:
        """Close the environment. Called once, by the registry."""
        if self._work is not None:
            await asyncio.wait([self._work], timeout=5.0)
        await self._episode.close()

    def _over(self) -> EnvhubError:
        if self.end == "lease_lost":
            text = f"nobody stepped or renewed this session for {self.terms.lease_s:g} s; it was closed. Open a new one"
            return LeaseLost(text, session=self.id)
        cause = f": {self.error.message}" if self.error else ""
        end = self.end or "episode_time"
        return SessionEnded(f"this session has ended ({end}{cause}). Open a new one", session=self.id)

    def _problem(self) -> JsonObject | None:
        return self.error.to_problem() if self.error else None

    # -- clocks -----------------------------------------------------------------------------------------------

    def renew(self) -> None:
        """Count the lease from now.

        Raises:
            SessionEnded, LeaseLost: the episode is over.
        """
        if self.end is not None:
            raise self._over()
        self._clock.renew()

    def _due(self, due: Due) -> None:
        if due != "episode_time":
            self.cut(due)
            return
        self._expiring = True
        self._owner.spawn(asyncio.get_running_loop().create_task(self.expire()))

    # -- reading ----------------------------------------------------------------------------------------------

    async def wait_end(self, wait_s: float) -> None:
        """Return at the end, or after `wait_s` seconds."""
        if self.end is not None or wait_s <= 0:
            return
        if self._ended_event is None:
            self._ended_event = asyncio.Event()
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self._ended_event.wait()

    def status(self) -> SessionStatus:
        """What the control side may know."""
        rewarded = self.end is None or self.end in TRAINABLE
        return SessionStatus(
            session=self.id,
            state="open" if self.end is None else "ended",
            environment=self.hosted.name,
            task=self.task.id,
            driver=self.terms.driver,
            steps=self.steps,
            running=self.running,
            reward=self.ledger.total if rewarded else None,
            rewards=dict(self.ledger.parts) if rewarded else {},
            end=self.end,
            error=self._problem(),
            lease_left_s=self._clock.lease_left_s if self.end is None else 0.0,
        )


__all__ = ["Owner", "Session"]
