"""The server against the Python API: calls on as many cores, open streams, `status` under load.

What works has one core to itself, in both cases, and whoever asks has the others: a client costs the server nothing but
what it asks for.
"""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import msgspec

from bench import children
from bench.load import Store
from bench.stores import FreshStores
from bench.web import Connection, call_step, drive, id_in
from bench.workloads import AT_ONCE, Scale

DEFINITIONS = Path(__file__).resolve().parent / "definitions"
CONFIG = "server:\n  rate: {per_second: 1000000, burst: 1000000}\n"
WORKING = {0}
"""The core that the work is done on."""
LOOKS = 1000
LOOKS_BEFORE = 100
ROUNDS_BEFORE = 4
"""Until what is kept for those a little late, and the rubbish between collections, has its usual size."""
ROUNDS = 8
EVENTS = 40
"""How often each stream is told something in one round."""


def measure(store: Store, stores: FreshStores, scale: Scale, folder: Path) -> dict[str, Any]:
    """Both ways in interleaved rounds, then the streams; a failure is kept beside what was measured before it."""
    found: dict[str, Any] = {"store": store}
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, every - WORKING or every)
    try:
        rounds = [_round(stores, scale, folder) for _ in range(scale.rounds)]
        found |= {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
        found["cost_ratio"] = found["direct_cpu_us"] / found["http_cpu_us"]
        found["calls_ratio"] = found["http_per_second"] / found["direct_per_second"]
        found["status_ratio"] = found["busy_p99_ms"] / found["idle_p99_ms"]
        found |= _on_server(stores, folder, lambda server: _streams(server, scale.streams))
    except (children.ChildFailed, RuntimeError, OSError, EOFError) as failure:
        found["failure"] = f"{type(failure).__name__}: {failure}"
    finally:
        os.sched_setaffinity(0, every)
    print(f"serving {store}: {_said(found)}", file=sys.stderr, flush=True)
    return found


def _round(stores: FreshStores, scale: Scale, folder: Path) -> dict[str, float]:
    direct = _direct(stores, scale.steps)
    return {**direct, **_on_server(stores, folder, lambda server: _calls(server, scale.steps))}


# --- the Python API ---------------------------------------------------------------------------------------------------


def _direct(stores: FreshStores, count: int) -> dict[str, float]:
    url = stores.create()
    command = [sys.executable, "-m", "bench.serving", url, str(count)]
    try:
        done = subprocess.run(
            command, env=children.environment(), capture_output=True, text=True, check=False, timeout=600
        )
        if done.returncode:
            raise children.ChildFailed(done.stderr[-500:])
        sample: dict[str, float] = msgspec.json.decode(done.stdout)
        return sample
    finally:
        stores.drop(url)


async def _direct_child(url: str, count: int) -> dict[str, float]:
    from bench.load import drain_all  # noqa: PLC0415
    from perdure import Perdure  # noqa: PLC0415

    os.sched_setaffinity(0, WORKING)
    async with Perdure.open(url, definitions=[DEFINITIONS], handlers=["bench.handlers"]) as perdure:

        async def one(_: int) -> None:
            await perdure.call("bench.step", {"payload": {}})

        await drain_all(AT_ONCE, one, count // 10)
        began, spent = time.perf_counter(), time.process_time()
        await drain_all(AT_ONCE, one, count)
        spent, elapsed = time.process_time() - spent, time.perf_counter() - began
    return {"direct_per_second": count / elapsed, "direct_cpu_us": spent / count * 1e6}


# --- the server -------------------------------------------------------------------------------------------------------


class Server:
    """A running `perdure serve`, where it is and what it has spent."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.host, _, port = url.removeprefix("http://").rpartition(":")
        self.port = int(port)

    async def connected(self, count: int) -> list[Connection]:
        return [await Connection(self.host, self.port).open() for _ in range(count)]

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _on_server(stores: FreshStores, folder: Path, work: Any) -> dict[str, float]:
    url = stores.create()
    config = folder / "serving.yaml"
    config.write_text(CONFIG)
    command = [
        sys.executable, "-m", "perdure", "serve", "--json", "--port", "0", "--store", url, "--config", str(config),
        "--definitions", str(DEFINITIONS), "--handlers", "bench.handlers",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=children.environment())
    os.sched_setaffinity(process.pid, WORKING)
    try:
        assert process.stdout is not None
        ready = msgspec.json.decode(process.stdout.readline() or "{}")
        if "url" not in ready:
            raise children.ChildFailed(f"the server did not start: {ready}")
        found: dict[str, float] = asyncio.run(work(Server(process, ready["url"])))
        return found
    finally:
        process.terminate()
        process.wait(60)
        stores.drop(url)


@asynccontextmanager
async def _open(server: Server, count: int) -> AsyncIterator[list[Connection]]:
    opened = await server.connected(count)
    try:
        yield opened
    finally:
        for each in opened:
            each.close()


async def _calls(server: Server, count: int) -> dict[str, float]:
    async with _open(server, AT_ONCE) as connections:
        await drive(connections, call_step, count // 10)
        spent = server.cpu_seconds()
        seconds = await drive(connections, call_step, count)
        spent = server.cpu_seconds() - spent
    return {"http_per_second": count / seconds, "http_cpu_us": spent / count * 1e6, **await _status(server)}


async def _status(server: Server) -> dict[str, float]:
    """A look at a call, from a process of its own: who makes the load must not hold up who measures."""
    async with _open(server, 1) as (caller,):
        _, body = await caller.ask("POST", "/api/verbs/bench.step/calls", b'{"args":{"payload":{}}}')
    path = f"/api/calls/{id_in(body)}"
    idle = await _looks(server, path)
    async with _open(server, AT_ONCE) as connections:
        loading = asyncio.ensure_future(drive(connections, call_step, 1_000_000))
        busy = await _looks(server, path)
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)
    return {"idle_p99_ms": idle, "busy_p99_ms": busy}


async def _looks(server: Server, path: str) -> float:
    command = [sys.executable, "-m", "bench.serving", "look", server.host, str(server.port), path]
    looker = await asyncio.create_subprocess_exec(*command, env=children.environment(), stdout=subprocess.PIPE)
    told, _ = await looker.communicate()
    if looker.returncode:
        raise children.ChildFailed("whoever looked failed")
    taken = msgspec.json.decode(told, type=list[float])
    return statistics.quantiles(taken, n=100)[98]


def _look_child(host: str, port: int, path: str) -> list[float]:
    connection = HTTPConnection(host, port)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    taken: list[float] = []
    for _ in range(LOOKS_BEFORE + LOOKS):
        began = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        taken.append((time.perf_counter() - began) * 1000)
        if answer.status != 200:
            raise RuntimeError(f"status answered {answer.status}")
    return taken[LOOKS_BEFORE:]


async def _streams(server: Server, count: int) -> dict[str, float]:
    """Memory once every stream has been told a good deal, and again and again after more of it."""
    async with _open(server, count) as followers, _open(server, 8) as callers:
        for each in followers:
            await each.follow("/api/events")
        heard = [0] * count
        reading = [asyncio.ensure_future(_hear(each, heard, number)) for number, each in enumerate(followers)]
        memory: list[float] = []
        for number in range(1, ROUNDS_BEFORE + ROUNDS + 1):
            await drive(callers, call_step, EVENTS)
            while min(heard) < number * EVENTS:
                await asyncio.sleep(0.05)
            memory.append(server.memory_mb())
        for each in reading:
            each.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
    before, more = memory[ROUNDS_BEFORE - 1], memory[ROUNDS_BEFORE:]
    return {"streams": count, "streams_mb": before, "streams_more_mb": max(more) - before}


async def _hear(connection: Connection, heard: list[int], number: int) -> None:
    while line := await connection.reader.readline():
        heard[number] += line.startswith((b"event: step_completed", b"event: StepCompleted"))


def _said(found: dict[str, Any]) -> str:
    if "failure" in found:
        return f"failed: {str(found['failure']).strip().splitlines()[-1][:160]}"
    return (
        f"{found['calls_ratio']:.0%} of the calls on the same core "
        f"({found['cost_ratio']:.0%} for the same processor time), "
        f"p99 of status x{found['status_ratio']:.1f}, "
        f"{found['streams']:,.0f} streams {found['streams_more_mb']:+.1f} MB"
    )


if __name__ == "__main__":
    if sys.argv[1] == "look":
        print(msgspec.json.encode(_look_child(sys.argv[2], int(sys.argv[3]), sys.argv[4])).decode())
    else:
        print(msgspec.json.encode(asyncio.run(_direct_child(sys.argv[1], int(sys.argv[2])))).decode())
