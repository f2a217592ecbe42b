"""The list of waiting calls without their sentences, read from a store alone: no verb is loaded."""

from __future__ import annotations

from typing import Any

from perdure.app.calls.view_builder import CallViews
from perdure.app.calls.views import CarrierView
from perdure.contracts import check_key
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Kernel
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import Pin
from perdure.sources import SystemSources
from perdure.store.driver_selection import open_driver
from perdure.store.store import Store


class CarriedCallError(Exception):
    """A call that a process carries: only the platform can show how far the process has come."""


async def parked_calls(
    url: str, origin: Origin, sources: SystemSources, *, after: int, limit: int
) -> list[dict[str, Any]]:
    """As `Perdure.parked` but without sentences; raises CarriedCallError where a process carries one of the calls."""
    check_key("act for", "tenant", origin.tenant)
    driver = open_driver(url)
    await driver.open()
    try:
        sources.offset = await driver.clock_offset()
        store = Store(driver, sources)
        kernel = Kernel(store, {RunbookMachine.kind: RunbookMachine()}, sources)
        return await CallViews(kernel, store, origin, _carrier, _no_sentence).parked(after, limit)
    finally:
        await driver.close()


async def _carrier(call: Aggregate, step: int, pin: Pin) -> CarrierView:
    raise CarriedCallError(pin.process)


def _no_sentence(verb: str, version: int, args: Any) -> str:
    return ""
