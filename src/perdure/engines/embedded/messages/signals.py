"""Signals: broadcast to every wait there is, each once, also when the broadcast is interrupted."""

from __future__ import annotations

import asyncio

from perdure.engine import SIGNAL, Broadcast, Vet
from perdure.engines.embedded.messages.delivery import Delivery, WaitOver
from perdure.engines.embedded.messages.envelope import MessageEnvelope, body_of, namesake, reached_id
from perdure.errors import QuarantinedError, RejectedError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.kernel.ports import APPLIED, PENDING, InboxRow, WaitFound
from perdure.sources import Id, id_text

PAGE = 200
TOGETHER = 50
"""How many instances are reached at once: enough to share commits."""


class Signals:
    """A broadcast is a pending row until everyone was reached; whoever finds it pending goes on with it."""

    def __init__(self, delivery: Delivery) -> None:
        self._delivery = delivery
        self._store = delivery.store

    async def send(self, letter: MessageEnvelope, origin: Origin, vet: Vet | None = None) -> Broadcast:
        starts = await self._delivery.starts(origin.tenant, "signal_start", letter.name)
        if vet is not None and letter.thrower:
            starts = [each for each in starts if await self._may_begin(each, letter, origin, vet)]
        upto = await self._store.newest_wait(origin.tenant, SIGNAL, letter.name)
        if vet is not None and not letter.thrower:
            await self._vetted(letter, origin, upto, [each.aggregate for each in starts], vet)
        names = tuple(id_text(each.aggregate) for each in starts)
        letter = _bounded(letter, upto, names)
        is_new = await self._is_new(letter, origin)
        if not is_new and await self._is_another(letter, origin):
            letter = namesake(SIGNAL, letter)
            is_new = await self._is_new(letter, origin)
        reached = await self.go_on(letter, origin) if is_new and _has_audience(letter) else 0
        return Broadcast(letter.message_id, reached, is_duplicate=not is_new)

    async def _may_begin(self, start: WaitFound, letter: MessageEnvelope, origin: Origin, vet: Vet) -> bool:
        """Whether a process begins by what an instance throws; else a dead letter says why it does not."""
        try:
            await vet([start.aggregate])
        except RejectedError as error:
            id = reached_id(letter.message_id, start.aggregate)
            await self._delivery.bury(origin.tenant, id, SIGNAL, letter, f"rejected: {error}")
            return False
        return True

    async def _vetted(self, letter: MessageEnvelope, origin: Origin, upto: int, starts: list[Id], vet: Vet) -> None:
        """Ask whether everything may happen that the signal leads to, before anything is written."""
        if starts:
            await vet(starts)
        after = 0
        while page := await self._store.find_waits(origin.tenant, SIGNAL, letter.name, after=after, most=PAGE):
            after = page[-1].number
            await vet(waits=list(dict.fromkeys(each.aggregate for each in page if each.number <= upto)))
            if after > upto:
                break

    async def _is_new(self, letter: MessageEnvelope, origin: Origin) -> bool:
        """Write its row, if that was not written before."""
        has_audience = _has_audience(letter)
        row = InboxRow(
            origin.tenant, letter.message_id, SIGNAL, "", letter.at, PENDING if has_audience else APPLIED, "", None,
            body_of(letter) if has_audience else None, letter.name,
        )  # fmt: skip
        return await self._delivery.write(origin.tenant, row) is None

    async def _is_another(self, letter: MessageEnvelope, origin: Origin) -> bool:
        """Whether its id belongs to a message, or to a signal of another name."""
        known = await self._store.message(origin.tenant, letter.message_id)
        return known is not None and (known.kind, known.name) != (SIGNAL, letter.name)

    async def go_on(self, letter: MessageEnvelope, origin: Origin) -> int:
        """Reach everyone who was not reached yet; how many waits ended and instances began just now.

        The instance that threw it has heard it already, in that very commit.
        """
        reached, after, thrower = 0, 0, letter.thrower
        while page := await self._store.find_waits(origin.tenant, SIGNAL, letter.name, after=after, most=PAGE):
            after = page[-1].number
            found = dict.fromkeys(each.aggregate for each in page if each.number <= letter.upto)
            instances = [each for each in found if id_text(each) != thrower]
            for start in range(0, len(instances), TOGETHER):
                several = [self._reach(id, letter, origin) for id in instances[start : start + TOGETHER]]
                reached += sum(await asyncio.gather(*several))
            if after > letter.upto:
                break
        reached += await self._begin(letter, origin)
        await self._delivery.settle(origin.tenant, letter.message_id)
        return reached

    async def _begin(self, letter: MessageEnvelope, origin: Origin) -> int:
        """Each process by itself: one that refuses what the signal brings does not keep the others from beginning."""
        begun = 0
        for found in await self._delivery.starts(origin.tenant, "signal_start", letter.name):
            if id_text(found.aggregate) not in letter.starts:
                continue
            try:
                begun += len(await self._delivery.begin(letter, origin, [found], settles=False))
            except RejectedError as error:
                id = reached_id(letter.message_id, found.aggregate)
                await self._delivery.bury(origin.tenant, id, SIGNAL, letter, f"rejected: {error}")
        return begun

    async def _reach(self, instance: Id, letter: MessageEnvelope, origin: Origin) -> int:
        """End every wait of one instance for the signal that there was when it was first reached."""
        watches: list[int] = []

        def first(aggregate: Aggregate) -> tuple[int, InboxRow]:
            watches[:] = [row.token for row in self._delivery.waits(aggregate, SIGNAL, letter)]
            if not watches:
                raise WaitOver
            # Remembered, so that a wait it opens because of this signal is not reached by the same one.
            answer = ",".join(map(str, watches))
            id = reached_id(letter.message_id, instance)
            return watches[0], self._delivery.arrival(origin.tenant, id, SIGNAL, letter, answer, instance)

        reached = 0
        try:
            answer = await self._delivery.correlate(instance, letter, origin, first)
            reached += answer.conflict is None
            if answer.conflict is not None:
                watches = [int(each) for each in answer.conflict.detail.split(",") if each]
        except (WaitOver, QuarantinedError):
            return 0
        except RejectedError as error:
            await self._refused(instance, watches[0] if watches else 0, letter, origin, error)
        for watch in watches[1:]:
            reached += await self._reach_one(instance, watch, letter, origin)
        return reached

    async def _reach_one(self, instance: Id, watch: int, letter: MessageEnvelope, origin: Origin) -> bool:
        def pick(aggregate: Aggregate) -> tuple[int, InboxRow]:
            if all(row.token != watch for row in self._delivery.waits(aggregate, SIGNAL, letter)):
                raise WaitOver
            id = reached_id(letter.message_id, instance, watch)
            return watch, self._delivery.arrival(origin.tenant, id, SIGNAL, letter, "applied", instance)

        try:
            return (await self._delivery.correlate(instance, letter, origin, pick)).conflict is None
        except (WaitOver, QuarantinedError):
            return False
        except RejectedError as error:
            await self._refused(instance, watch, letter, origin, error)
            return False

    async def _refused(
        self, instance: Id, watch: int, letter: MessageEnvelope, origin: Origin, error: RejectedError
    ) -> None:
        """One instance that refuses what the signal brings does not keep the others from hearing it."""
        id = reached_id(letter.message_id, instance, watch)
        await self._delivery.bury(origin.tenant, id, SIGNAL, letter, f"rejected: {error}")


def _bounded(letter: MessageEnvelope, upto: int, starts: tuple[str, ...]) -> MessageEnvelope:
    return MessageEnvelope(
        letter.name, letter.message_id, "", letter.at, letter.data, letter.flags, letter.writer, letter.principal,
        letter.trace, upto, starts, letter.thrower,
    )  # fmt: skip


def _has_audience(letter: MessageEnvelope) -> bool:
    return bool(letter.upto or letter.starts)
