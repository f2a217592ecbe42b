"""The lease of this process: a number that fences its writes, kept alive by a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import ExitStack

from perdure.sources import SECOND, Micros, Sources
from perdure.work.ports import Beat, Leases, WorkerRow
from perdure.work.process_identity import ProcessIdentity, is_gone, this_process

LEASE_SECONDS = 15.0
BEATS_PER_LEASE = 5
FORGET_SECONDS = 86_400.0


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
    ) -> None:
        self._store = store
        self._sources = sources
        self._duration: Micros = int(seconds * SECOND)
        self._identity = identity or this_process()
        self._has_thread = has_thread
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._on_lost: Callable[[], None] = lambda: None
        self.number = 0
        self.is_lost = False
        self.rank, self.total = 0, 1

    async def take(self, on_lost: Callable[[], None]) -> int:
        """A new number; every write from now on carries it."""
        self._on_lost = on_lost
        until = self._sources.now() + self._duration
        self.number = await self._store.add_worker(self._identity.host, self._identity.process, until)
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
            await self._store.fence_worker(self.number, self._sources.now() + 2 * self._duration)

    def beat_once(self) -> bool:
        """Extend the lease now, in the caller's thread."""
        extend, close = self._store.beat()
        try:
            return extend(self.number, self._sources.now() + self._duration)
        finally:
            close()

    async def reap(self) -> list[int]:
        """Take away the leases of processes that are gone; returns whose."""
        live = await self._store.live_workers()
        now = self._sources.now()
        taken = [
            row.number
            for row in live
            if row.number != self.number
            and self._is_dead(row, now)
            and await self._store.fence_worker(row.number, row.lease_until)
        ]
        numbers = [row.number for row in live if row.number not in taken]
        self.total = max(1, len(numbers))
        self.rank = numbers.index(self.number) if self.number in numbers else 0
        return taken

    async def forget_old(self) -> None:
        await self._store.forget_workers(self._sources.now() - int(FORGET_SECONDS * SECOND))

    def _is_dead(self, row: WorkerRow, now: Micros) -> bool:
        return row.lease_until < now or is_gone(row.host, row.process, self._identity)

    def _keep(self, loop: asyncio.AbstractEventLoop, stop: threading.Event, number: int) -> None:
        pause = self._duration / SECOND / BEATS_PER_LEASE
        with ExitStack() as opened:
            extend: Beat | None = None
            while not stop.wait(pause):
                try:
                    if extend is None:
                        extend, close = self._store.beat()
                        opened.callback(close)
                    if extend(number, self._sources.now() + self._duration):
                        continue
                except Exception:  # the store is out of reach: the lease runs out by itself if that lasts
                    continue
                loop.call_soon_threadsafe(self._lose, number)
                return

    def _lose(self, number: int) -> None:
        if number == self.number and not self._stop.is_set():
            self.is_lost = True
            self._on_lost()
