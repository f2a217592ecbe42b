"""Results of pending tasks through each door: how many a second until each has moved its instance, durably.

`python -m bench.doors --url URL --door NAME --count N` measures one door in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import psycopg
from psycopg import sql

from bench.load import Store, drain_all
from bench.stores import FreshStores
from bench.workloads import AT_ONCE, Scale
from perdure import Perdure
from perdure.app.configuration.server import ServerConfig
from perdure.app.task_results.bus_doors import BusDoors
from perdure.buses.bus_selection import Buses
from perdure.buses.bus_settings import Broker, BusSettings, ResultSource
from perdure.kernel.kernel import Aggregate
from perdure.surfaces.http.application import make_app
from perdure.testing.broker_service import KafkaMock, NatsService, RedisService
from perdure.verbs import load_text

DOORS = ("python", "http", "verb", "sql", "redis", "nats", "kafka")
BROKERS: dict[str, Callable[[], Any]] = {"redis": RedisService, "nats": NatsService, "kafka": KafkaMock}
SOURCE = "bench-results"
VERBS = """
- name: bench.ask
  input_schema: {properties: {correlation_id: {type: string}}}
  metadata: {creates_pending_task: true}
  execution: {kind: sync, effects: none}
"""
LIFECYCLE = """
lifecycle: bench_door
states:
  OPEN:
    requirements:
      - type: field_present
        field: task_result:paper
        id: paper
        on_fail: {blocker: {type: MissingDocument, resolution: "(bench.ask)", auto: true}}
  DONE: {terminal: true}
