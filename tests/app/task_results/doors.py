"""The doors of task results as tests use them: send, let one process work, look what is left."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from typing import Any, Protocol

import httpx
import psycopg
from psycopg import sql

from perdure.app.configuration.server import ServerConfig
from perdure.app.task_results.bus_doors import BusDoors
from perdure.buses.bus import Consumer, Delivery
from perdure.buses.bus_selection import Buses
from perdure.buses.bus_settings import Broker, BusSettings, ResultSource
from perdure.errors import RejectedError
from perdure.surfaces.http.application import make_app
from perdure.testing.fault_injection import Crash
from perdure.testing.sandbox import Sandbox
from tests.surfaces.http.in_process_server import SECRET

CLAIM_SECONDS = 0.3
QUIET_ROUNDS = 2
"""So many empty rounds of a consumer mean that nothing comes any more."""


class Door(Protocol):
    """One way in."""

    async def send(self, fields: dict[str, Any] | bytes) -> None:
        """What another system does: bytes are what it should never send."""
        ...

    async def work(self, sandbox: Sandbox, dies_at: int = 0) -> None:
        """Let a process take in what is there; it dies before or after its so manieth acknowledgement."""
        ...

    async def left(self, sandbox: Sandbox) -> int:
        """How much waits."""
        ...


class SqlDoor:
    """Rows inserted by a connection of its own."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def send(self, fields: dict[str, Any] | bytes) -> None:
        if isinstance(fields, bytes):
            fields = {"correlation_id": "\x01", "status": "failed", "items": fields.decode("utf-8", "replace")}
        row = {**fields, "items": json.dumps(fields["items"])} if isinstance(fields.get("items"), list) else fields
        insert(self._url, row)

    async def work(self, sandbox: Sandbox, dies_at: int = 0) -> None:
        queue = sandbox.runtime.store.task_results
        if dies_at:
            settle, calls = queue.settle, 0

            async def dying(*arguments: Any) -> None:
                nonlocal calls
                calls += 1
                if calls * 2 - 1 == dies_at:
                    raise Crash
                await settle(*arguments)
                if calls * 2 == dies_at:
                    raise Crash

            queue.settle = dying  # type: ignore[method-assign]
        await sandbox.advance("PT1M")  # leases of those who died run out

    async def left(self, sandbox: Sandbox) -> int:
        return await sandbox.runtime.store.task_results.count(1000)


def insert(url: str, row: dict[str, Any]) -> None:
    if url.startswith("sqlite"):
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=30)) as connection:
            connection.execute(f"INSERT INTO task_result_queue ({names}) VALUES ({marks})", list(row.values()))
            connection.commit()
        return
    statement = sql.SQL("INSERT INTO task_result_queue ({}) VALUES ({})").format(
        sql.SQL(", ").join(map(sql.Identifier, row)), sql.SQL(", ").join(sql.Placeholder() * len(row))
    )
    with psycopg.connect(url) as connection:
        connection.execute(statement, list(row.values()))


class OperationDoor:
    """The row of the table of operations that HTTP, the clients and the command derive from; its sender tries again."""

    def __init__(self) -> None:
        self._sent: list[dict[str, Any]] = []

    async def send(self, fields: dict[str, Any] | bytes) -> None:
        if not isinstance(fields, bytes):
            self._sent.append(fields)

    async def work(self, sandbox: Sandbox, dies_at: int = 0) -> None:
        while self._sent:
            fields = dict(self._sent[0])
            with suppress(RejectedError):  # told to whoever sent it, who has to mend it
                await sandbox.lifecycles.complete_task(fields.pop("correlation_id"), **fields)
            self._sent.pop(0)
        await sandbox.run_until_idle()

    async def left(self, sandbox: Sandbox) -> int:
        return len(self._sent)


class VerbDoor(OperationDoor):
    """Calls of `workflow.complete-task`."""

    async def work(self, sandbox: Sandbox, dies_at: int = 0) -> None:
        while self._sent:
            fields = {name.replace("_", "-"): value for name, value in self._sent[0].items()}
            await sandbox.call("workflow.complete-task", fields)
            self._sent.pop(0)
        await sandbox.run_until_idle()


class HttpDoor(OperationDoor):
    """`POST /api/workflow/task-complete`; a sender that got no answer sends again."""

    async def work(self, sandbox: Sandbox, dies_at: int = 0) -> None:
        edge = make_app(sandbox, ServerConfig(authentication=()), SECRET)
        async with httpx.AsyncClient(base_url="http://localhost", transport=httpx.ASGITransport(edge)) as client:
            while self._sent:
                answer = await client.post("/api/workflow/task-complete", json=self._sent[0])
                assert answer.status_code in (200, 202, 400, 404), answer.text
                self._sent.pop(0)
        await sandbox.run_until_idle()


class Dying:
    """A consumer whose process dies before or after one of its acknowledgements."""

    def __init__(self, inner: Consumer, dies_at: int) -> None:
        self._inner = inner
        self._dies_at = dies_at
        self._calls = 0

    async def acknowledge(self, settled: list[Delivery]) -> None:
        self._calls += 1
        if self._calls * 2 - 1 == self._dies_at:
            raise Crash
        await self._inner.acknowledge(settled)
        if self._calls * 2 == self._dies_at:
            raise Crash

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class BusDoor:
    """A source at a broker; every process has a connection of its own, and a dead one leaves without a word."""

    def __init__(self, url: str, source: str) -> None:
        self._url, self._source = url, source
        self._number = 0

    def buses(self) -> Buses:
        source = ResultSource("office", self._source, principal="bus:office", claim_seconds=CLAIM_SECONDS)
        return Buses(BusSettings((Broker("office", self._url),), (source,)))

    async def begin(self) -> None:
        """Join once, so that the source is there before anything is sent."""
        buses = self.buses()
        consumer = await (await buses.get("office")).consume(self._source, "perdure", "first", CLAIM_SECONDS)
        await consumer.close()
        await buses.close()

    async def send(self, fields: dict[str, Any] | bytes) -> None:
        buses = self.buses()
        self._number += 1
        body = fields if isinstance(fields, bytes) else json.dumps(fields).encode()
        await buses.publish("office", self._source, body, message_id=f"m{self._number}")
        await buses.close()

    async def work(self, sandbox: Sandbox, dies_at: int = 0) -> None:
        sandbox.runtime.buses = buses = self.buses()
        loop = BusDoors(sandbox.runtime).loop(buses.settings.results[0])
        consumer = await loop._join()
        try:
            while await self.left(sandbox):
                await loop.round(Dying(consumer, dies_at))  # type: ignore[arg-type]
                await sandbox.run_until_idle()
            await consumer.close()
        except Crash:
            if hasattr(consumer, "_client") and self._url.startswith("kafka"):
                await consumer.close()  # nothing is committed by that; a member that is silent is missed after seconds
            raise
        finally:
            await buses.close()

    async def left(self, sandbox: Sandbox) -> int:
        lag = await (await sandbox.runtime.buses.get("office")).lag(self._source, "perdure")
        return 1 if lag is None else lag
