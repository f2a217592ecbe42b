"""A clock that is set back while a process runs: nothing of what it does waits for the clock to catch up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from perdure import Perdure, sources
from perdure.sources import SECOND, SystemSources
from perdure.verbs import load_text

HOUR_NS = 3600 * 1_000_000_000
HANG_SECONDS = 60
VERBS = """
verbs:
- {name: clock.brief, execution: {kind: durable, policy: {timeout: PT3S}}}
"""


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the clock of this process so many nanoseconds ahead."""
    ahead = [0]
    monkeypatch.setattr(sources, "time_ns", lambda: time.time_ns() + ahead[0])

    def put(nanoseconds: int) -> None:
        ahead[0] = nanoseconds

    return put


async def timer_and_seal(perdure: Perdure) -> None:
    """A timer that is set now fires, and what is recorded now is sealed."""
    driver = perdure.runtime.driver
    async with asyncio.timeout(HANG_SECONDS):
        call = await perdure.call("clock.brief")
        assert (await perdure.wait(call.id)).state == "failed"
        sealed = await driver.fetch("last_seal")
        while await driver.fetch("last_seal") == sealed:
            await perdure.call("clock.brief", wait=False)
            await driver.changed(1)


@pytest.mark.req("X13")
async def test_timers_fire_and_records_are_sealed_after_the_clock_was_set_back(
    sqlite_url: str, tmp_path: Path, set_clock: Callable[[int], None]
) -> None:
    key = tmp_path / "seal.key"
    async with Perdure.open(
        sqlite_url, definitions=load_text(VERBS), seal_key_file=key, seal_every_seconds=1
    ) as perdure:
        await perdure.runtime.recovered.wait()
        set_clock(-HOUR_NS)
        await timer_and_seal(perdure)


@pytest.mark.req("X13")
async def test_a_process_that_was_apart_does_its_duties_again_as_soon_as_the_clocks_agree(
    postgres_url: str, tmp_path: Path, set_clock: Callable[[int], None]
) -> None:
    key = tmp_path / "seal.key"
    async with Perdure.open(
        postgres_url, definitions=load_text(VERBS), seal_key_file=key, seal_every_seconds=1
    ) as perdure:
        await perdure.runtime.recovered.wait()
        for seconds in (-HOUR_NS, 0):
            set_clock(seconds)
            await asyncio.to_thread(perdure.runtime.lease.beat_once)
        await timer_and_seal(perdure)


async def test_an_interval_is_slept_by_the_monotonic_clock(set_clock: Callable[[int], None]) -> None:
    system = SystemSources()
    async with asyncio.timeout(HANG_SECONDS):
        sleeping = asyncio.create_task(system.sleep(SECOND // 10))
        await asyncio.sleep(0)
        set_clock(-HOUR_NS)
        await sleeping


async def test_a_moment_is_looked_for_again_at_every_poll(set_clock: Callable[[int], None]) -> None:
    system = SystemSources()
    async with asyncio.timeout(HANG_SECONDS):
        sleeping = asyncio.create_task(system.sleep_until(system.now() + 1800 * SECOND))
        await asyncio.sleep(0)
        set_clock(HOUR_NS)
        await sleeping


async def test_time_that_follows_the_store_is_not_moved_by_the_clock_of_the_machine(
    set_clock: Callable[[int], None],
) -> None:
    system = SystemSources()
    system.follow(7 * SECOND - system.monotonic())
    set_clock(HOUR_NS)
    assert 7 * SECOND <= system.now() < 60 * SECOND
