"""Following: whoever waits for an instance is told when a commit brought it there; other processes are looked after."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, Literal

from perdure.bpmn.machine.state import ENDED, Instance
from perdure.engines.embedded.instances import KIND, Instances
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.sources import Id

Until = Literal["committed", "rest", "end"]
"""How long a caller waits: until it is durable, until only people, messages or time move it on, until it has ended."""

LOOK_SECONDS = 1.0
"""So long at most until somebody who waits is told what another process did."""
Told = asyncio.Future[Aggregate | None]
"""The instance when this process brought it that far; None when it is time to look what others did."""


class Followers:
    """One per process: a listener for everyone, however many wait."""

    def __init__(self, instances: Instances) -> None:
        self._instances = instances
        self._kernel = instances.kernel
        self._waiting: dict[bytes, dict[Told, Until]] = {}
        self._seen: set[Told] = set()
        self._look: asyncio.TimerHandle | None = None
        instances.kernel.listen(self._on_commit, KIND)

    def follow(self, aggregate: Aggregate, until: Until, timeout_seconds: float | None = None) -> Awaitable[Aggregate]:
        """The instance once it has come that far, or as it is when the time is up."""
        if timeout_seconds is None:
            return self._reached(aggregate, until)
        return self._reached_in_time(aggregate, until, timeout_seconds)

    async def _reached_in_time(self, aggregate: Aggregate, until: Until, timeout_seconds: float) -> Aggregate:
        if has_reached(aggregate.state, until):
            return aggregate
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._reached(aggregate, until)
        except TimeoutError:
            return await self._read(aggregate)

    async def _reached(self, known: Aggregate, until: Until) -> Aggregate:
        if has_reached(known.state, until):
            return known
        newest = self._kernel.remembered(known.id) or await self._read(known)
        while newest is known or not has_reached(newest.state, until):
            told = self._later(known.id, until)
            try:
                reached = await told
            finally:
                self._forget(known.id, told)
            if reached is not None:
                return reached
            newest = await self._read(known)
        return newest

    async def _read(self, known: Aggregate) -> Aggregate:
        return await self._instances.read(known.id, Origin(known.tenant))

    def _later(self, id: Id, until: Until) -> Told:
        told: Told = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(id, {})[told] = until
        if self._look is None:
            self._plan_look()
        return told

    def _look_again(self) -> None:
        """Those that were seen waiting the last time look for themselves: most are told long before that."""
        self._look = None
        waiting = {told for each in self._waiting.values() for told in each if not told.done()}
        for told in waiting & self._seen:
            told.set_result(None)
        self._seen = waiting - self._seen
        self._plan_look()

    def _plan_look(self) -> None:
        if self._waiting:
            self._look = asyncio.get_running_loop().call_later(LOOK_SECONDS / 2, self._look_again)

    def _forget(self, id: Id, told: Told) -> None:
        waiting = self._waiting[id]
        del waiting[told]
        if not waiting:
            del self._waiting[id]

    def _on_commit(self, aggregate: Aggregate, entries: tuple[Any, ...]) -> None:
        waiting = self._waiting.get(aggregate.id)
        if waiting is not None:
            for told, until in waiting.items():
                if not told.done() and has_reached(aggregate.state, until):
                    told.set_result(aggregate)


def has_reached(state: Instance, until: Until) -> bool:
    if until == "committed" or state.status in ENDED:
        return True
    if until == "end":
        return False
    for node in state.nodes.values():
        # A token that a worker or another process has will move on by itself.
        is_held = node.kind == "call" or (node.job is not None and node.job.status != "pending")
        if is_held and node.incident is None:
            return False
    return True
