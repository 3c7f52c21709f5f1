"""Connecting: what is wrong is said at once, with what to do."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

from envhub.clients import ConnectOptions, connect
from envhub.sdk import ConnectionLost, EnvhubError, Forbidden, InvalidRequest, ServerError, Unauthorized
from envhub.sdk.paths import find_server_token, write_server_record

ARENA = Path(__file__).parent / "arena"


def _closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


async def test_nothing_listening_is_connection_lost(options: ConnectOptions) -> None:
    with pytest.raises(ConnectionLost, match=r"no envhub server answers .* is it running\?"):
        async with connect(f"http://127.0.0.1:{_closed_port()}", "some-token", **options):
            pass


async def test_a_wrong_token_is_unauthorized(server: Any, options: ConnectOptions) -> None:
    with pytest.raises(Unauthorized):
        async with connect(server.url, "not-the-token-of-this-server", **options):
            pass


async def test_without_a_token_it_says_where_it_looked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ENVHUB_HOME", str(tmp_path))
    with pytest.raises(Unauthorized, match=str(tmp_path / "servers")):
        async with connect("http://127.0.0.1:8400"):
            pass


async def test_the_token_of_a_local_server_is_found(
    server: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ENVHUB_HOME", str(tmp_path))
    write_server_record(server.port, {"url": server.url, "token": server.token, "pid": 1, "environments": ["arena"]})
    async with connect(server.url) as client:
        assert (await client.info()).max_sessions == 500


async def test_a_client_of_sessions_only_may_open_nothing(server: Any, options: ConnectOptions) -> None:
    without_token: ConnectOptions = {**options, "sessions_only": True}
    async with connect(server.url, **without_token) as client:
        with pytest.raises((Forbidden, Unauthorized)):
            await client.open()


@pytest.mark.parametrize(
    "address", ["ftp://127.0.0.1", "http://", "ws://127.0.0.1:1", "http://127.0.0.1:99999", "http://[::1"]
)
async def test_no_address_is_invalid(address: str) -> None:
    with pytest.raises(InvalidRequest, match="no address of a server"):
        async with connect(address, "some-token"):
            pass


async def test_another_kind_of_server_is_recognised(options: ConnectOptions) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
        await writer.drain()
        writer.close()

    other = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with other:
        with pytest.raises(ServerError, match="is it an envhub server"):
            async with connect(f"http://127.0.0.1:{other.sockets[0].getsockname()[1]}", "some-token", **options):
                pass


@pytest.mark.parametrize("given", [{"transport": "carrier-pigeon"}, {"encoding": "xml"}])
async def test_an_unknown_choice_is_named(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="there are"):
        async with connect("http://127.0.0.1:1", "some-token", **given):
            pass


def test_an_unknown_option_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="'tokn'"):
        connect("http://127.0.0.1:1", tokn="x")  # type: ignore[call-arg]


def test_plain_use_of_the_asynchronous_face_names_the_plain_one() -> None:
    connection = connect("http://127.0.0.1:1", "some-token")
    with pytest.raises(TypeError, match=r"envhub\.clients\.sync"), connection:
        pass
    with pytest.raises(AttributeError, match=r"envhub\.clients\.sync"):
        connection.session  # noqa: B018


async def test_awaiting_instead_of_entering_says_so(plain_client: Any) -> None:
    with pytest.raises(TypeError, match="async with"):
        await connect("http://127.0.0.1:1", "some-token")
    with pytest.raises(TypeError, match="async with"):
        await plain_client.session()
    with pytest.raises(TypeError, match=r"envhub\.clients\.sync"), plain_client.session():
        pass


def test_the_client_imports_neither_the_server_nor_httpx() -> None:
    heavy = "('envhub.server', 'httpx', 'fastapi', 'rich')"
    code = f"import sys, envhub.clients.sync; print([n for n in sys.modules if n.startswith({heavy})])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


async def test_a_name_starts_a_server_that_ends_with_the_block(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ENVHUB_HOME", str(tmp_path))
    async with connect(str(ARENA)) as client:
        async with client.session(task="test-0") as s:
            assert (await s.step("end")).reward == 1.0
        address = client.url
    with pytest.raises(ConnectionLost):
        async with connect(address, "some-token"):
            pass


async def test_a_name_that_cannot_be_served_says_why(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ENVHUB_HOME", str(tmp_path))
    with pytest.raises(EnvhubError, match="areena"):
        async with connect(str(tmp_path / "areena")):
            pass


async def test_a_killed_client_takes_its_server_with_it(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ENVHUB_HOME", str(tmp_path))
    code = (
        "import sys, time; from envhub.clients.sync import connect\n"
        "with connect(sys.argv[1]) as client:\n    print(client.url, flush=True)\n    time.sleep(60)"
    )
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", code, str(ARENA), stdout=pipe)
    assert child.stdout is not None
    async with asyncio.timeout(60):
        address = (await child.stdout.readline()).decode().strip()
        token = find_server_token(address)
        child.kill()
        await child.wait()
        while True:
            try:
                async with connect(address, token):
                    await asyncio.sleep(0.05)
            except ConnectionLost:
                break
        while find_server_token(address) is not None:  # another process removes it
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("transport", ["websocket", "http"])
async def test_a_server_of_ours_that_dies_is_lost_at_once(
    tmp_path: Path, monkeypatch: Any, transport: Literal["websocket", "http"]
) -> None:
    monkeypatch.setenv("ENVHUB_HOME", str(tmp_path))
    async with connect(str(ARENA), transport=transport) as client:
        session = await client.open(task="test-0")
        waiting = asyncio.create_task(session.call("wait", seconds=4))
        await asyncio.sleep(0.2)
        [record] = (tmp_path / "servers").glob("*.json")
        os.kill(json.loads(record.read_text())["pid"], signal.SIGKILL)
        async with asyncio.timeout(30):  # its lease is longer
            with pytest.raises(ConnectionLost, match="ended with code -9"):
                await waiting
            with pytest.raises(ConnectionLost, match="ended with code -9"):
                await client.open(task="test-0")


async def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envhub.clients.local.NEEDED_MODULES", ("no_such_module",))
    with pytest.raises(InvalidRequest, match=r"needs no_such_module: pip install 'envhub\[serve\]'"):
        async with connect("webarena"):
            pass


async def test_options_that_do_not_fit_the_target_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="makes its own"):
        async with connect("webarena", "some-token"):
            pass
    with pytest.raises(InvalidRequest, match="runs already"):
        async with connect("http://127.0.0.1:1", "some-token", server_options=["--max-sessions", "2"]):
            pass
