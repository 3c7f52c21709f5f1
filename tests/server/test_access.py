"""Rules 2, 3, 7, 8, 9: principals, drivers, strictness, batches, and what errors say."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from envhub.sdk.errors import AtCapacity, Conflict, Forbidden, InvalidRequest, NotFound, TooLarge, Unauthorized

WIN = {"message": "win"}


@pytest.fixture
def tokens(probe: Any) -> Any:
    return probe.registry.tokens


async def test_operations_want_their_own_principal(probe: Any, drive: Any, tokens: Any) -> None:
    async with drive(probe) as driver:
        opened, other = await driver.open(task="plain"), await driver.open(task="other")
        for wrong in (opened["agent_token"], other["session_token"], tokens.server_token):
            with pytest.raises(Forbidden):
                await driver.step(opened, 0, WIN, token=wrong)
            with pytest.raises(Forbidden):
                await driver.get(opened, token=wrong)
        forged = opened["session_token"][:-1] + ("0" if opened["session_token"][-1] != "0" else "1")
        with pytest.raises(Unauthorized):
            await driver.step(opened, 0, WIN, token=forged)
        assert (await driver.get(opened))["steps"] == 0


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/info"),
        ("GET", "/v1/schema"),
        ("GET", "/v1/tasks"),
        ("POST", "/v1/sessions"),
        ("GET", "/metrics"),
        ("GET", "/"),
        ("GET", "/openapi.json"),
    ],
)
async def test_what_concerns_the_server_needs_its_token(probe: Any, any_drive: Any, method: str, path: str) -> None:
    async with any_drive(probe) as driver:
        opened = await driver.open(task="plain")
    async with httpx.AsyncClient(base_url=probe.url) as client:
        assert (await client.request(method, path)).status_code == 401
        for token, status in (("x" * 30, 401), (opened["session_token"], 403), (opened["agent_token"], 403)):
            reply = await client.request(method, path, headers={"Authorization": f"Bearer {token}"})
            assert reply.status_code == status, (token, reply.text)
        query = await client.request(method, f"{path}?token={probe.server.token}")
        assert query.status_code == 401


async def test_health_needs_no_token_and_pages_take_it_as_a_password(probe: Any) -> None:
    async with httpx.AsyncClient(base_url=probe.url) as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert (await client.get("/readyz")).json() == {"status": "ready"}
        basic = {"Authorization": "Basic " + base64.b64encode(f"me:{probe.server.token}".encode()).decode()}
        page = await client.get("/", headers=basic)
        assert page.status_code == 200
        assert "probe" in page.text
        assert (await client.get("/metrics", headers=basic)).text.count("envhub_capacity") > 0
        # Chromium asks for a password only where Basic has a header of its own.
        challenges = (await client.get("/")).headers.get_list("www-authenticate")
        assert challenges == ['Bearer realm="envhub"', 'Basic realm="envhub"']


async def test_a_websocket_with_a_bad_token_is_refused_and_one_without_may_only_attach(
    probe: Any, any_drive: Any
) -> None:
    url = f"ws://127.0.0.1:{probe.port}/v1/ws"
    with pytest.raises(InvalidStatus):
        async with connect(url, additional_headers={"Authorization": "Bearer nonsense-nonsense"}):
            pass
    async with any_drive(probe) as driver:
        opened = await driver.open(task="plain")
    async with connect(url) as bare:
        await bare.send(json.dumps({"id": 1, "op": "open", "task": "plain"}))
        assert json.loads(await bare.recv())["error"]["code"] == "forbidden"
        await bare.send(json.dumps({"id": 2, "op": "step", "session": opened["session"], "index": 0, "action": WIN}))
        assert json.loads(await bare.recv())["error"]["code"] == "unauthorized"
        attach = {"id": 3, "op": "attach", "session": opened["session"], "token": opened["session_token"]}
        await bare.send(json.dumps(attach))
        assert json.loads(await bare.recv())["ok"]["steps"] == 0
        await bare.send(json.dumps({"id": 4, "op": "step", "session": opened["session"], "index": 0, "action": WIN}))
        assert json.loads(await bare.recv())["ok"]["result"]["reward"] == 1.0


async def test_one_driver_a_session(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain", driver="mcp")
        with pytest.raises(Conflict, match="driven by mcp"):
            await driver.step(opened, 0, WIN)


@pytest.mark.parametrize(
    "request_",
    [{"tassk": "plain"}, {"seed": -1}, {"seed": "one"}, {"max_turns": 0}, {"driver": "both"}, {"key": "short"}],
)
async def test_unknown_or_wrong_open_arguments_are_errors(probe: Any, drive: Any, request_: dict[str, Any]) -> None:
    async with drive(probe) as driver:
        with pytest.raises(InvalidRequest, match=next(iter(request_))):
            await driver.open(**request_)
        assert probe.registry.admission.taken == 0


@pytest.mark.parametrize("request_", [{"task": "nope"}, {"environment": "nope"}, {"split": "nope"}])
async def test_unknown_names_are_not_found(probe: Any, drive: Any, request_: dict[str, Any]) -> None:
    async with drive(probe) as driver:
        with pytest.raises(NotFound, match="nope"):
            await driver.open(**request_)


@pytest.mark.parametrize(
    "action",
    [
        None,
        "win",
        {},
        {"message": 3},
        {"message": "a", "tool_calls": [{"name": "add"}]},
        {"tool_calls": []},
        {"message": "a", "extra": 1},
        {"tool_calls": [{"name": "add", "arguments": [1]}]},
    ],
)
async def test_an_action_that_is_none_is_invalid_and_costs_nothing(probe: Any, drive: Any, action: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain")
        with pytest.raises(InvalidRequest, match="action"):
            await driver.step(opened, 0, action)
        assert (await driver.step(opened, 0, WIN))["result"]["reward"] == 1.0


async def test_a_huge_action_is_too_large_and_a_large_one_is_not(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = await driver.open(task="plain")
        with pytest.raises(TooLarge, match="1000000"):
            await driver.step(opened, 0, {"message": "x" * 1_000_001})
        assert (await driver.step(opened, 0, {"message": "x" * 900_000}))["index"] == 0


async def test_unknown_query_parameters_and_fields_are_errors(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        with pytest.raises(InvalidRequest, match="offsett"):
            await driver.call("tasks", offsett=1)
        with pytest.raises(InvalidRequest, match="limit"):
            await driver.call("tasks", limit=0)
        with pytest.raises(InvalidRequest):
            await driver.call("tasks", split="nope")


async def test_tasks_come_by_pages_without_their_private_part(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        page = await driver.call("tasks", split="test", limit=1)
        assert [task["id"] for task in page["tasks"]] == ["plain"]
        assert page["next_offset"] == 1
        rest = await driver.call("tasks", split="test", offset=1)
        assert ([task["id"] for task in rest["tasks"]], rest["next_offset"]) == (["other"], None)
        everything = json.dumps([page, rest, await driver.open(task="plain")])
        assert "hunter2" not in everything
        assert "private" not in everything


async def test_schema_tells_tools_and_criteria(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        schema = await driver.call("schema")
        assert schema["accepts_messages"] is True
        assert schema["criteria"] == {"won": 1.0, "length": 0}
        tools = {tool["name"]: tool for tool in schema["tools"]}
        assert set(tools) == {"add", "fail", "crash", "slow", "submit"}
        assert tools["submit"]["terminal"] is True
        assert tools["add"]["parameters"]["required"] == ["first", "second"]


async def test_a_batch_answers_each_item_in_order(probe: Any, drive: Any) -> None:
    async with drive(probe) as driver:
        opened = [await driver.open(task="plain", seed=seed) for seed in range(3)]

        def item(at: int, index: int, text: str) -> dict[str, Any]:
            session = opened[at]
            return {
                "op": "step",
                "session": session["session"],
                "token": session["session_token"],
                "index": index,
                "action": {"message": text},
            }

        items = [item(0, 0, "a"), item(1, 0, "sleep 0.1"), item(0, 1, "win"), item(0, 2, "late"), item(2, 5, "x"), 7]
        replies = await driver.batch([*items, {"op": "open", "task": "other"}, {"op": "nope"}])
        assert [next(iter(reply)) for reply in replies] == ["ok"] * 3 + ["error"] * 3 + ["ok", "error"]
        assert replies[2]["ok"]["result"]["reward"] == 1.0
        assert [reply["error"]["code"] for reply in replies if "error" in reply] == [
            "session_ended",
            "conflict",
            "invalid_request",
            "invalid_request",
        ]
        assert (await driver.batch(items[:1]))[0]["error"]["code"] == "session_ended"
        assert (await driver.batch(items[2:3]))[0] == replies[2]
        assert await driver.batch([]) == []


async def test_a_batch_item_needs_its_own_right(probe: Any, any_drive: Any) -> None:
    async with any_drive(probe) as driver:
        opened = await driver.open(task="plain")
    step = {"op": "step", "session": opened["session"], "index": 0, "action": WIN}
    async with httpx.AsyncClient(base_url=probe.url) as client:
        bare = (await client.post("/v1/batch", json={"items": [step, {"op": "open"}]})).json()["items"]
        assert [item["error"]["code"] for item in bare] == ["unauthorized", "forbidden"]
        right = {**step, "token": opened["session_token"]}
        reply = (await client.post("/v1/batch", json={"items": [right]})).json()["items"]
        assert reply[0]["ok"]["result"]["reward"] == 1.0


@pytest.mark.parametrize(
    "frame",
    [b"", b"garbage", b"[]", b"3", b'"x"', b"null", b'{"op": "info"}', b'{"id": null, "op": "info"}', b'{"id": 1}']
    + [b'{"id": [1], "op": "info"}', b"[" * 100_000, b'{"id": 1, "op": "batch", "items": {}}', b"\xff\xfe"],
)
async def test_malformed_frames_are_answered_and_the_connection_lives(probe: Any, frame: bytes) -> None:
    headers = {"Authorization": f"Bearer {probe.server.token}"}
    async with connect(f"ws://127.0.0.1:{probe.port}/v1/ws", additional_headers=headers) as socket:
        await socket.send(frame if frame.startswith(b"\xff") else frame.decode())
        assert json.loads(await socket.recv())["error"]["code"] == "invalid_request"
        await socket.send(json.dumps({"id": 2, "op": "info"}))
        assert json.loads(await socket.recv())["id"] == 2


@pytest.mark.parametrize("body", [b"", b"garbage", b"[]", b"3", b"[" * 100_000, b"\xff\xfe", b'{"index": NaN}'])
async def test_malformed_bodies_are_problems(probe: Any, any_drive: Any, body: bytes) -> None:
    async with any_drive(probe) as driver:
        opened = await driver.open(task="plain")
    async with httpx.AsyncClient(base_url=probe.url) as client:
        path = f"/v1/sessions/{opened['session']}/step"
        headers = {"Authorization": f"Bearer {opened['session_token']}"}
        reply = await client.post(path, content=body, headers=headers)
        assert (reply.status_code, reply.json()["code"]) == (400, "invalid_request")
        assert reply.headers["content-type"] == "application/problem+json"


async def test_oversized_frames_close_the_connection_and_bodies_are_refused(serve: Any) -> None:
    from envhub.server.config import Limits

    async with serve("probe", limits=Limits(frame_bytes=10_000)) as running:
        headers = {"Authorization": f"Bearer {running.server.token}"}
        async with connect(f"ws://127.0.0.1:{running.port}/v1/ws", additional_headers=headers) as socket:
            await socket.send("x" * 20_000)
            await asyncio.wait_for(socket.wait_closed(), 5)
            assert socket.close_code == 1009
        async with httpx.AsyncClient(base_url=running.url, headers=headers) as client:
            reply = await client.post("/v1/sessions", content=b" " * 20_000)
            assert (reply.status_code, reply.json()["code"]) == (413, "too_large")
            assert (await client.get("/v1/info")).status_code == 200


async def test_paths_and_methods_that_do_not_exist_are_problems(probe: Any) -> None:
    async with httpx.AsyncClient(base_url=probe.url) as client:
        for method, path, status in (("GET", "/v2/info", 404), ("PUT", "/v1/sessions", 405), ("GET", "/v1/ws", 404)):
            reply = await client.request(method, path)
            assert reply.status_code == status
            assert reply.json()["boundary"] == "request"


async def test_beyond_capacity_opens_wait_and_then_are_refused_with_retry_after(serve: Any, drive: Any) -> None:
    async with serve("probe", max_sessions=1) as running, drive(running) as driver:
        first = await driver.open(task="plain")
        with pytest.raises(AtCapacity) as refused:
            await driver.open(task="other", wait_s=0)
        assert refused.value.retry_after_s
        waiting = asyncio.ensure_future(driver.open(task="other", wait_s=10))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await driver.close(first)
        second = await waiting
        assert second["session"] != first["session"]


async def test_a_full_queue_refuses_at_once(serve: Any, any_drive: Any) -> None:
    from envhub.server.config import Limits

    async with serve("probe", max_sessions=1, limits=Limits(queue=1)) as running, any_drive(running) as driver:
        first = await driver.open(task="plain")
        waiting = asyncio.ensure_future(driver.open(task="other", wait_s=10))
        await asyncio.sleep(0.05)
        with pytest.raises(AtCapacity):
            await driver.open(task="other", wait_s=10)
        await driver.close(first)
        assert (await waiting)["session"]


async def test_too_many_unanswered_requests_are_refused(serve: Any) -> None:
    from envhub.server.config import Limits

    async with serve("probe", limits=Limits(in_flight=2)) as running:
        headers = {"Authorization": f"Bearer {running.server.token}"}
        async with connect(f"ws://127.0.0.1:{running.port}/v1/ws", additional_headers=headers) as socket:
            await socket.send(json.dumps({"id": "a", "op": "open", "task": "plain"}))
            opened = json.loads(await socket.recv())["ok"]
            wait = {"op": "get", "session": opened["session"], "wait_s": 5}
            for id_ in (1, 2, 3):
                await socket.send(json.dumps({"id": id_, **wait}))
            reply = json.loads(await socket.recv())
            assert (reply["id"], reply["error"]["code"]) == (3, "at_capacity")


async def test_replies_come_in_any_order(probe: Any, any_drive: Any) -> None:
    async with any_drive(probe) as driver:
        slow, fast = await driver.open(task="plain"), await driver.open(task="other")
        order: list[str] = []

        async def step(name: str, opened: Any, text: str) -> None:
            await driver.step(opened, 0, {"message": text})
            order.append(name)

        await asyncio.gather(step("slow", slow, "sleep 0.3"), step("fast", fast, "hello"))
        assert order == ["fast", "slow"]
