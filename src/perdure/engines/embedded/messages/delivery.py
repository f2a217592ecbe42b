"""Delivery: one letter to one wait or one process, each in one commit, and letters nobody takes."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from perdure.engines.embedded.messages.envelope import CorrelationFailed, MessageEnvelope, body_of, started_id, taken_id
from perdure.engines.embedded.ports import ProcessStore
from perdure.errors import RejectedError, Rejection
from perdure.journal import Machine, Origin, ParkedRow
from perdure.kernel.kernel import Aggregate, Answer, Preparation, Prepared
from perdure.kernel.ports import APPLIED, DEAD, Attachments, Conflict, InboxRow, Unit, WaitFound
from perdure.sources import Id, Micros, Sources, id_text

Ask = Callable[[Id, Origin, Preparation | Prepared], Awaitable[Answer]]
"""Puts a command to an instance; loads whatever its preparation needs and is not in memory."""

Merge = Callable[[Aggregate, int, MessageEnvelope], Prepared | Rejection]
"""The command `Correlate` for a watch, under the letter's message id, with what the letter brings merged."""

Start = Callable[[WaitFound, Id, MessageEnvelope, Origin, Attachments], Awaitable[Any]]
"""Begins an instance of the process whose start waited (`aggregate`, and which start: `step`) under the id given, the
attachments in the same commit. Under an id that exists already it does nothing."""

PAGE = 200
log = logging.getLogger("perdure")
Failed = Callable[[CorrelationFailed], None]


class WaitOver(Exception):
    """The instance no longer waits for it; found out while the command was prepared."""


class TooLate(Exception):
    """The letter's time is over; found out while the command was prepared."""


class Delivery:
    """Steps that messages and signals share."""

    def __init__(
        self, store: ProcessStore, machine: Machine[Any, Any, Any], sources: Sources, ask: Ask, merge: Merge,
        start: Start,
    ) -> None:  # fmt: skip
        self.store = store
        self.sources = sources
        self._machine = machine
        self._ask = ask
        self._merge = merge
        self._start = start
        self._listeners: list[Failed] = []

    def listen(self, listener: Failed) -> None:
        """Be told of every letter that becomes a dead one."""
        self._listeners.append(listener)

    def waits(self, aggregate: Aggregate, kind: str, letter: MessageEnvelope) -> list[ParkedRow]:
        """What an instance waits for now that the letter fits, the oldest first.

        Derived from the state: while commands are folded, the rows of an aggregate lag behind it.
        """
        wanted = (kind, letter.name, letter.correlation_key)
        rows = self._machine.rows(aggregate.id, aggregate.state).parked
        return sorted([row for row in rows if (row.kind, row.name, row.key) == wanted], key=lambda row: row.token)

    async def starts(self, tenant: str, kind: str, name: str) -> list[WaitFound]:
        """The processes that start by a name, each once, whichever of its start events comes first."""
        found: dict[Id, WaitFound] = {}
        after = 0
        while page := await self.store.find_waits(tenant, kind, name, after=after, most=PAGE):
            for each in page:
                found.setdefault(each.aggregate, each)
            after = page[-1].number
        return list(found.values())

    async def correlate(
        self,
        instance: Id,
        letter: MessageEnvelope,
        origin: Origin,
        pick: Callable[[Aggregate], tuple[int, InboxRow]],
        *,
        settles: bool = False,
        expires_at: Micros = 0,
    ) -> Answer:
        """End the wait that `pick` chooses, and write the row it gives, in one commit.

        Raises WaitOver or TooLate when it must not happen any more, RejectedError when what it brings does not fit.
        """

        def prepare(aggregate: Aggregate) -> Prepared | Rejection:
            if expires_at and self.sources.now() >= expires_at:
                raise TooLate
            watch, row = pick(aggregate)
            made = self._merge(aggregate, watch, letter)
            if isinstance(made, Rejection):
                return made
            brought = made.attachments or Attachments()
            brought.inbox = row
            brought.settles = (origin.tenant, letter.message_id) if settles else None
            return Prepared(made.command, brought)

        answer = await self._ask(instance, origin, prepare)
        if answer.conflict is not None and answer.conflict.what != "inbox":
            fact = f"'{answer.conflict.key}' is taken"
            raise RejectedError(Rejection("blocked", "correlate with", "instance", id_text(instance), fact))
        return answer

    async def begin(
        self, letter: MessageEnvelope, origin: Origin, found: Sequence[WaitFound], settles: bool
    ) -> tuple[Id, ...]:  # fmt: skip
        """Begin one instance of each process, once however often. The last one settles the letter with it."""
        ids = [started_id(origin.tenant, letter, each.aggregate) for each in found]
        for place, (each, id) in enumerate(zip(found, ids, strict=True), 1):
            is_last = settles and place == len(ids)
            brought = Attachments(settles=(origin.tenant, letter.message_id) if is_last else None)
            await self._start(each, id, letter, origin, brought)
        return tuple(ids)

    async def settle(self, tenant: str, message_id: str) -> None:
        await self.store.commit(Unit(tenant, None, attachments=[Attachments(settles=(tenant, message_id))]))

    async def write(self, tenant: str, row: InboxRow, takes: str = "") -> Conflict | None:
        """Keep a row of the inbox by itself; the conflict when its id is known.

        With `takes` it replaces another, which is done with in the same commit and cannot be taken by anyone else.
        """
        brought = [Attachments(inbox=row)]
        if takes:
            taken = InboxRow(
                tenant, taken_id(takes), row.kind, row.key, row.received_at, APPLIED, "corrected", None, None, row.name
            )
            brought.append(Attachments(inbox=taken, settles=(tenant, takes)))
        return await self.store.commit(Unit(tenant, None, attachments=brought, at=self.sources.now()))

    def arrival(
        self, tenant: str, id: str, kind: str, letter: MessageEnvelope, answer: str, instance: Id | None
    ) -> InboxRow:
        """The row of something that is done with."""
        now = self.sources.now()
        return InboxRow(
            tenant, id, kind, letter.correlation_key, now, APPLIED, answer, instance, None, letter.name
        )  # fmt: skip

    async def bury(self, tenant: str, id: str, kind: str, letter: MessageEnvelope, reason: str) -> Conflict | None:
        """Make a letter a dead one as it arrives."""
        row = InboxRow(
            tenant, id, kind, letter.correlation_key, letter.at, DEAD, reason, None, body_of(letter), letter.name
        )  # fmt: skip
        conflict = await self.write(tenant, row)
        if conflict is None:
            self.failed(tenant, letter, reason, id)
        return conflict

    async def bury_kept(self, tenant: str, letter: MessageEnvelope, reason: str) -> bool:
        """Make a kept letter a dead one, unless someone took it first."""
        if not await self.store.bury_message(tenant, letter.message_id, reason):
            return False
        self.failed(tenant, letter, reason)
        return True

    def failed(self, tenant: str, letter: MessageEnvelope, reason: str, id: str = "") -> None:
        log.warning("Message '%s' (%s) became a dead letter: %s", id or letter.message_id, letter.name, reason)
        event = CorrelationFailed(tenant, id or letter.message_id, letter.name, letter.correlation_key, reason)
        for listener in self._listeners:
            listener(event)
