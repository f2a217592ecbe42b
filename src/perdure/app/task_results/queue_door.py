"""The door of SQL: rows of `task_result_queue` are leased, taken in, and settled after the commit.

| killed | what happens then |
|---|---|
| after rows were leased | the lease runs out, and another look takes them |
| after a result was counted, before its row was settled | taken again, and known |
| after poison was parked, before its row was settled | taken again, and the letter is known |

Poison of a tenant that may keep no more dead letters stays in the queue, which goes on with everybody else's rows.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from perdure.app.task_results.result_intake import Sender
from perdure.buses.delivery_outcome import UNSEEN, Taken, decide
from perdure.errors import TenantBusyError
from perdure.lifecycles.ports import QueuedResult
from perdure.sources import SECOND, Micros

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

DOOR = "sql"
AT_ONCE = 200
LEASE: Micros = 30 * SECOND
PAUSE: Micros = SECOND
FULL_PAUSE: Micros = 60 * SECOND
"""Poison that has no room waits so long for somebody to make some."""
KEPT: Micros = 7 * 24 * 3600 * SECOND
"""Rows that were dealt with stay so long, for whoever inserted them to look."""
MAX_TRIES = 5


class QueueDoor:
    """Looked through at every round of upkeep, which an insert wakes."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def drain(self) -> int:
        """Take one batch of rows in; how many were settled."""
        queue, now = self._runtime.store.task_results, self._runtime.sources.now()
        rows = await queue.lease(now, now + LEASE, AT_ONCE)
        if not rows:
            return 0
        taken = await asyncio.gather(*(self._take(row) for row in rows))
        settled = [(row.id, outcome) for row, outcome in zip(rows, taken, strict=True) if outcome]
        await queue.settle(settled, self._runtime.sources.now())
        return len(settled)

    async def _take(self, row: QueuedResult) -> str:
        """The outcome that settles a row; empty when it stays for another look."""
        sender = Sender(DOOR, row.tenant, DOOR)
        if row.fault:
            taken = Taken("bad", row.fault)
        elif row.tries > UNSEEN * MAX_TRIES:
            taken = Taken("bad", f"it was leased {row.tries} times and never ended")
        else:
            taken = await self._runtime.results.take(row.fields, sender)
        act = decide(taken.outcome, row.tries, MAX_TRIES)
        if act == "acknowledge":
            return taken.outcome
        if act == "park":
            body = msgspec.json.encode({name: value for name, value in row.fields.items() if value is not None})
            try:
                await self._runtime.results.park(body, sender, f"task_result_queue/{row.id}", taken.reason)
                return f"parked: {taken.reason}"[:500]
            except TenantBusyError as error:
                return await self._release(row, error, FULL_PAUSE)
        return await self._release(row, taken.reason, PAUSE)

    async def _release(self, row: QueuedResult, reason: object, pause: Micros) -> str:
        now = self._runtime.sources.now()
        await self._runtime.store.task_results.release(row.id, f"waits: {reason}"[:500], now + pause)
        return ""

    async def forget(self) -> None:
        """Remove rows that were dealt with long ago."""
        while await self._runtime.store.task_results.forget(self._runtime.sources.now() - KEPT):
            pass
