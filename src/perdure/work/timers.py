"""Timers: what is due soon is kept in memory, everything else stays in the store until its time comes near."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from contextlib import suppress

from perdure.errors import StoreFullError, StoreUnavailableError
from perdure.sources import SECOND, Id, Micros, Sources
from perdure.work.ports import Due, TimerFound
from perdure.work.process_lease import Lease

WINDOW: Micros = 3 * SECOND // 2
POLL: Micros = 1 * SECOND
GRACE: Micros = 2 * SECOND
"""How long a timer that another worker should fire is left to it."""
PAGE = 200
DRIVEN_PAGE = 5000
MAX_LOADED = 50_000
MAX_FIRING = 2_000

Fire = Callable[[TimerFound], Awaitable[None]]


class Timers:
    """Fires every timer at least once, never early; firing is idempotent where it lands."""

    def __init__(self, store: Due, sources: Sources, lease: Lease, fire: Fire) -> None:
        self._store = store
        self._sources = sources
        self._lease = lease
        self._fire = fire
        self._heap: list[tuple[Micros, TimerFound]] = []
        self._known: set[TimerFound] = set()
        self._wake = asyncio.Event()
        self._firing: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(MAX_FIRING)

    def arm(self, timer: TimerFound) -> None:
        """A timer this process has just committed: no need to read it back when it is due soon."""
        if timer.due <= self._sources.now() + WINDOW and len(self._heap) < MAX_LOADED:
            self._add(timer)

    async def run(self) -> None:
        """Until cancelled."""
        poller = asyncio.create_task(self._poll())
        poller.add_done_callback(lambda _: self._wake.set())
        try:
            while True:
                if poller.done():
                    await poller  # without it nothing more would ever be read: its error is this duty's
                await self._wait()
                while self._heap and self._heap[0][0] <= self._sources.now():
                    await self._places.acquire()
                    self._start(heapq.heappop(self._heap)[1])
        finally:
            poller.cancel()
            for task in self._firing:
                task.cancel()
            await asyncio.gather(poller, *self._firing, return_exceptions=True)

    async def fire_due(self, until: Micros) -> int:
        """Fire everything due up to a time, in order; for virtual time. Returns how many."""
        timers = await self._store.due_timers(0, b"", until, DRIVEN_PAGE)
        for timer in timers:
            await self._fire(timer)
        return len(timers)

    async def load(self) -> None:
        """Read what is due within the window."""
        after_due, after_aggregate = 0, b""
        while len(self._heap) < MAX_LOADED:
            page = await self._store.timers_within(after_due, after_aggregate, WINDOW, PAGE)
            for timer in page:
                self._add(timer)
            if len(page) < PAGE:
                return
            await asyncio.sleep(0)  # what is due now goes first
            after_due, after_aggregate = page[-1].due, page[-1].aggregate

    def _add(self, timer: TimerFound) -> None:
        if timer not in self._known:
            self._known.add(timer)
            at = timer.due if self._is_mine(timer.aggregate) else timer.due + GRACE
            heapq.heappush(self._heap, (at, timer))
            self._wake.set()

    def _is_mine(self, aggregate: Id) -> bool:
        return aggregate[15] % self._lease.total == self._lease.rank

    async def _wait(self) -> None:
        """Until the first timer is due or a new one arrives."""
        self._wake.clear()
        if not self._heap:
            await self._wake.wait()
            return
        sleep = asyncio.ensure_future(self._sources.sleep_until(self._heap[0][0]))
        wake = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait({sleep, wake}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            wake.cancel()

    async def _poll(self) -> None:
        while True:
            with suppress(StoreUnavailableError, StoreFullError):  # the next poll reads it again
                await self.load()
            await self._sources.sleep(POLL)

    def _start(self, timer: TimerFound) -> None:
        task = asyncio.create_task(self._fire_one(timer))
        self._firing.add(task)
        task.add_done_callback(self._ended)

    async def _fire_one(self, timer: TimerFound) -> None:
        try:
            await self._fire(timer)
        except (StoreUnavailableError, StoreFullError):
            pass  # as above
        finally:
            self._known.discard(timer)  # should it not have taken, the next poll finds it again

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._firing.discard(task)
        self._places.release()
        if not task.cancelled() and (error := task.exception()) is not None:
            asyncio.get_running_loop().call_exception_handler(
                {"message": "a timer could not be fired and will be tried again", "exception": error}
            )
