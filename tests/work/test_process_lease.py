"""The lease of a process, whose thread outlives the loop that it was taken in."""

from __future__ import annotations

import asyncio
import threading

import pytest

from perdure.sources import SystemSources
from perdure.store.driver_selection import open_driver
from perdure.store.store import Store
from perdure.work.event_loop import call_in_loop
from perdure.work.process_lease import FOR_EVER, Lease


def test_a_lease_lost_after_its_program_ended_disturbs_nobody(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    failures: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)

    async def begin() -> None:
        driver = open_driver(sqlite_url)
        await driver.open()
        store = Store(driver, SystemSources())
        number = await Lease(store, SystemSources(), seconds=0.2).take(lambda: None)
        await store.fence_worker(number, FOR_EVER)
        await driver.close()

    asyncio.run(begin())
    kept = [thread for thread in threading.enumerate() if thread.name == "perdure-lease"]
    for thread in kept:
        thread.join()
    assert not failures


def test_a_thread_tells_nobody_once_the_loop_has_ended() -> None:
    ended = asyncio.new_event_loop()
    ended.close()
    call_in_loop(ended, pytest.fail, "told a loop that has ended")


async def test_a_loop_that_runs_is_told_by_other_threads() -> None:
    told = asyncio.Event()
    await asyncio.to_thread(call_in_loop, asyncio.get_running_loop(), told.set)
    await told.wait()
