"""The journal of a call or runbook: read as it is, as it was after a record, and followed until its end."""

from __future__ import annotations

from collections.abc import AsyncIterator

from perdure.app.calls.outcome_wait import is_ended
from perdure.app.calls.views import EventView, event_views
from perdure.app.runtime import Runtime
from perdure.errors import RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.runbooks.executor.call_executor import KIND
from perdure.sources import id_text, parse_id

POLL_SECONDS = 1.0


async def read(runtime: Runtime, origin: Origin, id: str) -> Aggregate:
    """A call or a runbook as it is now."""
    aggregate = await runtime.kernel.read(parse_id(id), origin)
    if aggregate.kind != KIND:
        fact, hint = f"that is the id of an {aggregate.kind}", "Look among the instances."
        raise RejectedError(Rejection("not_found", "find", "call", id, fact, hint))
    return aggregate


async def follow(runtime: Runtime, origin: Origin, id: str, after: int, is_following: bool) -> AsyncIterator[EventView]:
    """The journal, oldest first; with `is_following`, what is still to come as well until it ends."""
    aggregate = await read(runtime, origin, id)
    codec, after = runtime.machines[KIND].records, min(after, aggregate.version)
    while True:
        async for row in runtime.store.history(aggregate, after):
            after = row.sequence
            for event in event_views(row.sequence, codec.decode(row.body)):
                yield event
        if not is_following or (is_ended(aggregate) and after >= aggregate.version):
            return
        await runtime.driver.changed(POLL_SECONDS)
        aggregate = await runtime.kernel.read(aggregate.id, origin)


async def as_of(runtime: Runtime, aggregate: Aggregate, sequence: int) -> Aggregate:
    """As it was after that many records."""
    if not 1 <= sequence <= aggregate.version:
        fact = f"its journal has {aggregate.version} records"
        raise RejectedError(
            Rejection("not_found", f"go back to record {sequence} of", "runbook", id_text(aggregate.id), fact)
        )
    machine, state = runtime.machines[KIND], None
    async for row in runtime.store.history(aggregate):
        if row.sequence <= sequence:
            for entry in machine.records.decode(row.body).entries:
                state = machine.apply(state, entry)
    return Aggregate(
        aggregate.id, aggregate.tenant, aggregate.kind, sequence, state, aggregate.head, aggregate.rows
    )  # fmt: skip
