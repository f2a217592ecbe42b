"""The wait for an outcome: a caller waits until a call or a runbook ends, or follows its journal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from perdure.app.calls.views import EventView, event_views
from perdure.app.runtime import Runtime
from perdure.errors import RejectedError, Rejection
from perdure.journal import Origin, genesis
from perdure.kernel.kernel import Aggregate
from perdure.runbooks.executor.call_executor import KIND, SETTLED
from perdure.sources import Id, id_text, parse_id

POLL_SECONDS = 1.0
ENDED = frozenset({"completed", "failed", "cancelled"})


def is_ended(aggregate: Aggregate) -> bool:
    return aggregate.state.status in ENDED


async def read(runtime: Runtime, origin: Origin, id: str) -> Aggregate:
    """A call or a runbook as it is now."""
    aggregate = await runtime.kernel.read(parse_id(id), origin)
    if aggregate.kind != KIND:
        fact, hint = f"that is the id of an {aggregate.kind}", "Look among the instances."
        raise RejectedError(Rejection("not_found", "find", "call", id, fact, hint))
    return aggregate


async def wait_for(
    runtime: Runtime,
    origin: Origin,
    id: Id,
    until_ended: bool,
    timeout_seconds: float | None,
    known: Aggregate | None = None,
) -> Aggregate:
    """Until it has ended, or at least come to rest; or the time is up, and then as it is.

    `known` is what was just read or committed: it is not read again.
    """

    def suits(aggregate: Aggregate) -> bool:
        return is_ended(aggregate) or (not until_ended and aggregate.state.status in SETTLED)

    try:
        async with asyncio.timeout(timeout_seconds):
            while True:
                watcher = runtime.conductor.watch(id)
                try:
                    # Watching began first: whatever this process commits from here on is heard of.
                    aggregate = runtime.kernel.newer(known or await runtime.kernel.read(id, origin))
                    if suits(aggregate):
                        return aggregate
                    waits: list[asyncio.Future[Any]] = [watcher, runtime.store_changed()]
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                    if watcher.done() and suits(watcher.result()):
                        return watcher.result()
                finally:
                    runtime.conductor.unwatch(id, watcher)
                known = None
    except TimeoutError:
        return await runtime.kernel.read(id, origin)


async def follow(runtime: Runtime, origin: Origin, id: str, after: int, is_following: bool) -> AsyncIterator[EventView]:
    """The journal, oldest first; with `is_following`, what is still to come as well until it ends."""
    aggregate = await read(runtime, origin, id)
    call, codec = aggregate.id, runtime.machines[KIND].records
    after = min(after, aggregate.version)
    before = await runtime.store.records(call, after - 1, 1) if after else []
    previous = before[0].hash if before else genesis(aggregate.tenant, aggregate.kind, call)
    while True:
        aggregate = await runtime.kernel.read(call, origin)
        while rows := await runtime.store.history(call, after, previous):
            for row in rows:
                after, previous = row.sequence, row.hash
                for event in event_views(row.sequence, codec.decode(row.body)):
                    yield event
        if not is_following or (is_ended(aggregate) and after >= aggregate.version):
            return
        await runtime.driver.changed(POLL_SECONDS)


async def as_of(runtime: Runtime, aggregate: Aggregate, sequence: int) -> Aggregate:
    """As it was after that many records."""
    if not 1 <= sequence <= aggregate.version:
        fact = f"its journal has {aggregate.version} records"
        raise RejectedError(
            Rejection("not_found", f"go back to record {sequence} of", "runbook", id_text(aggregate.id), fact)
        )
    machine, state, after = runtime.machines[KIND], None, 0
    previous = genesis(aggregate.tenant, aggregate.kind, aggregate.id)
    while after < sequence and (rows := await runtime.store.history(aggregate.id, after, previous)):
        for row in rows[: sequence - after]:
            for entry in machine.records.decode(row.body).entries:
                state = machine.apply(state, entry)
        after, previous = rows[-1].sequence, rows[-1].hash
    return Aggregate(
        aggregate.id, aggregate.tenant, aggregate.kind, sequence, state, aggregate.head, aggregate.rows
    )  # fmt: skip
