"""How a store stands: schema, durability, sizes, what is overdue, who works on it."""

from __future__ import annotations

from typing import Any

from perdure.sources import Micros, iso
from perdure.store.migrations import newest
from perdure.store.queries import Dialect
from perdure.store.store import Store
from perdure.work.worker_identity import is_gone, this_process


async def check(store: Store, now: Micros) -> dict[str, Any]:
    """Everything an operator asks first; cheap enough for any time except for counting rows."""
    driver = store.driver
    dialect: Dialect = "postgres" if driver.dialect == "postgres" else "sqlite"
    ((oldest,),) = await driver.fetch("oldest_timer")
    workers = await store.live_workers()
    sizes = {name: int(count) for name, count in await driver.fetch("table_sizes")}
    seals = await driver.fetch("last_seal")
    unsealed = await driver.fetch("count_records_after", after=seals[0][1] if seals else 0)
    return {
        "dialect": dialect,
        "schema": int((await driver.fetch("schema_version"))[0][0]),
        "newest_schema": newest(dialect),
        "durability": {name: str(value) for name, value in await driver.fetch("durability")},
        "rows": {name: count for name, count in sizes.items() if name != "quarantined"},
        "quarantined": sizes["quarantined"],
        "unsealed_records": int(unsealed[0][0]),
        "oldest_timer_due": iso(oldest),
        "is_timer_overdue": oldest is not None and oldest < now,
        "outgrown": [
            f"{process} on {host}"
            for host, process in await store.outgrown_workers()
            if not is_gone(host, process, this_process())
        ],
        "workers": [
            {"number": each.number, "host": each.host, "process": each.process, "is_live": not each.is_lapsed}
            for each in workers
        ],
    }
