"""The plain face: real results in a script, within a running loop and from other threads."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from envhub import clients
from envhub.clients import ScriptedPolicy, sync
from envhub.sdk import ConnectionLost, SessionEnded, StepResult


def _use_everything(server: Any, tmp_path: Path) -> None:
    """Call every public method and check that each result is one."""
    with sync.connect(server.url, server.token) as client:
        assert client.url == server.url
        assert client.info().environments[0].name == "arena"
        assert client.schema().accepts_messages
        assert client.environment("arena").title == "Arena"
        assert len(client.tasks("train", limit=5)) == 5
        assert len(list(client.iter_tasks("train"))) == 250
        with client.session(task="train-1", seed=3) as s:
            assert (s.observation.text, s.task.id, s.steps) == ("seed 3", "train-1", 0)
            assert s.step("hi").observation.text == "1: hi"
            assert s.call("add", value=2).observation.text == "2"
            assert s.renew().state == "open"
            assert client.resume(s.id, s.tokens.session).steps == 2
            [batched] = client.step_batch([(s, "there")])
            assert isinstance(batched, StepResult)
            assert s.step("end").reward == 1.0
            assert (s.end, s.reward, s.ended) == ("terminated", 1.0, True)
            assert s.status(wait_s=1).end == "terminated"
            assert len(s.trajectory().steps) == 4
            with pytest.raises(SessionEnded):
                s.step("more")
        opened = client.open()
        assert opened.close().end == "closed"
        assert sync.rollout(client, ScriptedPolicy(["a", "end"]), task="test-0").reward == 1.0
        played = sync.rollouts(client, lambda _: ScriptedPolicy(["end"]), [{}] * 3, out=tmp_path / "out.jsonl")
        assert [one.reward for one in played] == [1.0] * 3
    with pytest.raises(ConnectionLost, match="was closed"):
        client.info()


def test_in_a_plain_script(server: Any, tmp_path: Path) -> None:
    _use_everything(server, tmp_path)


async def test_within_a_running_event_loop(server: Any, tmp_path: Path) -> None:
    _use_everything(server, tmp_path)


def test_from_a_worker_thread(server: Any, tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            _use_everything(server, tmp_path)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failures == []


def test_one_client_serves_several_threads(server: Any) -> None:
    results: list[str] = []

    def work(client: sync.Client) -> None:
        with client.session() as s:
            results.extend(s.step(str(number)).observation.text for number in range(5))

    with sync.connect(server.url, server.token) as client:
        threads = [threading.Thread(target=work, args=(client,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(results) == 40


@pytest.mark.parametrize(("plain", "asynchronous"), [(sync.Client, clients.Client), (sync.Session, clients.Session)])
def test_both_faces_have_the_same_methods_and_parameters(plain: type, asynchronous: type) -> None:
    inner = {"accept", "note", "restore"}  # What the asynchronous session and client tell each other.
    for name, method in inspect.getmembers(asynchronous, callable):
        if not name.startswith("_") and name not in inner:
            assert inspect.signature(getattr(plain, name)).parameters == inspect.signature(method).parameters, name


def test_no_method_of_the_plain_face_gives_a_coroutine() -> None:
    public: list[Callable[..., Any]] = [
        method
        for owner in (sync.Client, sync.Session)
        for name, method in inspect.getmembers(owner, inspect.isfunction)
        if not name.startswith("_")
    ]
    assert not [method for method in [*public, sync.rollout, sync.rollouts] if inspect.iscoroutinefunction(method)]


async def test_async_with_on_the_plain_face_names_the_asynchronous_one(server: Any) -> None:
    with pytest.raises(TypeError, match=r"from envhub\.clients import connect"):
        async with sync.connect(server.url, server.token):
            pass
    with sync.connect(server.url, server.token) as client, client.session() as s:
        with pytest.raises(TypeError, match=r"from envhub\.clients import connect"):
            async with s:
                pass
        assert not s.ended


def test_calling_it_from_its_own_loop_is_an_error_and_no_deadlock(server: Any) -> None:
    with sync.connect(server.url, server.token) as client:

        async def within() -> None:
            client.info()

        with pytest.raises(RuntimeError, match="from its own event loop"):
            client.portal.call(within)


def test_a_failed_connection_leaves_no_thread() -> None:
    before = threading.active_count()
    with pytest.raises(ConnectionLost), sync.connect("http://127.0.0.1:1", "some-token"):
        pass
    assert threading.active_count() == before
    assert asyncio.run(asyncio.sleep(0, True))