transitions: [{from: OPEN, to: DONE}]
"""
Send = Callable[[list[dict[str, str]]], Awaitable[None]]


def measure(store: Store, stores: FreshStores, scale: Scale, folder: Path) -> dict[str, Any]:
    """Every door on a store of its own; the Python API is what the others are compared with."""
    found: dict[str, Any] = {"store": store, "count": scale.results}
    for door in DOORS:
        url = stores.create()
        command = [sys.executable, "-m", "bench.doors", "--url", url, "--door", door, "--count", str(scale.results)]
        try:
            root, seconds = Path(__file__).parent.parent, scale.child_seconds
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=seconds, cwd=root)
            found[door] = json.loads(done.stdout)["per_second"]
        except (subprocess.SubprocessError, ValueError) as failure:
            found[f"{door}_failure"] = str(failure)[:300]
        finally:
            stores.drop(url)
        print(f"doors {store} {door}: {found.get(door, 0):,.0f} results/s", file=sys.stderr, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.doors", description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--door", choices=DOORS, required=True)
    parser.add_argument("--count", type=int, default=500)
    options = parser.parse_args()
    service = BROKERS[options.door]() if options.door in BROKERS else None
    try:
        broker = service.start() if service is not None else ""
        print(json.dumps({"per_second": asyncio.run(_measured(options.url, options.door, broker, options.count))}))
    finally:
        if service is not None:
            service.stop()


async def _measured(url: str, door: str, broker: str, count: int) -> float:
    with tempfile.TemporaryDirectory(prefix="perdure-bench-") as folder:
        (file := Path(folder) / "door.yaml").write_text(LIFECYCLE)
        async with Perdure.open(
            url, definitions=load_text(VERBS), lifecycles=[file], handlers={"bench.ask": lambda call: {}},
            seal_every_seconds=1.0,
        ) as perdure:  # fmt: skip
            moved = Moved(perdure, count)
            results = await _asked(perdure, count)
            if broker:
                await _published(perdure, broker, results)
            send = _sender(perdure, url, door)
            began = time.perf_counter()
            await send(results)
            await moved.all
            return count / (time.perf_counter() - began)


class Moved:
    """Done once so many instances have ended, durably."""

    def __init__(self, perdure: Perdure, count: int) -> None:
        self.all = asyncio.get_running_loop().create_future()
        self._ended: set[bytes] = set()
        self._count = count
        perdure.runtime.kernel.listen(self._hear, "lifecycle")

    def _hear(self, aggregate: Aggregate, entries: object) -> None:
        if aggregate.state.state == "DONE":
            self._ended.add(aggregate.id)
            if len(self._ended) == self._count and not self.all.done():
                self.all.set_result(None)


async def _asked(perdure: Perdure, count: int) -> list[dict[str, str]]:
    """So many instances that wait, and a result for the task of each."""
    found: list[dict[str, str]] = []

    async def begin(number: int) -> None:
        begun = await perdure.lifecycles.start("bench_door", f"client-{number}")
        tasks = begun.instance.tasks
        while not tasks:
            await perdure.runtime.store.changed(0.1)
            tasks = (await perdure.lifecycles.get(begun.instance.id)).tasks
        found.append(
            {"correlation_id": tasks[0].correlation_id, "status": "completed", "cargo_ref": f"entity://default/{number}"}
        )  # fmt: skip

    await drain_all(AT_ONCE, begin, count)
    return found


def _sender(perdure: Perdure, url: str, door: str) -> Send:
    """How results are sent; a broker has them already, and its consumer begins."""

    def each(send: Callable[[dict[str, str]], Awaitable[Any]]) -> Send:
        async def every(results: list[dict[str, str]]) -> None:
            async def one(number: int) -> None:
                await send(results[number])

            await drain_all(AT_ONCE, one, len(results))

        return every

    if door == "http":
        transport = httpx.ASGITransport(make_app(perdure, ServerConfig(authentication=()), b"bench" * 8))
        client = httpx.AsyncClient(base_url="http://localhost", transport=transport, timeout=60)
        return each(lambda result: client.post("/api/workflow/task-complete", json=result))
    if door == "verb":
        return each(lambda result: perdure.call("workflow.complete-task", result))
    if door == "sql":
        return lambda results: _inserted(url, results)
    if door in BROKERS:
        return lambda results: _consuming(perdure)
    return each(
        lambda result: perdure.lifecycles.complete_task(result["correlation_id"], cargo_ref=result["cargo_ref"])
    )


async def _inserted(url: str, results: list[dict[str, str]]) -> None:
    """One transaction of another connection."""
    names, rows = list(results[0]), [list(each.values()) for each in results]
    if url.startswith("sqlite"):
        await asyncio.to_thread(_inserted_in_file, url.removeprefix("sqlite:///"), names, rows)
        return
    statement = sql.SQL("INSERT INTO task_result_queue ({}) VALUES ({})").format(
        sql.SQL(", ").join(map(sql.Identifier, names)), sql.SQL(", ").join(sql.Placeholder() * len(names))
    )
    async with await psycopg.AsyncConnection.connect(url) as connection, connection.cursor() as cursor:
        await cursor.executemany(statement, rows)


def _inserted_in_file(path: str, names: list[str], rows: list[list[str]]) -> None:
    import sqlite3  # noqa: PLC0415  only this door needs it

    connection = sqlite3.connect(path, timeout=60)
    connection.executemany(
        f"INSERT INTO task_result_queue ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", rows
    )
    connection.commit()
    connection.close()


async def _published(perdure: Perdure, url: str, results: list[dict[str, str]]) -> None:
    settings = BusSettings((Broker("bench", url),), (ResultSource("bench", SOURCE, principal="bus:bench"),))
    perdure.runtime.buses = buses = Buses(settings)
    consumer = await (await buses.get("bench")).consume(SOURCE, "perdure", "first", 30.0)
    await consumer.close()  # the source is there from now on
    for number, result in enumerate(results):
        await buses.publish("bench", SOURCE, json.dumps(result).encode(), message_id=f"m{number}")


async def _consuming(perdure: Perdure) -> None:
    perdure.runtime.bus_doors = BusDoors(perdure.runtime)
    perdure.runtime.bus_doors.start()


if __name__ == "__main__":
    main()
