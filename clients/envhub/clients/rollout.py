"""rollout: one episode, from opening to end, as a Trajectory with what the policy sampled."""

from __future__ import annotations

import secrets
import time
from typing import Unpack

from envhub.clients.backoff import Backoff
from envhub.clients.client import Client
from envhub.clients.episode import Episode
from envhub.clients.opening import OpenOptions
from envhub.clients.policy import Policy, decision_of
from envhub.clients.session import Session
from envhub.sdk.errors import AtCapacity, EnvhubError, LeaseLost, RequestError, SessionEnded, StepTimeout
from envhub.sdk.messages import Action, EndReason, Observation
from envhub.sdk.task import Task
from envhub.sdk.tokens import Sample
from envhub.sdk.trajectory import TRAINABLE, EndRecord, OpenRecord, StepRecord, Trajectory

PATIENCE_S = 600.0


async def rollout(
    client: Client, policy: Policy, *, patience_s: float = PATIENCE_S, **options: Unpack[OpenOptions]
) -> Trajectory:
    """Let a policy play one episode.

    What fails on the other side is a Trajectory too: its `ended.error` says what, its reward is None, never 0. Where
    not even the opening worked, its open record holds what was asked for and a session id that begins with
    `unopened-`.

    Args:
        client: connected.
        policy: fresh, for this episode alone.
        patience_s: seconds for which a full server is asked again.
        options: what the session is opened with: task, seed and so on.

    Returns:
        The episode, with the policy's samples. Ended by the policy (it gave None): `closed`, without a reward.

    Raises:
        RequestError: the opening was refused; the same request will fail again.
        Exception: whatever the policy raises.
    """
    try:
        session = await _open(client, patience_s, options)
    except RequestError:
        raise
    except EnvhubError as error:
        return _unopened(options, error)
    async with session:
        opened, steps, ended = _opening(session), [], None
        try:
            schema = await client.schema(session.facts.environment)
            version = (await client.environment(session.facts.environment)).version
            opened = opened.model_copy(update={"environment_version": version})
            episode = Episode(session.task, schema.tools, schema.accepts_messages, [session.observation])
        except EnvhubError as error:
            ended = _end_record(session, "error", error)
        while ended is None:
            chosen = decision_of(await policy.act(episode))
            if chosen is None:
                ended = await _stopped(session)
                break
            taken = await _step(session, *chosen)
            if isinstance(taken, EndRecord):
                ended = taken
                break
            steps.append(taken)
            _follow(episode, taken)
            if taken.result.end is not None:
                ended = await _ended(session, taken.result.end)
        return Trajectory(open=opened, steps=tuple(steps), ended=ended)


async def _open(client: Client, patience_s: float, options: OpenOptions) -> Session:
    backoff = Backoff(patience_s)
    while True:
        try:
            return await client.open(**options)
        except AtCapacity as error:
            if not await backoff.wait(error.retry_after_s or 0.0):
                raise


async def _step(session: Session, action: Action, sample: Sample | None) -> StepRecord | EndRecord:
    """One step's record, or the end where it failed."""
    index, started_s, started = session.steps, time.time(), time.perf_counter()
    try:
        result = await session.step(action)
    except (SessionEnded, LeaseLost) as error:
        # It ended between two steps (its time was up): only the server knows how, and with which reward.
        return await _server_end(session) or _end_record(session, "error", error, action)
    except StepTimeout as error:
        return _end_record(session, "step_deadline", error, action)
    except EnvhubError as error:
        return _end_record(session, "error", error, action)
    return StepRecord(
        session=session.id,
        index=index,
        action=action,
        result=result,
        started_s=started_s,
        duration_s=time.perf_counter() - started,
        sample=sample,
    )


def _follow(episode: Episode, taken: StepRecord) -> None:
    episode.actions.append(taken.action)
    episode.samples.append(taken.sample)
    episode.observations.append(taken.result.observation)


async def _ended(session: Session, end: EndReason) -> EndRecord:
    """The end after a last step. Where it has no reward the server's record says why."""
    recorded = None if end in TRAINABLE else await _server_end(session)
    return recorded or _end_record(session, end)


async def _stopped(session: Session) -> EndRecord:
    """The end of an episode that the policy left; it may have ended by itself meanwhile."""
    try:
        status = await session.close()
    except EnvhubError as error:
        return _end_record(session, "error", error)
    recorded = None if status.end == "closed" else await _server_end(session)
    return recorded or _end_record(session, "closed")


async def _server_end(session: Session) -> EndRecord | None:
    """The server's own record of the end; None where it cannot be read any more."""
    try:
        ended = (await session.trajectory()).ended
    except EnvhubError:
        return None
    if ended is not None:
        session.end = ended.end
    return ended


def _end_record(
    session: Session, end: EndReason, error: EnvhubError | None = None, action: Action | None = None
) -> EndRecord:
    problem = error.to_problem() if error else None
    return EndRecord(session=session.id, end=end, error=problem, ended_s=time.time(), action=action)


def _opening(session: Session) -> OpenRecord:
    return OpenRecord(
        session=session.id,
        environment=session.facts.environment,
        environment_version="",
        task=session.task,
        task_digest=session.facts.task_digest,
        driver=session.facts.driver,
        observation=session.observation,
        opened_s=time.time(),
    )


def _unopened(options: OpenOptions, error: EnvhubError) -> Trajectory:
    """A rollout that failed before there was a session."""
    name, now = f"unopened-{secrets.token_hex(8)}", time.time()
    task = Task(id=options.get("task") or "", split=options.get("split") or "", seed=options.get("seed") or 0)
    opened = OpenRecord(
        session=name,
        environment=options.get("environment") or "",
        environment_version="",
        task=task,
        task_digest="",
        observation=Observation(),
        opened_s=now,
    )
    return Trajectory(open=opened, ended=EndRecord(session=name, end="error", error=error.to_problem(), ended_s=now))


__all__ = ["PATIENCE_S", "rollout"]
