"""Engine gauges: whether the engines of a process answer, and what is under way to them; asked at a scrape."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from perdure.app.engine_views import EngineView, engine_views
from perdure.app.telemetry.gauges import FRESH
from perdure.sources import Micros
from perdure.telemetry.metrics import EngineReading

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

PATIENCE_SECONDS = 2.0
"""How long a scrape waits for engines; what they say later is in the next one."""


class EngineGauges:
    """One question at a time, for all who scrape within a few seconds."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._asked_at: Micros | None = None
        self._asking: asyncio.Task[list[EngineView]] | None = None

    async def measure(self) -> None:
        """Set the gauges of every engine that has answered, or has failed to."""
        now = self._runtime.sources.now()
        if self._asked_at is None or not 0 <= now - self._asked_at < FRESH:
            if self._asking is None or self._asking.done():
                self._asking = asyncio.create_task(engine_views(self._runtime))
            self._asked_at = now
        if self._asking is None:
            return
        await asyncio.wait({self._asking}, timeout=PATIENCE_SECONDS)
        if self._asking.done() and not self._asking.cancelled() and self._asking.exception() is None:
            self._runtime.measure().engines([_reading(each) for each in self._asking.result()])

    async def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)


def _reading(view: EngineView) -> EngineReading:
    return EngineReading(
        view.name, view.reachable, view.open_dispatches, view.lag_seconds, view.waiting_steps
    )  # fmt: skip
