"""A machine whose clock is wrong, beside one whose clock is right, on one store."""

from __future__ import annotations

from typing import Any

import pytest

from perdure import Perdure
from perdure.verbs import load_text
from tests.clocks.processes import Worker, worker
from tests.clocks.worker import VERBS

HOUR = 3600


async def live_leases(reader: Perdure) -> set[int]:
    return {row.number for row in await reader.runtime.store.live_workers()}


async def assert_nothing_was_taken(healthy: Worker, reader: Perdure, before: dict[str, Any], timed: str) -> None:
    assert before["lease"] in await live_leases(reader)
    assert (await healthy.ask("status"))["lease"] == before["lease"]
    assert (await reader.status(timed)).state == "parked"


@pytest.mark.req("V21")
@pytest.mark.parametrize("ahead", [HOUR, -HOUR], ids=["ahead", "behind"])
async def test_a_worker_whose_clock_is_an_hour_off_fires_nothing_and_takes_nothing(
    postgres_url: str, ahead: int
) -> None:
    async with (
        Perdure.open(postgres_url, definitions=load_text(VERBS), role="caller") as caller,
        worker(postgres_url) as healthy,
        worker(postgres_url) as wrong,
    ):
        timed = (await caller.call("clock.timed")).id
        await healthy.ask("begin")
        before = await healthy.ask("status")
        await wrong.ask("ahead", ahead)
        for _ in range(3):
            await wrong.ask("work")
        await assert_nothing_was_taken(healthy, caller, before, timed)
        await wrong.ask("beat")
        apart = await wrong.ask("status")
        assert apart["duties"] == 0
        assert f"perdure_clock_difference_seconds {'-' if ahead < 0 else ''}3" in apart["metrics"]
        await wrong.ask("work")
        await assert_nothing_was_taken(healthy, caller, before, timed)
        await wrong.ask("ahead", 0)
        await wrong.ask("beat")
        again = await wrong.ask("status")
        assert again["duties"] == before["duties"] > 0
        assert await healthy.ask("finish") == "completed"
        runs = [(await each.ask("status"))["runs"] for each in (healthy, wrong)]
        assert runs == [1, 0]
    assert "this process does no duty until they agree" in wrong.log
    assert "does its duties again" in wrong.log


async def test_processes_of_one_file_keep_their_leases_when_the_clock_is_set_ahead(sqlite_url: str) -> None:
    """They share the clock of their machine: until the next heartbeat every lease seems to have run out."""
    async with worker(sqlite_url) as one, worker(sqlite_url) as two:
        await one.ask("begin")
        before = [await each.ask("status") for each in (one, two)]
        for each in (one, two):
            await each.ask("ahead", HOUR)
        await two.ask("work")
        await one.ask("work")
        assert [(await each.ask("status"))["lease"] for each in (one, two)] == [each["lease"] for each in before]
        assert await one.ask("finish") == "completed"
        assert [(await each.ask("status"))["runs"] for each in (one, two)] == [1, 0]
