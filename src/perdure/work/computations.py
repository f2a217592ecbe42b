"""Computations: pure work that takes long, done in threads beside the event loop.

| bound | value | beyond it |
|---|---|---|
| computations at once | `AT_ONCE`, of one tenant half of them | the next one waits for its tenant's turn |
| computations of one tenant that wait | `MOST_WAITING` | `TenantBusyError` at once |
| work of one computation | `EFFORT_SECONDS` of the processor | `EffortError`; a proof says `undecided` earlier |
| work without a pause | `SLICE` | the thread sleeps `PAUSE_SECONDS`, so that the event loop has its turn |

A computation whose caller leaves is abandoned at its next `check`; its slot is free once its thread has ended.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from functools import partial
from typing import TypeVar

from perdure.errors import EffortError, TenantBusyError
from perdure.sources import SECOND, Micros, effort_clock
from perdure.work.event_loop import call_in_loop
from perdure.work.fair_slots import FairSlots

AT_ONCE = 4
MOST_WAITING = 16
EFFORT_SECONDS = 60.0
SLICE: Micros = SECOND // 100
PAUSE_SECONDS = 0.002

T = TypeVar("T")


class _Abandoned(Exception):
    """Nobody waits for the computation any more."""


class Effort:
    """The work of one computation, counted in its own thread."""

    def __init__(self, seconds: float = EFFORT_SECONDS) -> None:
        self._most = int(seconds * SECOND)
        self._seconds = seconds
        self._clock: Callable[[], Micros] | None = None
        self._paused_at: Micros = 0
        self.is_abandoned = False

    def now(self) -> Micros:
        """The work so far, checked: computations that look at a clock need no other check."""
        if self._clock is None:
            self._clock = effort_clock()
        spent = self._clock()
        if self.is_abandoned:
            raise _Abandoned
        if spent > self._most:
            fact = f"it takes more than {self._seconds:g} seconds of work"
            raise EffortError("complete", "computation", "", fact, "Make it smaller, or split it.")
        if spent - self._paused_at > SLICE:
            time.sleep(PAUSE_SECONDS)  # lets go of the interpreter, which the event loop needs as well
            self._paused_at = spent
        return spent

    def check(self) -> None:
        """Go on, or end: abandoned, or beyond what one computation may work."""
        self.now()


_EFFORT: ContextVar[Effort | None] = ContextVar("effort", default=None)


def effort_of_computation() -> Callable[[], Micros]:
    """The clock that a computation measures its work by; looking at it ends a computation that has to end."""
    effort = _EFFORT.get()
    return effort_clock() if effort is None else effort.now


def check_effort() -> None:
    """Between two parts of a computation: go on, or end."""
    if (effort := _EFFORT.get()) is not None:
        effort.check()


class Computations:
    """Those of one process, shared fairly by tenants."""

    def __init__(self, *, has_threads: bool = True, at_once: int = AT_ONCE) -> None:
        """Without threads, as where somebody moves the clock, each is done at once."""
        self._pool = ThreadPoolExecutor(at_once, "perdure-computation") if has_threads else None
        self._slots = FairSlots(at_once)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    async def run(self, tenant: str, work: Callable[[], T], *, is_small: bool = False) -> T:
        """The result of a computation; abandoned when its caller is cancelled. A small one is done at once."""
        if is_small or self._pool is None:
            return work()
        if not self._slots.take_at_once(tenant):
            self._check_waiting(tenant)
            await self._slots.take(tenant)
        effort, loop, context = Effort(), asyncio.get_running_loop(), copy_context()
        context.run(_EFFORT.set, effort)
        try:
            running = self._pool.submit(context.run, work)
        except BaseException:
            self._slots.give_back(tenant)
            raise
        try:
            return await asyncio.wrap_future(running)
        finally:
            effort.is_abandoned = True
            if running.done():
                self._slots.give_back(tenant)
            else:
                running.add_done_callback(partial(self._ended, loop, tenant))

    def _check_waiting(self, tenant: str) -> None:
        if self._slots.waiting_of(tenant) >= MOST_WAITING:
            fact = f"{MOST_WAITING} computations of this tenant wait already"
            raise TenantBusyError("begin", "computation of tenant", tenant, fact, "Ask again in a while.")

    def _ended(self, loop: asyncio.AbstractEventLoop, tenant: str, done: Future[T]) -> None:
        call_in_loop(loop, self._slots.give_back, tenant)
