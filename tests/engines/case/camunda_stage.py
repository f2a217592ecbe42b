"""A real Camunda 8 broker as a stage of the case story: its clock is moved, and `restart` kills it and our process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from perdure.durations import later, parse_span
from perdure.errors import InvariantBroken
from perdure.sources import SystemSources
from perdure.testing.camunda_broker import CamundaBroker
from perdure.testing.scenarios.camunda_time import BrokerTime, beginning
from perdure.testing.scenarios.carried_time import CarriedTime
from perdure.testing.virtual_clock import VirtualSources
from tests.engines.case.case_stages import EmbeddedStage

MAX_RESTS = 3


class CamundaStage(EmbeddedStage):
    """Jobs come from the broker; every delivery is noted, so that it can be made again."""

    def __init__(self, store: str, kyc: Path, broker: CamundaBroker, tail: str) -> None:
        super().__init__(store, kyc, VirtualSources(int(SystemSources().random() * 2**53), beginning()))
        self.engine = f"{broker.url}?tail={tail}"
        self._broker = broker
        self._time: CarriedTime | None = None
        self._delivered: list[Any] = []

    async def open(self) -> None:
        time = BrokerTime(self._broker.rest, self._clock.now())
        await super().open()
        self._time = CarriedTime(self.sandbox, self._clock, time)
        worker: Any = self._worker
        take = worker.take

        async def noted(job: Any) -> None:
            self._delivered.append(job)
            await take(job)

        worker.take = noted

    @property
    def _worker(self) -> Any:
        engine: Any = self.sandbox.runtime.engine
        return engine.outside["camunda"].worker

    async def rest(self) -> None:
        """A broker that was killed may tell late: on a busy machine it is waited for longer than for others."""
        assert self._time is not None
        for _ in range(MAX_RESTS - 1):
            with suppress(InvariantBroken):
                await self._time.idle()
                return
        await self._time.idle()

    async def advance(self, duration: str) -> None:
        assert self._time is not None
        target = later(self._clock.now(), parse_span(duration))
        for _ in range(MAX_RESTS - 1):
            with suppress(InvariantBroken):
                await self._time.advance_to(target)
                return
        await self._time.advance_to(target)

    async def restart(self, while_down: Callable[[], None]) -> None:
        await self._die()
        self._broker.kill()
        self._broker.start()
        while_down()
        await self.open()

    async def deliver_again(self, instance: str) -> None:
        """Every job that came is brought to our worker once more."""
        for job in list(self._delivered):
            await self._worker.tried(job)
