"""What the status page shows, read off the registry."""

from __future__ import annotations

import time
from importlib.metadata import version

from envhub.server.hosting import HostedEnvironment
from envhub.server.registry import Registry
from envhub.server.session import Session
from envhub.server.status import EndRow, EnvironmentRow, SessionRow, StatusSnapshot

RECENT_ENDS = 20


def take_snapshot(registry: Registry) -> StatusSnapshot:
    """The server now."""
    now = time.time()
    metrics = registry.metrics
    live = sorted(registry.live, key=lambda session: session.opened_s, reverse=True)
    ends: dict[str, int] = {}
    for (_, reason), number in metrics.ends.items():
        ends[reason] = ends.get(reason, 0) + number
    return StatusSnapshot(
        version=version("envhub"),
        uptime_s=now - registry.started_s,
        capacity=registry.admission.capacity,
        waiting=registry.admission.waiting,
        connections=metrics.connections,
        loop_lag_s=metrics.loop_lag_s,
        environments=tuple(_environment(registry, hosted) for hosted in registry.hosted.values()),
        sessions=tuple(_session(session, now) for session in live),
        ended=tuple(_end(session, ago_s) for session, ago_s in registry.recent_ends(RECENT_ENDS)),
        opened=sum(metrics.opens.values()),
        steps=sum(steps.number for steps in metrics.steps.values()),
        ends=ends,
        errors={f"{boundary}: {code}": number for (boundary, code), number in metrics.errors.items()},
    )


def _environment(registry: Registry, hosted: HostedEnvironment) -> EnvironmentRow:
    steps = registry.metrics.steps.get(hosted.name)
    return EnvironmentRow(
        name=hosted.name,
        title=hosted.manifest.display,
        version=hosted.manifest.version,
        status=hosted.manifest.oracle.status,
        isolation=hosted.manifest.isolation,
        splits=hosted.tasks.splits(),
        live=registry.metrics.live(hosted.name),
        steps=steps.number if steps else 0,
    )


def _session(session: Session, now: float) -> SessionRow:
    status = session.status()
    return SessionRow(
        id=session.id,
        environment=status.environment,
        task=status.task,
        driver=status.driver,
        steps=status.steps,
        running=status.running,
        age_s=now - session.opened_s,
        lease_left_s=status.lease_left_s,
    )


def _end(session: Session, ago_s: float) -> EndRow:
    return EndRow(
        id=session.id,
        environment=session.hosted.name,
        task=session.task.id,
        end=session.end or "",
        steps=session.steps,
        ago_s=ago_s,
        error=session.error.message if session.error else None,
    )


__all__ = ["take_snapshot"]
