"""The loop of one consumer: receive, take, settle, acknowledge; pause when the store is away; stop between two rounds.

| killed | what happens then |
|---|---|
| before a delivery was taken | the broker delivers it again |
| after its commit, before it was acknowledged | delivered again, and known |
| after it was parked, before it was acknowledged | delivered again, and the letter is known |
| after it was acknowledged | nothing is left to do |
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from perdure.buses.bus import Consumer, Delivery
from perdure.buses.delivery_outcome import MAX_TRIES, UNSEEN, Act, Taken, decide, outcome_of
from perdure.errors import BusUnavailableError, PerdureError
from perdure.sources import SECOND, Micros, Sources

AT_ONCE = 100
WAIT_SECONDS = 1.0
FIRST_PAUSE: Micros = SECOND // 10
LAST_PAUSE: Micros = 5 * SECOND
STOP_SECONDS = 10.0
Take = Callable[[Delivery], Awaitable[Taken]]
Park = Callable[[Delivery, str], Awaitable[None]]
Join = Callable[[], Awaitable[Consumer]]

log = logging.getLogger("perdure.bus")


class DeliveryLoop:
    """Of one source. Nothing is acknowledged before `take` or `park` has committed it."""

    def __init__(
        self, name: str, join: Join, take: Take, park: Park, sources: Sources, max_tries: int = MAX_TRIES
    ) -> None:
        self.name = name
        self._join, self._take, self._park = join, take, park
        self._sources = sources
        self._max_tries = max_tries
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.paused = ""
        """Why nothing is taken in now; empty while all is well."""

    def start(self) -> None:
        self._task = asyncio.create_task(self.run())

    async def stop(self) -> None:
        """End after the deliveries that are under way; what is left open goes back to the broker."""
        self._stopping.set()
        if self._task is not None:
            done, _ = await asyncio.wait({self._task}, timeout=STOP_SECONDS)
            if not done:
                self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def run(self) -> None:
        """Until it is stopped; a broker that is away is asked again after a pause that grows."""
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            try:
                consumer = await self._join()
                try:
                    while not self._stopping.is_set():
                        await self.round(consumer)
                        pause = FIRST_PAUSE
                finally:
                    with suppress(BusUnavailableError):
                        await consumer.close()
            except PerdureError as error:
                self._pause_for(error)
                await self._rest(pause)
                pause = min(2 * pause, LAST_PAUSE)

    async def round(self, consumer: Consumer) -> int:
        """Deal with one batch to its end; how many deliveries there were."""
        waiting = await consumer.receive(AT_ONCE, WAIT_SECONDS)
        total, pause = len(waiting), FIRST_PAUSE
        tries: dict[str, int] = {}
        while waiting:
            acts = await asyncio.gather(*(self._settle(each, tries) for each in waiting))
            settled = [each for each, act in zip(waiting, acts, strict=True) if act in ("acknowledge", "park")]
            await consumer.acknowledge(settled)
            waiting = [each for each, act in zip(waiting, acts, strict=True) if act in ("retry", "pause")]
            if waiting and self._stopping.is_set():
                return total
            if waiting:
                await self._hold(consumer, waiting, pause)
                pause = min(2 * pause, LAST_PAUSE)
        self.paused = ""
        return total

    async def _hold(self, consumer: Consumer, waiting: Sequence[Delivery], pause: Micros) -> None:
        await consumer.hold(waiting)
        await self._rest(pause)

    async def _settle(self, delivery: Delivery, tries: dict[str, int]) -> Act:
        """What is to be done with a delivery, after whatever it needs was committed."""
        if delivery.tries > UNSEEN * self._max_tries:
            taken = Taken("bad", f"it was delivered {delivery.tries} times and never ended")
        else:
            taken = await self._take(delivery)
        if taken.outcome != "away":
            tries[delivery.place] = tries.get(delivery.place, 0) + 1
        act = decide(taken.outcome, tries.get(delivery.place, 0), self._max_tries)
        if act == "pause":
            self._pause_for(taken.reason)
        if act != "park":
            return act
        try:
            await self._park(delivery, taken.reason)
        except PerdureError as error:
            # Without its letter nothing may be acknowledged: it would be gone.
            self._pause_for(error)
            return "pause" if outcome_of(error) == "away" else "retry"
        return "park"

    def _pause_for(self, reason: object) -> None:
        if not self.paused:
            log.warning("source %s stands still and goes on by itself: %s", self.name, reason)
        self.paused = str(reason)

    async def _rest(self, pause: Micros) -> None:
        """For so long, or until it is stopped."""
        resting = asyncio.ensure_future(self._sources.sleep(pause))
        stopped = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({resting, stopped}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            resting.cancel()
            stopped.cancel()
            await asyncio.gather(resting, stopped, return_exceptions=True)
