"""What a step costs the server: CPU microseconds on an echo environment, sessions opened a second, KB a session.

Everything is as shipped: tokens, leases, deadlines, recording. The load comes from this process, over loopback, by
envhub's own client (a stock MCP client for MCP), so the server's CPU is read off its process, not off a clock.
The last line is one JSON object. `--quick` takes about 20 seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
from support.measured_server import MeasuredServer, measured_server
from websockets.asyncio.client import connect as websocket

from envhub.clients import Client, Session, connect
from envhub.sdk.errors import EnvhubError

ECHO = str(Path(__file__).parent / "echo")
TEXT = "a message of thirty-two letters."
IN_FLIGHT = 64


def say(text: str) -> None:
    """Progress, on standard error."""
    print(text, file=sys.stderr, flush=True)


class Meter:
    """Server CPU and latency of a stretch of work."""

    def __init__(self, server: MeasuredServer) -> None:
        self._server = server
        self.latencies_s: list[float] = []

    async def cpu_us(self, number: int, work: Callable[[], Awaitable[None]]) -> float:
        """Server CPU microseconds for each of `number` steps that `work` takes."""
        await work()  # warm up
        self.latencies_s.clear()
        before = self._server.cpu_s
        await work()
        return round((self._server.cpu_s - before) / number * 1e6, 1)

    async def timed(self, call: Awaitable[Any]) -> None:
        """Await a call and note how long it took."""
        started = time.perf_counter()
        await call
        self.latencies_s.append(time.perf_counter() - started)

    @property
    def latency_ms(self) -> dict[str, float]:
        """p50 and p99 of the calls noted since the last measurement began."""
        cuts = statistics.quantiles(self.latencies_s, n=100)
        return {"p50": round(cuts[49] * 1e3, 3), "p99": round(cuts[98] * 1e3, 3)}


async def steps(client: Client, server: MeasuredServer, rounds: int, in_flight: int, tool: bool) -> dict[str, Any]:
    """Single frames from `in_flight` sessions at once."""
    meter = Meter(server)
    sessions = [await client.open() for _ in range(in_flight)]

    async def drive(session: Session) -> None:
        for _ in range(rounds):
            await meter.timed(session.call("echo", text=TEXT) if tool else session.step(TEXT))

    async def work() -> None:
        await asyncio.gather(*(drive(session) for session in sessions))

    cpu_us = await meter.cpu_us(rounds * in_flight, work)
    await asyncio.gather(*(session.close() for session in sessions))
    return {"cpu_us": cpu_us, "latency_ms": meter.latency_ms}


async def batches(client: Client, server: MeasuredServer, rounds: int) -> dict[str, Any]:
    """Frames of 64 steps, one of each of 64 sessions."""
    meter = Meter(server)
    sessions = [await client.open() for _ in range(IN_FLIGHT)]

    async def one() -> None:
        for result in await client.step_batch([(session, TEXT) for session in sessions]):
            if isinstance(result, EnvhubError):
                raise result

    async def work() -> None:
        for _ in range(rounds):
            await meter.timed(one())

    cpu_us = await meter.cpu_us(rounds * IN_FLIGHT, work)
    await asyncio.gather(*(session.close() for session in sessions))
    return {"cpu_us": cpu_us, "latency_ms": meter.latency_ms}


async def stock_mcp(server: MeasuredServer, rounds: int) -> dict[str, Any]:
    """Calls of the tool by the official SDK's own client."""
    from mcp.client.client import Client as McpClient
    from mcp.client.streamable_http import streamable_http_client

    meter = Meter(server)
    async with httpx.AsyncClient(base_url=server.url) as plain:
        headers = {"Authorization": f"Bearer {server.token}"}
        opened = (await plain.post("/v1/sessions", json={"driver": "mcp"}, headers=headers)).json()
    agent = {"Authorization": f"Bearer {opened['agent_token']}"}
    async with mcp_http(agent) as http:
        transport = streamable_http_client(server.url + opened["mcp_path"], http_client=http)
        async with McpClient(transport) as client:

            async def work() -> None:
                for _ in range(rounds):
                    await meter.timed(client.call_tool("echo", {"text": TEXT}))

            cpu_us = await meter.cpu_us(rounds, work)
    return {"cpu_us": cpu_us, "latency_ms": meter.latency_ms}


def mcp_http(headers: dict[str, str]) -> Any:
    """The HTTP client the official SDK uses, with our token."""
    from mcp.shared._httpx_utils import create_mcp_http_client

    return create_mcp_http_client(headers=headers)


async def openings(server: MeasuredServer, number: int) -> dict[str, Any]:
    """Sessions opened in batches of 64 over one WebSocket, and what each keeps in memory."""
    url = server.url.replace("http", "ws", 1) + "/v1/ws"
    items = [{"op": "open", "environment": "echo"}] * IN_FLIGHT
    async with websocket(url, additional_headers={"Authorization": f"Bearer {server.token}"}, max_size=None) as socket:

        async def open_all(rounds: int) -> None:
            for id_ in range(rounds):
                await socket.send(json.dumps({"id": id_, "op": "batch", "items": items}))
                reply = json.loads(await socket.recv())
                if any("error" in item for item in reply["ok"]["items"]):
                    raise RuntimeError(reply)

        await open_all(4)
        rounds = number // IN_FLIGHT
        cpu, memory, started = server.cpu_s, server.memory_kb, time.perf_counter()
        await open_all(rounds)
        seconds = time.perf_counter() - started
        opened = rounds * IN_FLIGHT
        return {
            "per_s": round(opened / seconds),
            "cpu_us": round((server.cpu_s - cpu) / opened * 1e6, 1),
            "kb": round((server.memory_kb - memory) / opened, 1),
        }


async def measure(scale: int) -> dict[str, Any]:
    """All figures, smallest first."""
    with measured_server(ECHO, "--max-sessions", "20000") as server:
        async with connect(server.url, token=server.token) as client:
            say(f"single frames, {IN_FLIGHT} sessions")
            single = await steps(client, server, 50 * scale, IN_FLIGHT, tool=False)
            say("single frames, one session")
            alone = await steps(client, server, 1000 * scale, 1, tool=False)
            say(f"batches of {IN_FLIGHT}")
            batched = await batches(client, server, 150 * scale)
            say("tool calls over the protocol")
            tool = await steps(client, server, 50 * scale, IN_FLIGHT, tool=True)
        say("tool calls by the stock MCP client")
        mcp = await stock_mcp(server, 400 * scale)
        say("opening sessions")
        opened = await openings(server, 2048 * scale)
    return {
        "step_cpu_us": {"single": single, "single_1": alone, "batched_64": batched, "tool": tool, "stock_mcp": mcp},
        "sessions_per_s": opened["per_s"],
        "open_cpu_us": opened["cpu_us"],
        "kb_per_session": opened["kb"],
    }


def main() -> None:
    """Measure, print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a fifth of the steps")
    figures = asyncio.run(measure(1 if parser.parse_args().quick else 5))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
