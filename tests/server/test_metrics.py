"""Metrics and logs: what an operator sees."""

from __future__ import annotations

import json

import pytest
from prometheus_client.parser import text_string_to_metric_families

from envhub.sdk import InvalidRequest, StepTimeout
from envhub.server.logging import configure, get_logger
from envhub.server.metrics import Metrics


def scraped(metrics: Metrics) -> dict[tuple[str, ...], float]:
    """Every sample by its name and its label values."""
    families = text_string_to_metric_families(metrics.render().decode())
    return {(s.name, *map(str, s.labels.values())): s.value for family in families for s in family.samples}


def test_sessions_are_counted_by_environment_and_end() -> None:
    metrics = Metrics()
    for _ in range(3):
        metrics.opened("lake")
    metrics.ended("lake", "closed")
    samples = scraped(metrics)
    assert samples["envhub_sessions_opened_total", "lake"] == 3
    assert samples["envhub_sessions_live", "lake"] == 2
    assert sum(value for key, value in samples.items() if key[0] == "envhub_sessions_ended_total") == 1


def test_a_step_falls_into_the_bucket_whose_bound_it_does_not_pass() -> None:
    metrics = Metrics()
    for seconds in (0.00005, 0.001, 0.0011, 99.0):
        metrics.observe_step("lake", seconds)
    samples = scraped(metrics)
    buckets = {key[-1]: value for key, value in samples.items() if key[0] == "envhub_step_seconds_bucket"}
    assert (buckets["0.0001"], buckets["0.001"], buckets["0.0025"], buckets["30.0"]) == (1, 2, 3, 3)
    assert buckets["+Inf"] == samples["envhub_step_seconds_count", "lake"] == 4
    assert samples["envhub_step_seconds_sum", "lake"] == pytest.approx(99.00215)


def test_errors_are_counted_by_boundary_and_code() -> None:
    metrics = Metrics()
    metrics.failed(StepTimeout("too slow"))
    assert scraped(metrics)["envhub_errors_total", "environment", "step_timeout"] == 1


def test_queue_and_capacity_are_read_when_scraped() -> None:
    metrics, queue = Metrics(), [1, 2, 3]
    metrics.waiting = lambda: len(queue)
    queue.pop()
    assert scraped(metrics)["envhub_queue_length",] == 2


def test_names_with_quotes_cannot_break_the_format() -> None:
    metrics = Metrics()
    metrics.ended('a"\n{', "closed")
    assert 'a"\n{' in {label for key in scraped(metrics) for label in key}


def test_logs_are_json_lines_without_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info")
    log = get_logger().bind(session="abc")
    log.info("session opened", session_token="secret-1", authorization="Bearer secret-2")
    log.debug("not asked for")
    configure("warning")
    log.info("not asked for either")
    out, lines = capsys.readouterr()
    event = json.loads(lines)
    assert event.pop("timestamp").endswith("Z")
    assert event == {"event": "session opened", "level": "info", "session": "abc"}
    assert out == ""


def test_an_unknown_log_level_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="debug, info, warning, error"):
        configure("loud")
