"""Watches calls time out: when each was due, and when its time-out was heard of after it was durable."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

from bench.load import Sample, latencies
from perdure.runbooks.machine.journal_entries import TimedOut
from perdure.sources import id_text

PATIENCE_SECONDS = 30.0


class TimeOuts:
    """Told of every commit by the kernel; `due` is filled in by whoever parks the calls."""

    def __init__(self, count: int) -> None:
        self.due: dict[str, float] = {}
        self._count = count
        self._heard: dict[str, float] = {}
        self._all = asyncio.Event()

    def on_commit(self, aggregate: Any, entries: tuple[Any, ...]) -> None:
        if any(isinstance(entry, TimedOut) for entry in entries):
            self._heard.setdefault(id_text(aggregate.id), time.time())
            if len(self._heard) == self._count:
                self._all.set()

    async def until_all_fired(self) -> None:
        """Or until patience ends: a lost timer must not hold the run up."""
        patience = max(self.due.values()) - time.time() + PATIENCE_SECONDS
        with suppress(TimeoutError):
            await asyncio.wait_for(self._all.wait(), patience)

    def fired(self) -> list[str]:
        return [identifier for identifier in self.due if identifier in self._heard]

    def sample(self) -> Sample:
        lateness = [self._heard[identifier] - self.due[identifier] for identifier in self.fired()]
        early = sum(late < 0 for late in lateness)
        return latencies(lateness) | {"early": early, "lost": len(self.due) - len(lateness)}
