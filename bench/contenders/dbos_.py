"""DBOS: a workflow of five steps; recv and send; workflow sleep. Set to WAL/FULL on SQLite and a 10 ms poll."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import sqlalchemy
from dbos import DBOS, DBOSConfig, SetWorkflowID

from bench.load import Durability, Load, Sample, drain_all, drive, latencies, payload_of, require_durability

POLL_SECONDS = 0.01
PARKED_AT_LEAST_SECONDS = 0.25


@sqlalchemy.event.listens_for(sqlalchemy.engine.Engine, "connect")
def _equal_durability(connection: Any, _record: Any) -> None:
    """DBOS ships SQLite in DELETE journal mode: every connection is set to what we use ourselves."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")


@DBOS.step()
async def step(payload: dict[str, Any]) -> dict[str, Any]:
    return payload


@DBOS.workflow()
async def five_steps(payload: dict[str, Any]) -> dict[str, Any]:
    for _ in range(5):
        payload = await step(payload)
    return payload


@DBOS.step()
def plain_step(payload: dict[str, Any]) -> dict[str, Any]:
    return payload


@DBOS.workflow()
def five_plain_steps(payload: dict[str, Any]) -> dict[str, Any]:
    for _ in range(5):
        payload = plain_step(payload)
    return payload


@DBOS.workflow()
async def wait_for_signal() -> Any:
    return await DBOS.recv_async("go", timeout_seconds=600)


@DBOS.workflow()
def wait_plainly_for_signal() -> Any:
    return DBOS.recv("go", timeout_seconds=600)


@DBOS.workflow()
async def sleep_until(due: float) -> float:
    await DBOS.sleep_async(max(0.0, due - time.time()))
    return due


def steps(load: Load) -> Sample:
    """Five recorded steps in one workflow; `mode` chooses coroutine workflows or threads."""
    return asyncio.run(_steps(load))


def signals(load: Load) -> Sample:
    """`count` workflows wait in recv, then every one is sent its message."""
    return asyncio.run(_signals(load))


def one_signal(load: Load) -> Sample:
    """From sending one message to its workflow's result, nothing else going on."""
    return asyncio.run(_one_signal(load))


def timers(load: Load) -> Sample:
    """Workflow sleeps due within `seconds`: lateness when the workflow's result is there."""
    return asyncio.run(_timers(load))


async def _steps(load: Load) -> Sample:
    payload = payload_of(load.payload)

    async def coroutine(_: int) -> None:
        await five_steps(payload)

    async def threads(_: int) -> None:
        handle = await asyncio.to_thread(DBOS.start_workflow, five_plain_steps, payload)
        await asyncio.wrap_future(handle.future)  # type: ignore[attr-defined]

    async with _launched(load):
        sample = await drive(load, threads if load.mode == "threads" else coroutine)
    return sample | {"steps_per_second": sample["runs_per_second"] * 5}


async def _park(load: Load, number: int) -> Any:
    with SetWorkflowID(f"parked-{number}"):
        if load.mode == "threads":
            return await asyncio.to_thread(DBOS.start_workflow, wait_plainly_for_signal)
        return await DBOS.start_workflow_async(wait_for_signal)


async def _finish(load: Load, handle: Any) -> None:
    if load.mode == "threads":
        await asyncio.wrap_future(handle.future)
    else:
        await handle.get_result(polling_interval_sec=POLL_SECONDS)


async def _signals(load: Load) -> Sample:
    handles: dict[int, Any] = {}

    async def park(number: int) -> None:
        handles[number] = await _park(load, number)

    async def send(number: int) -> None:
        await DBOS.send_async(f"parked-{number}", {"ok": True}, "go")

    async with _launched(load):
        parking = await drain_all(load.concurrency, park, load.count)
        await asyncio.sleep(PARKED_AT_LEAST_SECONDS)
        began = time.perf_counter()
        await drain_all(load.concurrency, send, load.count)
        await asyncio.gather(*(_finish(load, handle) for handle in handles.values()))
        elapsed = time.perf_counter() - began
    return {"signals_per_second": load.count / elapsed, "parked_per_second": load.count / parking}


async def _one_signal(load: Load) -> Sample:
    seconds = []
    async with _launched(load):
        for number in range(load.count):
            handle = await _park(load, number)
            await asyncio.sleep(PARKED_AT_LEAST_SECONDS / 5)
            began = time.perf_counter()
            await DBOS.send_async(f"parked-{number}", {"ok": True}, "go")
            await _finish(load, handle)
            seconds.append(time.perf_counter() - began)
    return latencies(seconds)


async def _timers(load: Load) -> Sample:
    first_due = time.time() + 3 + load.count / 150
    lateness = []

    async def one(number: int) -> None:
        due = first_due + load.seconds * number / load.count
        await five_minutes(sleep_until(due))
        lateness.append(time.time() - due)

    async def five_minutes(work: Any) -> None:
        await asyncio.wait_for(work, 300)

    async with _launched(load):
        await drain_all(load.count, one, load.count)
    early = sum(late < 0 for late in lateness)
    return latencies(lateness) | {"early": early, "lost": load.count - len(lateness)}


@asynccontextmanager
async def _launched(load: Load) -> AsyncIterator[None]:
    os.environ.setdefault("DBOS__APPVERSION", "bench")
    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": load.url,
        "sys_db_pool_size": max(20, load.concurrency),
        "max_executor_threads": _threads(load),
        "notification_listener_polling_interval_sec": POLL_SECONDS,
        "log_level": "ERROR",
    }
    dbos = DBOS(config=config)
    DBOS.launch()
    try:
        require_durability(load.store, _durability(load, dbos))
        yield
    finally:
        DBOS.destroy()


def _threads(load: Load) -> int:
    """A plain workflow that waits holds its thread: enough for all of them and for the senders."""
    return 64 + (load.count if load.mode == "threads" and load.workload == "signals" else 0)


def _durability(load: Load, dbos: Any) -> Durability:
    engine = dbos._sys_db.engine
    with engine.connect() as connection:
        if load.store == "sqlite":
            journal = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
            return Durability(str(journal), str(connection.exec_driver_sql("PRAGMA synchronous").scalar()))
        fsync = connection.exec_driver_sql("SHOW fsync").scalar()
        return Durability(f"fsync={fsync}", str(connection.exec_driver_sql("SHOW synchronous_commit").scalar()))
