"""Steps that wait for an engine: one row a step, counted up at each attempt, gone at the end."""

from __future__ import annotations

from perdure.sources import Id
from perdure.store.driver_selection import open_driver
from perdure.store.store import Store
from perdure.testing.virtual_clock import VirtualSources

CALL, OTHER = Id(b"c" * 16), Id(b"d" * 16)
ENGINE = "temporal://127.0.0.1:7233/default"


async def test_attempts_are_counted_since_the_first_until_the_wait_ends(store_url: str) -> None:
    driver = open_driver(store_url)
    await driver.open()
    try:
        waits = Store(driver, VirtualSources()).engine_waits
        assert await waits.read(CALL, 1) is None
        for at, reason in ((10, "refused"), (20, "timed out")):
            await waits.tried("default", CALL, 1, engine=ENGINE, reason=reason, now=at, next_at=at + 5)
        await waits.tried("default", OTHER, 2, engine=ENGINE, reason="refused", now=30, next_at=35)
        assert await waits.read(CALL, 1) == (ENGINE, 10, 2, 20, 25, "timed out")
        assert await waits.count() == {ENGINE: (2, 10)}
        await waits.end(CALL, 1)
        await waits.end(CALL, 1)
        assert (await waits.read(CALL, 1), await waits.count()) == (None, {ENGINE: (1, 30)})
    finally:
        await driver.close()
