"""Lifecycle events of the instances of a tenant, from a position of our journal on."""

from __future__ import annotations

from collections.abc import AsyncIterator

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.engine import LifecycleEvent
from perdure.journal import Origin
from perdure.processes.ports import ProcessReads

AT_ONCE = 200
POLL_SECONDS = 1.0


async def follow(
    store: ProcessReads, machine: InstanceMachine, origin: Origin, position: int = 0
) -> AsyncIterator[LifecycleEvent]:
    """Events after a position, in the order of commits, and what is still to come, until nobody asks any more."""
    while True:
        rows = await store.feed(position, AT_ONCE)
        for row in rows:
            position = row.cursor
            if row.kind == INSTANCE and row.tenant == origin.tenant:
                record = machine.records.decode(row.body)
                yield LifecycleEvent(position, row.aggregate, row.sequence, record.at, record.entries)
        if not rows:
            await store.changed(POLL_SECONDS)
