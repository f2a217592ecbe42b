"""The lease of this process: a number that fences its writes, kept alive by a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import ExitStack

from perdure.sources import SECOND, Micros, Sources
from perdure.work.event_loop import call_in_loop
from perdure.work.ports import Beat, Leases, WorkerRow
from perdure.work.store_clock import StoreClock
from perdure.work.worker_identity import ProcessIdentity, is_gone, is_there, this_process

LEASE_SECONDS = 15.0
BEATS_PER_LEASE = 5
FORGET_SECONDS = 86_400.0
FOR_EVER: Micros = 2**62


class Lease:
    """Taken when work begins, extended while it goes on, taken away by others when it lapses."""

    def __init__(
        self,
        store: Leases,
        sources: Sources,
        *,
        seconds: float = LEASE_SECONDS,
        identity: ProcessIdentity | None = None,
        has_thread: bool = True,
        clock: StoreClock | None = None,
    ) -> None:
        """`clock` is told what time it is whenever the lease is extended."""
        self._store = store
        self._sources = sources
        self._duration: Micros = int(seconds * SECOND)
        self._identity = identity or this_process()
        self._has_thread = has_thread
        self._clock = clock
        self._seen: dict[int, tuple[Micros, Micros]] = {}
        """Leases of others: until when they last, and since what moment of the monotonic clock they say so."""
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._on_lost: Callable[[], None] = lambda: None
        self.number = 0
        self.is_lost = False
        self.rank, self.total = 0, 1
        self._sure_at: Micros = 0
        """The moment of the monotonic clock from which the store last counted the lease."""

    async def take(self, on_lost: Callable[[], None]) -> int:
        """A new number; every write from now on carries it."""
        self._on_lost = on_lost
        self._sure_at = self._sources.monotonic()
        self.number = await self._store.add_worker(self._identity.host, self._identity.process, self._duration)
        self._store.set_fence(self.number)
        self.is_lost = False
        self._stop = threading.Event()
        if self._has_thread:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(
                target=self._keep, args=(loop, self._stop, self.number), name="perdure-lease", daemon=True
            )
            self._thread.start()
        return self.number

    async def release(self) -> None:
        """Give the lease back, so that whatever it still holds can be taken over at once."""
        self._stop.set()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
        if not self.is_lost:
            await self._store.fence_worker(self.number, FOR_EVER)

    @property
    def is_sure(self) -> bool:
        """Whether nobody can have taken the lease away: it was extended less than its time ago."""
        return not self.is_lost and self._sources.monotonic() - self._sure_at < self._duration

    async def is_held(self) -> bool:
        """Whether the lease is still this process's; asked of the store after a pause that it may have ended in."""
        if self.is_sure or not self.number:
            return True
        if self.is_lost:
            return False
        return await asyncio.to_thread(self.beat_once) if self._has_thread else self.beat_once()

    def beat_once(self) -> bool:
        """Extend the lease now, in the caller's thread."""
        extend, close = self._store.beat()
        try:
            return self._extended(extend, self.number)
        finally:
            close()

    def _extended(self, extend: Beat, number: int) -> bool:
        asked_at = self._sources.monotonic()
        at = extend(number, self._duration)
        if at is not None and number == self.number:
            self._sure_at = asked_at
        if at is not None and self._clock is not None:
            self._clock.read(at, asked_at)
        return at is not None

    async def reap(self) -> list[int]:
        """Take away the leases of processes that are gone; returns whose."""
        live = await self._store.live_workers()
        self._watch(live)
        taken = [row.number for row in live if row.number != self.number and await self._took(row)]
        numbers = [row.number for row in live if row.number not in taken]
        self.total = max(1, len(numbers))
        self.rank = numbers.index(self.number) if self.number in numbers else 0
        return taken

    async def forget_old(self) -> None:
        await self._store.forget_workers(self._sources.now() - int(FORGET_SECONDS * SECOND))

    async def _took(self, row: WorkerRow) -> bool:
        if is_gone(row.host, row.process, self._identity):
            return await self._store.fence_worker(row.number, row.lease_until)
        return row.is_lapsed and not self._may_beat(row) and await self._store.fence_lapsed(row.number)

    def _watch(self, live: list[WorkerRow]) -> None:
        here, seen = self._sources.monotonic(), self._seen
        self._seen = {
            row.number: seen[row.number]
            if row.number in seen and seen[row.number][0] == row.lease_until
            else (row.lease_until, here)
            for row in live
        }

    def _may_beat(self, row: WorkerRow) -> bool:
        """Whether a process on this machine, which is there, has not been silent for a lease's time: then the clock
        was set, and its next heartbeat says so."""
        seen = self._seen.get(row.number)
        if seen is None:
            return True  # somebody looked meanwhile and found it gone: it is not ours to take
        silent = self._sources.monotonic() - seen[1]
        return silent < self._duration and is_there(row.host, row.process, self._identity)

    def _keep(self, loop: asyncio.AbstractEventLoop, stop: threading.Event, number: int) -> None:
        pause = self._duration / SECOND / BEATS_PER_LEASE
        with ExitStack() as opened:
            extend: Beat | None = None
            while not stop.wait(pause):
                try:
                    if extend is None:
                        extend, close = self._store.beat()
                        opened.callback(close)
                    if self._extended(extend, number):
                        continue
                except Exception:  # the store is out of reach: the lease runs out by itself if that lasts
                    continue
                call_in_loop(loop, self._lose, number)
                return

    def _lose(self, number: int) -> None:
        if number == self.number and not self._stop.is_set():
            self.is_lost = True
            self._on_lost()
