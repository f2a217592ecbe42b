"""Following: whoever waits for an instance is told when a commit brought it there; other processes are looked after."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from perdure.bpmn.machine.state import ENDED, Instance, Node
from perdure.engines.embedded.instances import Instances
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.sources import Id

Until = Literal["committed", "rest", "end"]
"""How long a caller waits: until it is durable, until only people, messages or time move it on, until it has ended."""

LOOK_SECONDS = 1.0
Told = asyncio.Future[Aggregate]


class Followers:
    """One per process: a listener for everyone, however many wait."""

    def __init__(self, instances: Instances) -> None:
        self._instances = instances
        self._waiting: dict[bytes, list[tuple[Until, Told]]] = {}
        instances.kernel.listen(self._on_commit)

    async def follow(self, aggregate: Aggregate, until: Until, timeout_seconds: float | None = None) -> Aggregate:
        """The instance once it has come that far, or as it is when the time is up."""
        if has_reached(aggregate.state, until):
            return aggregate
        origin = Origin(aggregate.tenant)
        try:
            async with asyncio.timeout(timeout_seconds):
                known = await self._instances.read_or_recall(aggregate.id, origin)
                while not has_reached(known.state, until):
                    known = await self._later(aggregate.id, origin, until)
                return known
        except TimeoutError:
            return await self._instances.read(aggregate.id, origin)

    async def _later(self, id: Id, origin: Origin, until: Until) -> Aggregate:
        """The instance when this process brought it that far, or as it is stored after a while."""
        told: Told = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(id, []).append((until, told))
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                return await told
        except TimeoutError:
            return await self._instances.read(id, origin)
        finally:
            self._forget(id, told)

    def _forget(self, id: Id, told: Told) -> None:
        left = [each for each in self._waiting.pop(id, ()) if each[1] is not told]
        if left:
            self._waiting[id] = left

    def _on_commit(self, aggregate: Aggregate, entries: tuple[Any, ...]) -> None:
        for until, told in self._waiting.get(aggregate.id, ()):
            if not told.done() and has_reached(aggregate.state, until):
                told.set_result(aggregate)


def has_reached(state: Instance, until: Until) -> bool:
    if until == "committed" or state.status in ENDED:
        return True
    return until == "rest" and not any(_is_busy(node) for node in state.nodes.values())


def _is_busy(node: Node) -> bool:
    """Whether a token will move on by itself: a worker or another process has it."""
    if node.incident is not None:
        return False
    return node.kind == "call" or (node.job is not None and node.job.status != "pending")
