"""The store's clock as a process keeps it: read with every heartbeat, carried on by the monotonic clock in between.

| the machine's clock | and the store's | becomes | the process |
|---|---|---|---|
| agrees | differ by at most `BOUND` | agrees | does its duties |
| agrees | differ by more | apart | says so as an error, shows it as a metric, and ends its duties |
| apart | differ by more | apart | does no duty: no timer, no takeover, no seal, no retention |
| apart | differ by at most `BOUND` | agrees | says so and begins its duties again |

| what goes wrong | what follows |
|---|---|
| the machine's clock is set ahead or back | `now` does not follow it; from the next heartbeat on the process is apart |
| the store's clock is set | `now` follows at the next heartbeat; every machine that does not follow is apart |
| the store is out of reach | `now` goes on by the monotonic clock |
| the answer takes long | half of the round trip is allowed for |
| the machine sleeps, its monotonic clock as well | `now` is late until the next heartbeat: nothing is early |
| the machine's clock is set, the store has none (SQLite) | `now` follows, in all processes of the file; it is said |
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from perdure.sources import SECOND, Micros, SystemSources

BOUND: Micros = 10 * SECOND
"""How far the machine's clock may be from the store's."""

log = logging.getLogger("perdure")


class StoreClock:
    """Of one process; told of readings by the thread of the heartbeat as well."""

    def __init__(self, sources: SystemSources, *, has_own: bool, changed: Callable[[], None]) -> None:
        """`has_own`: whether the store has a clock of its own. `changed` is called when `is_apart` is another."""
        self._sources = sources
        self._has_own = has_own
        self._changed = changed
        self._span: Micros | None = None
        """The machine's clock less the monotonic one: as long as nobody sets the clock, it stays."""
        self.is_apart = False
        self.difference: Micros = 0
        """How far the machine's clock is ahead of the store's."""

    def read(self, store: Micros, asked_at: Micros) -> None:
        """What the store's clock said; it was asked at a moment of the monotonic clock, and answered just now."""
        here, wall = self._sources.monotonic(), self._sources.wall()
        if self._has_own:
            doubt = (here - asked_at) // 2
            self._compare(store + doubt, wall, here, doubt)
        else:
            self._notice_setting(wall - here)

    def _compare(self, store: Micros, wall: Micros, here: Micros, doubt: Micros) -> None:
        if abs(self._sources.now() - store) > doubt or not self._sources.follows:
            self._sources.follow(store - here)
        self.difference = wall - store
        is_apart = abs(self.difference) > BOUND + doubt
        if is_apart != self.is_apart:
            self.is_apart = is_apart
            self._changed()

    def _notice_setting(self, span: Micros) -> None:
        before, self._span = self._span, span
        if before is not None and abs(span - before) > BOUND:
            log.error(
                "the clock of this machine was set %s by %.1f s; timers are due by the clock as it is now",
                "ahead" if span > before else "back", abs(span - before) / SECOND,
            )  # fmt: skip


def told(difference: Micros) -> str:
    """How the machine's clock stands to the store's, in words."""
    return f"{abs(difference) / SECOND:.1f} s {'ahead of' if difference > 0 else 'behind'} the store's"
