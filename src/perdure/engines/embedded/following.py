"""Following: whoever waits for an instance is told when a commit brought it there; other processes are looked after."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from perdure.bpmn.machine.state import ENDED, Instance
from perdure.engines.embedded.instances import Instances
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.sources import Id

Until = Literal["committed", "rest", "end"]
"""How long a caller waits: until it is durable, until only people, messages or time move it on, until it has ended."""

LOOK_SECONDS = 1.0
Told = asyncio.Future[Aggregate | None]
"""The instance when this process brought it that far; None when it is time to look what others did."""


class Followers:
    """One per process: a listener for everyone, however many wait."""

    def __init__(self, instances: Instances) -> None:
        self._instances = instances
        self._waiting: dict[bytes, list[tuple[Until, Told]]] = {}
        self._look: asyncio.TimerHandle | None = None
        instances.kernel.listen(self._on_commit)

    async def follow(self, aggregate: Aggregate, until: Until, timeout_seconds: float | None = None) -> Aggregate:
        """The instance once it has come that far, or as it is when the time is up."""
        if has_reached(aggregate.state, until):
            return aggregate
        origin = Origin(aggregate.tenant)
        if timeout_seconds is None:
            return await self._reached(aggregate.id, origin, until)
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._reached(aggregate.id, origin, until)
        except TimeoutError:
            return await self._instances.read(aggregate.id, origin)

    async def _reached(self, id: Id, origin: Origin, until: Until) -> Aggregate:
        known = await self._instances.read_or_recall(id, origin)
        while not has_reached(known.state, until):
            known = await self._later(id, until) or await self._instances.read(id, origin)
        return known

    async def _later(self, id: Id, until: Until) -> Aggregate | None:
        loop = asyncio.get_running_loop()
        told: Told = loop.create_future()
        self._waiting.setdefault(id, []).append((until, told))
        if self._look is None:
            self._look = loop.call_later(LOOK_SECONDS, self._look_again)
        try:
            return await told
        finally:
            self._forget(id, told)

    def _look_again(self) -> None:
        self._look = None
        for waiting in self._waiting.values():
            for _, told in waiting:
                if not told.done():
                    told.set_result(None)

    def _forget(self, id: Id, told: Told) -> None:
        left = [each for each in self._waiting.pop(id, ()) if each[1] is not told]
        if left:
            self._waiting[id] = left

    def _on_commit(self, aggregate: Aggregate, entries: tuple[Any, ...]) -> None:
        if aggregate.id not in self._waiting:
            return
        for until, told in self._waiting[aggregate.id]:
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
