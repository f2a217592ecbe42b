"""A driver that stops the process at a chosen commit, before or after it: the crash no test can talk its way out of."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec

from perdure.kernel.ports import Conflict, Told, Unit, Verdict
from perdure.store.commit_callbacks import awaited
from perdure.store.ports import Driver

Side = Literal["before", "after"]


class Crash(BaseException):
    """The process is gone; nothing below the edge may catch this."""


class FaultyDriver:
    """Passes everything on until the chosen commit; after the crash nothing is passed on any more."""

    def __init__(self, inner: Driver, crash_at: int = 0, side: Side = "before") -> None:
        self._inner = inner
        self._crash_at = crash_at
        self._side = side
        self.is_dead = False
        self.commits_seen: list[str] = []

    def commit(self, unit: Unit) -> Awaitable[Conflict | None]:
        return awaited(self.submit, unit)

    def submit(self, unit: Unit, told: Told) -> None:
        def crash(_: Verdict) -> None:
            self.is_dead = True
            told(Crash())

        if not self.is_dead:
            self.commits_seen.append(describe(unit))
            if len(self.commits_seen) != self._crash_at:
                self._inner.submit(unit, told)
                return
            if self._side == "after":
                self._inner.submit(unit, crash)
                return
        self.is_dead = True
        asyncio.get_running_loop().call_soon(crash, None)

    async def fetch(self, name: str, /, **parameters: Any) -> list[Any]:
        self._refuse_when_dead()
        return await self._inner.fetch(name, **parameters)

    async def write(self, name: str, /, **parameters: Any) -> list[Any]:
        self._refuse_when_dead()
        return await self._inner.write(name, **parameters)

    async def abandon(self) -> None:
        """Leave the store as the crash left it: no lease given back, nothing flushed."""
        self.is_dead = True
        mine = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not mine]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._inner.close()

    async def drop(self) -> None:
        """Close the file or connection of a store whose process is gone; whoever still asks meets the crash."""
        self.is_dead = True
        await self._inner.close()

    def _refuse_when_dead(self) -> None:
        if self.is_dead:
            raise Crash

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("fence", "clock"):
            setattr(self._inner, name, value)
        else:
            super().__setattr__(name, value)


def submitting(commit: Callable[[Unit], Awaitable[Conflict | None]]) -> Callable[[Unit, Told], None]:
    """A `submit` that goes the way of a coroutine, for what waits, counts or fails around a commit."""

    async def answered(unit: Unit, told: Told) -> None:
        try:
            verdict: Verdict = await commit(unit)
        except BaseException as error:
            verdict = error
        told(verdict)

    def submit(unit: Unit, told: Told) -> None:
        asyncio.get_running_loop().create_task(answered(unit, told))

    return submit


def describe(unit: Unit) -> str:
    """The commands a unit records, e.g. `StartCall` or `Complete`."""
    names = [msgspec.msgpack.decode(record.body)[2] for record in unit.records]
    return "+".join(names) or "message"
