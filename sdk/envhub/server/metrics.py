"""Metrics: what /metrics tells. Plain counters, next to free; Prometheus' text is made when it is asked for."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from envhub.sdk.errors import EnvhubError

BUCKETS_S = (
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
)
"""Upper bounds of the step histogram; a last bucket without one follows."""
_LAG_EVERY_S, _LAG_OVER_S = 0.25, 10.0


class Steps:
    """The steps of one environment: how many, and how long they took."""

    __slots__ = ("counts", "total_s")

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS_S) + 1)
        self.total_s = 0.0

    @property
    def number(self) -> int:
        """Steps taken."""
        return sum(self.counts)


class Metrics:
    """Counters of one server. Read by the status page too."""

    def __init__(self) -> None:
        self.steps: dict[str, Steps] = {}
        self.opens: dict[str, int] = {}
        self.ends: dict[tuple[str, str], int] = {}
        """By environment and reason."""
        self.errors: dict[tuple[str, str], int] = {}
        """By boundary and code."""
        self.connections = 0
        """WebSocket connections now."""
        self.capacity: Callable[[], int] = int
        """Asked at a scrape: sessions that may live at once."""
        self.waiting: Callable[[], int] = int
        """Asked at a scrape: opens in the queue."""
        self._lags_s: deque[float] = deque(maxlen=round(_LAG_OVER_S / _LAG_EVERY_S))
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    # -- counting ---------------------------------------------------------------------------------------------

    def observe_step(self, environment: str, seconds: float) -> None:
        """A step was acknowledged."""
        steps = self.steps.get(environment)
        if steps is None:
            steps = self.steps[environment] = Steps()
        steps.counts[bisect_left(BUCKETS_S, seconds)] += 1
        steps.total_s += seconds

    def opened(self, environment: str) -> None:
        """A session was opened."""
        self.opens[environment] = self.opens.get(environment, 0) + 1

    def ended(self, environment: str, end: str) -> None:
        """A session ended."""
        self.ends[environment, end] = self.ends.get((environment, end), 0) + 1

    def failed(self, error: EnvhubError) -> None:
        """Something failed, at the boundary the error names."""
        key = (error.boundary, error.code)
        self.errors[key] = self.errors.get(key, 0) + 1

    async def watch_loop(self) -> None:
        """Measure how late the event loop is; runs until cancelled."""
        while True:
            due = time.monotonic() + _LAG_EVERY_S
            await asyncio.sleep(_LAG_EVERY_S)
            self._lags_s.append(max(0.0, time.monotonic() - due))

    @property
    def loop_lag_s(self) -> float:
        """How late the event loop was at worst, over the last ten seconds."""
        return max(self._lags_s, default=0.0)

    def live(self, environment: str) -> int:
        """Sessions of an environment that were opened and have not ended."""
        ended = sum(number for (name, _), number in self.ends.items() if name == environment)
        return self.opens.get(environment, 0) - ended

    # -- telling ----------------------------------------------------------------------------------------------

    def render(self) -> bytes:
        """Prometheus' text format, 0.0.4."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Called by prometheus_client."""
        yield from self._sessions()
        yield from self._step_times()
        yield _counter("envhub_errors", "Failures by boundary and code", ("boundary", "code"), self.errors.items())
        yield GaugeMetricFamily("envhub_connections", "WebSocket connections", self.connections)
        yield GaugeMetricFamily("envhub_capacity", "Sessions that may live at once", self.capacity())
        yield GaugeMetricFamily("envhub_queue_length", "Opens that wait for a place", self.waiting())
        lag = "How late the event loop was at worst, over the last ten seconds"
        yield GaugeMetricFamily("envhub_loop_lag_seconds", lag, self.loop_lag_s)

    def _sessions(self) -> Iterator[Metric]:
        opens = (((name,), number) for name, number in self.opens.items())
        yield _counter("envhub_sessions_opened", "Sessions opened", ("environment",), opens)
        yield _counter("envhub_sessions_ended", "Sessions ended, by reason", ("environment", "end"), self.ends.items())
        live = GaugeMetricFamily("envhub_sessions_live", "Sessions that have not ended", labels=("environment",))
        for name in self.opens:
            live.add_metric((name,), self.live(name))
        yield live

    def _step_times(self) -> Iterator[Metric]:
        times = HistogramMetricFamily("envhub_step_seconds", "Seconds a step took", labels=("environment",))
        bounds = [*map(str, BUCKETS_S), "+Inf"]
        for name, steps in self.steps.items():
            cumulative = list(zip(bounds, map(float, accumulate(steps.counts)), strict=True))
            times.add_metric((name,), cumulative, steps.total_s)
        yield times


def _counter(name: str, text: str, labels: tuple[str, ...], values: Iterable[tuple[tuple[str, ...], int]]) -> Metric:
    family = CounterMetricFamily(name, text, labels=labels)
    for key, number in values:
        family.add_metric(key, number)
    return family


__all__ = ["BUCKETS_S", "Metrics", "Steps"]
