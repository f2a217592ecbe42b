"""Parked calls without their sentences, read from a store alone: no verb is loaded, no machine when none waits."""

from __future__ import annotations

from typing import Any

from perdure.errors import RejectedError
from perdure.identifiers import check_key
from perdure.journal import Origin
from perdure.sources import SystemSources
from perdure.store.driver_selection import open_driver


class CarriedCallError(Exception):
    """A call that a process carries: only the platform can show how far the process has come."""


async def parked_calls(
    url: str, origin: Origin, sources: SystemSources, *, after: int, limit: int
) -> list[dict[str, Any]]:
    """As `Perdure.parked` but without sentences; raises CarriedCallError where a process carries one of the calls."""
    check_key("act for", "tenant", origin.tenant)
    driver = open_driver(url)
    try:
        await driver.open(creates=False)
    except RejectedError:
        return []  # where there is no store, nothing waits
    try:
        if not await driver.fetch("list_parked", tenant=origin.tenant, after=after, most=1):
            return []
        asked_at, at = sources.monotonic(), await driver.read_clock()
        if at is not None and not sources.is_test_clock:
            sources.follow(at - (asked_at + sources.monotonic()) // 2)
        from perdure.app.lists.offline_call_views import views_from_store  # noqa: PLC0415  machines are worth loading now

        return await views_from_store(driver, sources, origin).parked(after, limit)
    finally:
        await driver.close()
