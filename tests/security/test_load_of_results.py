"""Task results of many tenants: none of them holds up the results of another, by number or by poison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.app.task_results.queue_door import AT_ONCE
from perdure.work import dead_letter_limit
from tests.app.task_results.doors import insert
from tests.app.task_results.test_result_doors import opened
from tests.conformance.stores import Raw

pytestmark = [pytest.mark.both_stores, pytest.mark.req("T4"), pytest.mark.req("P3")]


def fill(url: str, count: int, **row: Any) -> None:
    """So many rows of another tenant, for tasks that nobody asked for."""
    told = {"tenant": "south", "status": "failed", **row}
    names, marks = ", ".join([*told, "correlation_id"]), ", ".join("?" * (len(told) + 1))
    with Raw(url) as raw:
        for number in range(count):
            raw(f"INSERT INTO task_result_queue ({names}) VALUES ({marks})", *told.values(), f"nobody:{number}")


async def test_a_tenant_with_many_results_lets_those_of_others_through(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as (sandbox, correlation):
        fill(store_url, 2 * AT_ONCE)
        insert(store_url, {"correlation_id": correlation, "status": "completed", "cargo_ref": "entity://default/1"})
        await sandbox.runtime.result_queue.drain()
        state = await task_status(sandbox, correlation)
        assert state == "completed", "it is taken in the first round"
        assert await sandbox.runtime.store.task_results.count(1000) == AT_ONCE + 1


async def test_poison_without_room_stays_and_holds_up_nobody(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(store_url, tmp_path) as (sandbox, correlation):
        fill(store_url, 1, error="the first")
        await sandbox.run_until_idle()
        monkeypatch.setattr(dead_letter_limit, "MOST_LETTERS", 1)
        fill(store_url, 3)
        insert(store_url, {"correlation_id": correlation, "status": "completed", "cargo_ref": "entity://default/1"})
        await sandbox.run_until_idle()
        assert await task_status(sandbox, correlation) == "completed"
        with Raw(store_url) as raw:
            waiting = raw("SELECT outcome FROM task_result_queue WHERE processed_at IS NULL")
        assert len(waiting) == 3 and all("1 dead letters wait already" in text for (text,) in waiting)
        (letter,) = await sandbox.runtime.store.dead_letters("south", 10)
        await sandbox.acting(tenant="south").discard(letter.message_id, "looked at")
        await sandbox.advance("PT2M")
        assert await sandbox.runtime.store.task_results.count(1000) < 3


async def task_status(sandbox: Any, correlation: str) -> str:
    found = await sandbox.lifecycles.get(correlation.partition(":")[0])
    return str(found.tasks[0].status)
