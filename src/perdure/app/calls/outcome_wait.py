"""The wait for an outcome: a caller waits until a call or a runbook rests or ends."""

from __future__ import annotations

import asyncio
from typing import Any

from perdure.app.runtime import Runtime
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.runbooks.executor.call_executor import SETTLED
from perdure.sources import Id

ENDED = frozenset({"completed", "failed", "cancelled"})


def is_ended(aggregate: Aggregate) -> bool:
    return aggregate.state.status in ENDED


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
