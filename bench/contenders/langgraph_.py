"""LangGraph: a graph of five nodes; interrupt and resume. Checkpoints are written with durability `sync`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypedDict

import aiosqlite
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from bench.load import Durability, Load, Sample, drain_all, drive, latencies, payload_of, require_durability


class State(TypedDict):
    payload: dict[str, Any]


async def pass_on(state: State) -> State:
    return {"payload": state["payload"]}


async def wait_for_signal(state: State) -> State:
    return {"payload": interrupt("go")}


def steps(load: Load) -> Sample:
    """Five nodes in a row, each checkpointed before the next begins."""
    return asyncio.run(_steps(load))


def signals(load: Load) -> Sample:
    """`count` threads stop at an interrupt, then every one is resumed."""
    return asyncio.run(_signals(load))


def one_signal(load: Load) -> Sample:
    """From the resume command to the finished graph, nothing else going on."""
    return asyncio.run(_one_signal(load))


async def _steps(load: Load) -> Sample:
    payload = payload_of(load.payload)
    async with _saver(load) as saver:
        graph = _five_nodes().compile(checkpointer=saver)

        async def one(number: int) -> None:
            await graph.ainvoke({"payload": payload}, _thread(number), durability="sync")

        sample = await drive(load, one)
    return sample | {"steps_per_second": sample["runs_per_second"] * 5}


async def _signals(load: Load) -> Sample:
    async with _saver(load) as saver:
        graph = _one_wait().compile(checkpointer=saver)

        async def park(number: int) -> None:
            await graph.ainvoke({"payload": {}}, _thread(number), durability="sync")

        async def resume(number: int) -> None:
            await graph.ainvoke(Command(resume={"ok": True}), _thread(number), durability="sync")

        parking = await drain_all(load.concurrency, park, load.count)
        elapsed = await drain_all(load.concurrency, resume, load.count)
    return {"signals_per_second": load.count / elapsed, "parked_per_second": load.count / parking}


async def _one_signal(load: Load) -> Sample:
    seconds = []
    async with _saver(load) as saver:
        graph = _one_wait().compile(checkpointer=saver)
        for number in range(load.count):
            await graph.ainvoke({"payload": {}}, _thread(number), durability="sync")
            began = time.perf_counter()
            await graph.ainvoke(Command(resume={"ok": True}), _thread(number), durability="sync")
            seconds.append(time.perf_counter() - began)
    return latencies(seconds)


def _thread(number: int) -> Any:
    return {"configurable": {"thread_id": f"thread-{number}"}}


def _five_nodes() -> StateGraph[State]:
    builder = StateGraph(State)
    names = [f"node_{number}" for number in range(5)]
    for name in names:
        builder.add_node(name, pass_on)
    for before, after in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(before, after)
    return builder


def _one_wait() -> StateGraph[State]:
    builder = StateGraph(State)
    builder.add_node("wait", wait_for_signal)
    builder.add_edge(START, "wait")
    builder.add_edge("wait", END)
    return builder


@asynccontextmanager
async def _saver(load: Load) -> AsyncIterator[Any]:
    if load.store == "sqlite":
        async with aiosqlite.connect(load.url.removeprefix("sqlite:///")) as connection:
            await connection.execute("PRAGMA journal_mode=WAL")
            await connection.execute("PRAGMA synchronous=FULL")
            saver = AsyncSqliteSaver(connection)
            await saver.setup()
            require_durability("sqlite", await _sqlite_durability(connection))
            yield saver
        return
    keywords = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    size = max(4, load.concurrency)
    async with AsyncConnectionPool(load.url, min_size=4, max_size=size, kwargs=keywords) as pool:
        postgres_saver = AsyncPostgresSaver(pool)  # type: ignore[arg-type]
        await postgres_saver.setup()
        require_durability("postgres", await _postgres_durability(pool))
        yield postgres_saver


async def _sqlite_durability(connection: aiosqlite.Connection) -> Durability:
    found = []
    for pragma in ("PRAGMA journal_mode", "PRAGMA synchronous"):
        async with connection.execute(pragma) as cursor:
            row = await cursor.fetchone()
            assert row is not None
            found.append(str(row[0]))
    return Durability(found[0], found[1])


async def _postgres_durability(pool: Any) -> Durability:
    async with pool.connection() as connection:
        fsync = await (await connection.execute("SHOW fsync")).fetchone()
        commit = await (await connection.execute("SHOW synchronous_commit")).fetchone()
    return Durability(f"fsync={fsync['fsync']}", str(commit["synchronous_commit"]))
