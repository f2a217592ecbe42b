"""Instance waiters: a caller waits until a commit brings an instance to a state, in this process or another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import msgspec

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.state import ENDED, Instance
from perdure.bpmn.machine.transition_templates import standing
from perdure.engine import Until
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Answer, Kernel, Preparation, Prepared
from perdure.processes.ports import InstanceCommands
from perdure.sources import Id

LOOK_SECONDS = 1.0
"""So long at most until somebody who waits is told what another process did."""
Told = asyncio.Future[Answer | None]
"""The instance when this process brought it that far; None when it is time to look what others did."""
_REST = "rest"


class Waiter(msgspec.Struct, frozen=True, eq=False):
    """Somebody who waits for an instance to come somewhere; perhaps first for an answer from it."""

    followers: Followers
    has_come: Callable[[Instance], bool]
    told: Told

    def answered(self, answer: Answer | BaseException) -> None:
        """They go on waiting when the instance is on its way; anything else they are to judge for themselves."""
        told = self.told
        if told.done():
            return
        if isinstance(answer, Answer):
            after = answer.aggregate
            if after is None or answer.conflict is not None or self.has_come(after.state):
                told.set_result(answer)
            else:
                self.followers.wait(after.id, self)
        elif isinstance(answer, asyncio.CancelledError):
            told.cancel()
        else:
            told.set_exception(answer)

    def tell(self, aggregate: Aggregate) -> None:
        if not self.told.done():
            self.told.set_result(Answer(aggregate, "reached"))


class Followers:
    """One per process: a listener for everyone, however many wait."""

    def __init__(self, kernel: Kernel, read: Callable[[Id, Origin], Coroutine[Any, Any, Aggregate]]) -> None:
        self._kernel = kernel
        self.commands: InstanceCommands = kernel
        self._read_stored = read
        self._waiting: dict[bytes, list[Waiter]] = {}
        self._seen: set[Waiter] = set()
        self._look: asyncio.TimerHandle | None = None
        kernel.listen(self._on_commit, INSTANCE)

    def start(self, id: Id, origin: Origin, prepared: Prepared, until: Until) -> Told:
        """Begin an instance and follow it: who waits for both is woken once."""
        told: Told = asyncio.get_running_loop().create_future()
        self.commands.begin(INSTANCE, id, origin, prepared, Waiter(self, _HAS_COME[until], told).answered)
        return told

    def ask(self, id: Id, origin: Origin, make: Preparation | Prepared, until: Until) -> Told:
        """Put a command to an instance and follow it: who waits for both is woken once."""
        told: Told = asyncio.get_running_loop().create_future()
        self.commands.put(INSTANCE, id, origin, make, Waiter(self, _HAS_COME[until], told).answered)
        return told

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
            told: Told = asyncio.get_running_loop().create_future()
            self.wait(known.id, Waiter(self, _HAS_COME[until], told))
            try:
                reached = await told
            finally:
                self._forget(known.id)
            if reached is not None and reached.aggregate is not None:
                return reached.aggregate
            newest = await self._read(known)
        return newest

    async def _read(self, known: Aggregate) -> Aggregate:
        return await self._read_stored(known.id, Origin(known.tenant))

    def wait(self, id: Id, waiter: Waiter) -> None:
        waiting = self._waiting.get(id)
        if waiting is None:
            self._waiting[id] = [waiter]
        else:
            waiting.append(waiter)
        if self._look is None:
            self._plan_look()

    def _look_again(self) -> None:
        """Those that were seen waiting the last time look for themselves: most are told long before that."""
        self._look = None
        for id in [*self._waiting]:
            self._forget(id)
        waiting = {each for several in self._waiting.values() for each in several}
        for each in waiting & self._seen:
            each.told.set_result(None)
        self._seen = waiting - self._seen
        self._plan_look()

    def _plan_look(self) -> None:
        if self._waiting:
            self._look = asyncio.get_running_loop().call_later(LOOK_SECONDS / 2, self._look_again)

    def _forget(self, id: bytes) -> None:
        """Those who were told or gave up wait no longer."""
        left = [each for each in self._waiting.get(id, ()) if not each.told.done()]
        if left:
            self._waiting[id] = left
        else:
            self._waiting.pop(id, None)

    def _on_commit(self, aggregate: Aggregate, entries: Any) -> None:
        id, state = aggregate.id, aggregate.state
        waiting = self._waiting.get(id)
        if waiting is None:
            return
        for each in waiting:
            if each.has_come(state):
                break
        else:
            return
        if len(waiting) == 1:
            del self._waiting[id]
            each.tell(aggregate)
        else:
            self._tell_several(aggregate, waiting)

    def _tell_several(self, aggregate: Aggregate, waiting: list[Waiter]) -> None:
        for each in waiting:
            if each.has_come(aggregate.state):
                each.tell(aggregate)
        self._forget(aggregate.id)


def has_reached(state: Instance, until: Until) -> bool:
    return _HAS_COME[until](state)


def has_ended(state: Instance) -> bool:
    return state.status in ENDED


def is_at_rest(state: Instance) -> bool:
    """Whether no token will move on by itself; the same for all instances that stand the same way."""
    stands = standing(state)
    if stands is None:
        return _is_at_rest(state)
    notes = stands[0].notes
    found: bool | None = notes.get(_REST)
    if found is None:
        found = notes[_REST] = _is_at_rest(state)
    return found


def _is_at_rest(state: Instance) -> bool:
    if state.status in ENDED:
        return True
    for node in state.nodes.values():
        # A token that a worker or another process has will move on by itself.
        is_held = node.kind == "call" or (node.job is not None and node.job.status != "pending")
        if is_held and node.incident is None:
            return False
    return True


_HAS_COME: dict[Until, Callable[[Instance], bool]] = {
    "committed": lambda state: True,
    "rest": is_at_rest,
    "end": has_ended,
}
