"""Quarantine release: an aggregate leaves the quarantine when all of it can be read again."""

from __future__ import annotations

from perdure.app.runtime import Runtime
from perdure.errors import QuarantinedError
from perdure.kernel.kernel import Aggregate
from perdure.store.delta_read import DeltaReader


async def recheck(runtime: Runtime, aggregate: Aggregate) -> bool:
    """Read every payload that the state names and the whole journal; True when the aggregate is not in quarantine.

    Damaged bytes that the state no longer names are removed: an amendment stands in their place, and the journal keeps
    their hash.
    """
    store, id = runtime.store, aggregate.id
    if store.set_aside.find(id) is None:
        return True
    hashes, is_erased = runtime.machines[aggregate.kind].payloads(aggregate.state)
    needed = set() if is_erased else set(hashes)
    kept, reader = set[bytes](), DeltaReader(store.driver.fetch)
    unneeded: list[bytes] = []
    for hash, stored in await store.driver.fetch("list_payloads", aggregate=id):
        try:
            await reader.of(id, bytes(hash), stored)
            kept.add(bytes(hash))
        except QuarantinedError:
            unneeded.append(bytes(hash))
    if not needed <= kept or not await _has_whole_journal(runtime, aggregate):
        return False
    for hash in unneeded:
        await store.driver.write("drop_payload", aggregate=id, hash=hash)
    await store.set_aside.release(id)
    return True


async def _has_whole_journal(runtime: Runtime, aggregate: Aggregate) -> bool:
    try:
        async for _ in runtime.store.history(aggregate):
            pass
    except QuarantinedError:
        return False
    return True
