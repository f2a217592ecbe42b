"""Views of calls made from a store without the platform: no verbs, no sentences and no engine."""

from __future__ import annotations

from typing import Any

from perdure.app.calls.view_builder import CallViews
from perdure.app.calls.views import CarrierView
from perdure.app.lists.parked_calls import CarriedCallError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Kernel
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import Pin, Step
from perdure.sources import Sources
from perdure.store.ports import Driver
from perdure.store.store import Store


def views_from_store(driver: Driver, sources: Sources, origin: Origin) -> CallViews:
    """Makes views of the calls of an open store; one that a process carries raises CarriedCallError."""
    store = Store(driver, sources)
    kernel = Kernel(store, {RunbookMachine.kind: RunbookMachine()}, sources)
    return CallViews(kernel, store, origin, _carrier, _no_sentence, _no_mode)


async def _carrier(call: Aggregate, step: int, pin: Pin) -> CarrierView:
    raise CarriedCallError(pin.process)


def _no_mode(step: Step) -> str:
    return ""


def _no_sentence(step: Step, args: Any) -> str:
    return ""
