"""Messages: correlated by name and a key frozen when the wait opened, kept for a while when nobody waits yet.

| what arrives | what becomes of it |
|---|---|
| a message one instance waits for | `correlated`: its oldest wait of that name and key ends, in the same commit |
| the same message id again | `duplicate`; a dead letter that now fits is delivered |
| an id that came before under another name or key | another message: it is known by name, key and id together |
| a message several instances wait for | `ambiguous`: nobody gets it, dead letter |
| nobody waits, a process starts by it | `started`: one instance of each such process, once per message id |
| nobody waits, it has time to live | `buffered` until someone waits or its time is over, then a dead letter |
| nobody waits, it has none | `no_subscription`, dead letter |
| data or flags that do not fit | refused at the door, or, when it was kept, a dead letter |

A wait that opens looks for kept messages after its commit; a message that was kept looks for waits after its own. One
of them sees the other. Both may try at once: who takes a kept message writes a second id, and only one can.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from copy import copy
from typing import Any, NamedTuple

from msgspec.structs import replace

from perdure.bpmn.machine import journal_entries as e
from perdure.engine import MESSAGE, SIGNAL, Broadcast, Receipt, Vet, sent_id
from perdure.engines.embedded.messages.delivery import Ask, Delivery, Failed, Merge, Start, TooLate, WaitOver
from perdure.engines.embedded.messages.envelope import (
    MessageEnvelope,
    Namesake,
    body_of,
    check_envelope,
    namesake,
    read_envelope,
    taken_id,
)
from perdure.engines.embedded.messages.failed_correlations import FailedCorrelations
from perdure.engines.embedded.messages.signals import Signals
from perdure.engines.embedded.ports import EngineStore
from perdure.errors import InvariantBroken, PerdureError, QuarantinedError, RejectedError, Rejection
from perdure.journal import Machine, Origin
from perdure.kernel.kernel import Aggregate, Kernel
from perdure.kernel.ports import DEAD, PENDING, Buffered, InboxRow, WaitFound
from perdure.runbooks.ports import Message
from perdure.sources import SECOND, Id, Micros, Sources, id_text, iso
from perdure.work.dead_letter_limit import check_room

INSTANCE = "instance"
PAGE = 100
SWEPT = 500
MAX_ROUTES = 50
"""How often a message is routed again because the wait it was for had just ended."""

log = logging.getLogger("perdure")

Place = tuple[str, str]
"""The name and the key a message is sent and waited for under."""


Opening = e.Armed | e.WatchMet | e.InstanceResumed | e.InstanceMigrated
"""What may make an instance wait for messages."""


class _Claim(NamedTuple):
    """A look for kept messages that is under way, and the waits it is for, in order."""

    places: dict[Place, None]
    task: asyncio.Task[None]


class Messages:
    """At least once in, exactly once out."""

    def __init__(
        self, kernel: Kernel, store: EngineStore, machine: Machine[Any, Any, Any], sources: Sources,
        *, ask: Ask, merge: Merge, start: Start,
    ) -> None:  # fmt: skip
        self._store = store
        self._sources = sources
        self._delivery = Delivery(store, machine, sources, ask, merge, start)
        self._signals = Signals(self._delivery)
        self._failed = FailedCorrelations(kernel, store, sources, ask)
        self._vet: Vet | None = None
        self._claims: dict[tuple[Id, int], _Claim] = {}
        self._swept: tuple[Micros, int] = (0, 0)
        self._kernel = kernel
        kernel.hear((e.Armed, e.WatchMet, e.InstanceResumed, e.InstanceMigrated), self._on_entry)

    def listen(self, listener: Failed) -> None:
        """Be told of every message that becomes a dead letter."""
        self._delivery.listen(listener)

    def _asking(self, vet: Vet | None) -> Messages:
        """The same for one sender, who is asked first whether processes may begin by what is sent."""
        if vet is None:
            return self
        made = copy(self)
        made._vet = vet
        return made

    # --- arriving ------------------------------------------------------------------------------------------------

    async def publish(
        self, name: str, key: str, origin: Origin, *, message_id: str = "", ttl_seconds: float = 0.0,
        data: Mapping[str, Any] | None = None, flags: Mapping[str, str | bool | int] | None = None, writer: str = "",
        vet: Vet | None = None, thrower: str = "",
    ) -> Receipt:  # fmt: skip
        """Send a message. Without an id every sending is another message. `thrower`: the instance that threw it."""
        letter = self._letter(name, key, origin, message_id, data, flags, writer, thrower)
        check_envelope(letter, ttl_seconds)
        return await _told_apart(letter, lambda each: self._asking(vet)._publish(each, origin, ttl_seconds))

    async def _publish(self, letter: MessageEnvelope, origin: Origin, ttl_seconds: float) -> Receipt:
        receipt = await self._route(letter, origin)
        if receipt.outcome == "no_subscription" and ttl_seconds > 0:
            if self._vet is not None:
                await self._vet(is_kept=True)
            return await self._keep(letter, origin, letter.at + int(ttl_seconds * SECOND))
        if receipt.is_unwanted:
            if not letter.thrower:  # a process that throws is not stopped by what others left behind
                await check_room(self._store, origin.tenant, letter.message_id)
            return await self._fail(letter, origin, receipt)
        return receipt

    async def _fail(self, letter: MessageEnvelope, origin: Origin, receipt: Receipt) -> Receipt:
        """Nobody takes it: the steps it concerns say so, and it becomes a dead letter."""
        if await self._store.message(origin.tenant, letter.message_id) is None:
            await self._failed.tell(origin.tenant, letter, receipt.outcome, receipt.reason)
        reason = f"{receipt.outcome}: {receipt.reason}"
        if await self._delivery.bury(origin.tenant, letter.message_id, MESSAGE, letter, reason) is not None:
            return await self._known(letter, origin)
        return receipt

    async def correlate(
        self, name: str, key: str, origin: Origin, *, message_id: str = "", data: Mapping[str, Any] | None = None,
        flags: Mapping[str, str | bool | int] | None = None, writer: str = "",
        vet: Vet | None = None, thrower: str = "",
    ) -> Receipt:  # fmt: skip
        """Send a message that is for someone now or for nobody: it never waits for one, and becomes a dead letter."""
        letter = self._letter(name, key, origin, message_id, data, flags, writer, thrower)
        check_envelope(letter, 0)
        return await _told_apart(letter, lambda each: self._asking(vet)._at_once(each, origin))

    async def _at_once(self, letter: MessageEnvelope, origin: Origin) -> Receipt:
        receipt = await self._route(letter, origin)
        if receipt.is_unwanted:
            if not letter.thrower:
                await check_room(self._store, origin.tenant, letter.message_id)
            return await self._fail(letter, origin, receipt)
        return receipt

    async def signal(
        self, name: str, origin: Origin, *, message_id: str = "", data: Mapping[str, Any] | None = None,
        flags: Mapping[str, str | bool | int] | None = None, writer: str = "",
        vet: Vet | None = None, thrower: str = "",
    ) -> Broadcast:  # fmt: skip
        """Tell everyone of the tenant who waits for the signal, and begin the processes that start by it."""
        letter = self._letter(name, "", origin, message_id, data, flags, writer, thrower)
        check_envelope(letter, 0)
        return await self._signals.send(letter, origin, vet)

    def _letter(
        self, name: str, key: str, origin: Origin, message_id: str, data: Mapping[str, Any] | None,
        flags: Mapping[str, str | bool | int] | None, writer: str, thrower: str,
    ) -> MessageEnvelope:  # fmt: skip
        letter = MessageEnvelope(
            name, message_id or f"auto-{id_text(self._sources.new_id())}", key, self._sources.now(),
            None if data is None else dict(data), dict(flags or {}), writer, origin.principal, origin.trace,
            thrower=thrower, behind=origin.behind,
        )  # fmt: skip
        body_of(letter)  # what could not be kept is refused before anything happens
        return letter

    async def _route(self, letter: MessageEnvelope, origin: Origin, *, settles: bool = False) -> Receipt:
        """To the one who waits, or to the processes that start by it; `settles` when the letter has a row already."""
        for _ in range(MAX_ROUTES):
            found, others = await self._waiting(origin.tenant, letter)
            if found and self._vet is not None:
                await self._vet(waits=[*found, *others])
            if others:
                reason = f"{id_text(found[0])} and {id_text(others[0])} wait for it" if found else ""
                return Receipt("ambiguous", letter.message_id, (*found, *others), reason)
            if not found:
                return await self._start(letter, origin, settles)
            try:
                return await self._correlate(found[0], letter, origin, settles=settles)
            except WaitOver:
                continue
        fact = "the waits it is for kept ending before it came"
        raise RejectedError(Rejection("blocked", "correlate", "message", letter.message_id, fact, "Send it again."))

    async def _waiting(self, tenant: str, letter: MessageEnvelope) -> tuple[list[Id], list[Id]]:
        """The instance that waits longest, and another if there is one."""
        first: list[Id] = []
        after = 0
        while page := await self._store.find_waits(
            tenant, MESSAGE, letter.name, letter.correlation_key, after=after, most=PAGE
        ):
            first = first or [page[0].aggregate]
            others = [each.aggregate for each in page if each.aggregate != first[0]]
            if others or len(page) < PAGE:
                return first, others[:1]
            after = page[-1].number
        return first, []

    async def _correlate(
        self, instance: Id, letter: MessageEnvelope, origin: Origin, *, settles: bool = False, expires_at: Micros = 0
    ) -> Receipt:
        def oldest(aggregate: Aggregate) -> tuple[int, InboxRow]:
            waits = self._delivery.waits(aggregate, MESSAGE, letter)
            if not waits:
                raise WaitOver
            id = taken_id(letter.message_id) if settles else letter.message_id
            return waits[0].token, self._delivery.arrival(origin.tenant, id, MESSAGE, letter, "correlated", instance)

        answer = await self._delivery.correlate(
            instance, letter, origin, oldest, settles=settles, expires_at=expires_at
        )  # fmt: skip
        if answer.conflict is not None:
            return await self._known(letter, origin)
        return Receipt("correlated", letter.message_id, (instance,))

    async def _start(self, letter: MessageEnvelope, origin: Origin, settles: bool) -> Receipt:
        """Begin the processes that start by it. A row says so first: whoever finds it pending goes on with it."""
        found = await self._delivery.starts(origin.tenant, "message_start", letter.name)
        if not found:
            fact = f"nothing waits for '{letter.name}' under '{letter.correlation_key}', and no process starts by it"
            return Receipt("no_subscription", letter.message_id, (), fact)
        if self._vet is not None:
            try:
                await self._vet([each.aggregate for each in found])
            except RejectedError as error:
                if settles or not letter.thrower:
                    raise
                # Nobody is there who could be asked: a person finds it among the dead letters, and is asked there.
                await self._delivery.bury(origin.tenant, letter.message_id, MESSAGE, letter, f"rejected: {error}")
                return Receipt("duplicate", letter.message_id, (), str(error))
        if settles:
            ids = await self._delivery.begin(letter, origin, found, settles=False)
            await self._delivery.settle(origin.tenant, letter.message_id)
            return Receipt("started", letter.message_id, ids)
        letter = replace(letter, starts=tuple(id_text(each.aggregate) for each in found))
        if await self._delivery.write(origin.tenant, self._pending(origin.tenant, letter, "starting")) is not None:
            return await self._known(letter, origin)
        try:
            ids = await self._delivery.begin(letter, origin, found, settles=True)
        except RejectedError as error:
            await self._bury_kept(origin.tenant, letter, "rejected", str(error))
            raise
        return Receipt("started", letter.message_id, ids)

    def _pending(self, tenant: str, letter: MessageEnvelope, answer: str, expires_at: Micros = 0) -> InboxRow:
        return InboxRow(
            tenant, letter.message_id, MESSAGE, letter.correlation_key, letter.at, PENDING, answer, None,
            body_of(letter), letter.name, expires_at,
        )  # fmt: skip

    async def _known(self, letter: MessageEnvelope, origin: Origin) -> Receipt:
        """The message id is known: what became of it, unless it was a dead letter that can be delivered by now."""
        message = await self._store.message(origin.tenant, letter.message_id)
        if message is None:
            fact = "the store says that it came and does not have it"
            raise InvariantBroken("find", "message", letter.message_id, fact)
        if (message.kind, message.name, message.key) != (MESSAGE, letter.name, letter.correlation_key):
            raise Namesake
        if message.status == DEAD or await self._is_over(origin.tenant, message):
            return await self._route(replace(letter, at=message.received_at), origin, settles=True)
        instances = (Id(message.aggregate),) if message.aggregate is not None else ()
        return Receipt("duplicate", letter.message_id, instances, message.answer)

    async def _is_over(self, tenant: str, message: Message) -> bool:
        """Whether it was kept and its time has just ended: a dead letter that nobody has buried yet."""
        if message.status != PENDING or not 0 < message.expires_at <= self._sources.now():
            return False
        return await self._bury_expired(tenant, message.message_id, message.name, message.key, message.expires_at)

    async def _bury_expired(self, tenant: str, message_id: str, name: str, key: str, expires_at: Micros) -> bool:
        letter, reason = MessageEnvelope(name, message_id, key), f"nobody waited for it before {iso(expires_at)}"
        return await self._bury_kept(tenant, letter, "expired", reason)

    async def _bury_kept(self, tenant: str, letter: MessageEnvelope, outcome: str, reason: str) -> bool:
        await self._failed.tell(tenant, letter, outcome, reason)
        return await self._delivery.bury_kept(tenant, letter, f"{outcome}: {reason}")

    # --- kept until someone waits --------------------------------------------------------------------------------

    async def _keep(self, letter: MessageEnvelope, origin: Origin, expires_at: Micros) -> Receipt:
        row = self._pending(origin.tenant, letter, "buffered", expires_at)
        if await self._delivery.write(origin.tenant, row) is not None:
            return await self._known(letter, origin)
        # A wait that opened meanwhile may have looked for messages before this one was there.
        taken = await self.claim(origin.tenant, letter.name, letter.correlation_key)
        if letter.message_id in taken:
            return Receipt("correlated", letter.message_id, (taken[letter.message_id],))
        return Receipt("buffered", letter.message_id)

    async def claim(self, tenant: str, name: str, key: str, instance: Id | None = None) -> dict[str, Id]:
        """Give kept messages, oldest first, to an instance, or to all that wait, longest first; who got which."""
        waiting = [instance] if instance is not None else await self._instances(tenant, name, key)
        return {id: each for each in waiting for id in await self._claim_all(tenant, each, [(name, key)])}

    async def _claim_all(self, tenant: str, instance: Id, places: Iterable[Place]) -> list[str]:
        """Give an instance what is kept for it under any of these names and keys, in the order it was sent."""
        taken: list[str] = []
        kept = {place: found for place in places if (found := await self._kept(tenant, place))}
        while kept:
            place = min(kept, key=lambda each: kept[each].number)
            oldest = kept.pop(place)
            try:
                if await self._take(tenant, oldest, instance):
                    taken.append(oldest.message_id)
            except WaitOver:
                continue
            if following := await self._kept(tenant, place, oldest.number):
                kept[place] = following
        return taken

    async def _kept(self, tenant: str, place: Place, after: int = 0) -> Buffered | None:
        found = await self._store.buffered_messages(tenant, *place, self._sources.now(), after=after, most=1)
        return found[0] if found else None

    async def _instances(self, tenant: str, name: str, key: str) -> list[Id]:
        found = await self._store.find_waits(tenant, MESSAGE, name, key, most=PAGE)
        return list(dict.fromkeys(each.aggregate for each in found))

    async def _take(self, tenant: str, kept: Buffered, instance: Id) -> bool:
        """Deliver one kept message; one that does not fit where it is wanted becomes a dead letter."""
        message = await self._store.message(tenant, kept.message_id)
        if message is None or message.status != PENDING:
            return False
        letter = await self._readable(tenant, message)
        if letter is None:
            return False
        origin = letter.origin(tenant)
        try:
            receipt = await self._correlate(instance, letter, origin, settles=True, expires_at=message.expires_at)
        except (TooLate, QuarantinedError):
            return False
        except RejectedError as error:
            await self._bury_kept(tenant, letter, "rejected", str(error))
            return False
        return receipt.outcome == "correlated"

    async def _readable(self, tenant: str, message: Message) -> MessageEnvelope | None:
        try:
            return read_envelope(message.message_id, message.body)
        except PerdureError as error:
            blank = MessageEnvelope(message.name, message.message_id, message.key, message.received_at)
            await self._delivery.bury_kept(tenant, blank, f"unreadable: {error.fact}")
            return None

    def _on_entry(self, aggregate: Aggregate, entry: Opening) -> None:
        """One claim for all that a commit opened: of several waits, that whose message came first ends first."""
        opened = _opened(aggregate, entry)
        if not opened:
            return
        commit = (aggregate.id, aggregate.version)
        if commit in self._claims:
            self._claims[commit].places.update(opened)
            return
        task = asyncio.get_running_loop().create_task(self._claim_for(aggregate, opened))
        self._claims[commit] = _Claim(opened, task)
        task.add_done_callback(lambda _: self._claims.pop(commit, None))

    async def _claim_for(self, aggregate: Aggregate, places: dict[Place, None]) -> None:
        try:
            await self._claim_all(aggregate.tenant, aggregate.id, places)
        except PerdureError as error:
            log.warning("%s Messages kept for it are looked for again.", error)

    async def drain(self) -> None:
        """Wait until no claim is under way."""
        while self._claims:
            await asyncio.gather(*(each.task for each in self._claims.values()), return_exceptions=True)

    # --- upkeep --------------------------------------------------------------------------------------------------

    async def sweep(self) -> int:
        """Kept messages: bury those whose time is over, deliver those whose wait found a crash before it found them.

        Bounded: one page of each in a turn. Returns how many were dealt with.
        """
        done = 0
        for found in await self._store.expired_messages(self._sources.now(), SWEPT):
            done += await self._bury_expired(*found[:5])
        page = await self._store.buffered_page(*self._swept, SWEPT)
        self._swept = (page[-1].expires_at, page[-1].number) if len(page) == SWEPT else (0, 0)
        awaited = sorted((each for each in page if each.is_awaited), key=lambda each: each.number)
        waiting = [
            (tenant, instance)
            for tenant, name, key in dict.fromkeys((each.tenant, each.name, each.key) for each in awaited)
            for instance in await self._instances(tenant, name, key)
        ]
        for tenant, instance in dict.fromkeys(waiting):
            done += await self._claim_again(tenant, instance)
        return done

    async def _claim_again(self, tenant: str, instance: Id) -> int:
        """Give an instance what is kept for any of its waits, as it would have been given when they opened."""
        try:
            aggregate = await self._kernel.read(instance, Origin(tenant))
        except (RejectedError, QuarantinedError):
            return 0
        return len(await self._claim_all(tenant, instance, _waits(aggregate)))

    async def deliver(self, tenant: str, message_id: str) -> bool:
        """Go on with what was begun and not ended: a broadcast, or instances that a message starts."""
        message = await self._store.message(tenant, message_id)
        if message is None or message.status != PENDING or message.expires_at:
            return False
        letter = await self._readable(tenant, message)
        if letter is None:
            return True
        origin = letter.origin(tenant)
        if message.kind == SIGNAL:
            await self._signals.go_on(letter, origin)
            return True
        found = await self._delivery.starts(tenant, "message_start", letter.name)
        try:
            await self._delivery.begin(letter, origin, _named(found, letter), settles=False)
            await self._delivery.settle(tenant, message_id)
        except RejectedError as error:
            await self._bury_kept(tenant, letter, "rejected", str(error))
        return True

    # --- by hand -------------------------------------------------------------------------------------------------

    async def replay(
        self, message_id: str, origin: Origin, *, key: str = "", instance: Id | None = None, vet: Vet | None = None
    ) -> Receipt:
        """Deliver a dead letter again, perhaps under a corrected key, or to one of several that wait for it."""
        message = await self._store.message(origin.tenant, message_id)
        if message is None or message.kind != MESSAGE:
            fact = "there is no such message" if message is None else f"that is a {message.kind}, which is sent anew"
            raise RejectedError(Rejection("not_found", "replay", "dead letter", message_id, fact))
        if message.status != DEAD:
            fact = "it was dealt with already"
            raise RejectedError(Rejection("wrong_state", "replay", "dead letter", message_id, fact))
        letter = read_envelope(message_id, message.body)
        if key and key != letter.correlation_key:
            letter = await self._refile(letter, key, origin, instance)
        receipt = await self._asking(vet)._hand_over(letter, origin, instance)
        if receipt.is_unwanted:
            fact = f"{receipt.outcome}: {receipt.reason}"
            raise RejectedError(Rejection("blocked", "replay", "dead letter", message_id, fact))
        return receipt

    async def _refile(self, letter: MessageEnvelope, key: str, origin: Origin, instance: Id | None) -> MessageEnvelope:
        """Under another key it is another message: a dead letter of its own, and the old one is done with.

        So the sender may correct it as well, or send it again, and it still counts once.
        """
        wanted = replace(letter, correlation_key=key)
        await self._check_wanted(wanted, origin, instance)
        moved = namesake(MESSAGE, replace(wanted, message_id=sent_id(letter.message_id)))
        conflict = await self._delivery.write(
            origin.tenant,
            InboxRow(
                origin.tenant, moved.message_id, MESSAGE, key, letter.at, DEAD, f"corrected from '{letter.message_id}'",
                None, body_of(moved), letter.name,
            ),
            takes=letter.message_id,
        )  # fmt: skip
        if conflict is None:
            return moved
        is_taken = conflict.key == taken_id(letter.message_id)
        fact = "it was just dealt with" if is_taken else f"that message came before under the key '{key}'"
        raise RejectedError(Rejection("wrong_state", "replay", "dead letter", letter.message_id, fact))

    async def _check_wanted(self, letter: MessageEnvelope, origin: Origin, instance: Id | None) -> None:
        """Refuse a key under which nobody would take it, before anything is written."""
        waiting = await self._instances(origin.tenant, letter.name, letter.correlation_key)
        if instance in waiting or (instance is None and len(waiting) == 1):
            return
        starts = await self._delivery.starts(origin.tenant, "message_start", letter.name)
        if instance is None and not waiting and starts:
            return
        what = "ambiguous" if instance is None and waiting else "no_subscription"
        fact = f"{what}: {len(waiting)} instances wait for '{letter.name}' under '{letter.correlation_key}'"
        if instance is not None:
            fact = f"{id_text(instance)} does not wait for '{letter.name}' under '{letter.correlation_key}'"
        raise RejectedError(Rejection("blocked", "replay", "dead letter", letter.message_id, fact))

    async def _hand_over(self, letter: MessageEnvelope, origin: Origin, instance: Id | None) -> Receipt:
        if instance is None:
            return await self._route(letter, origin, settles=True)
        if self._vet is not None:
            await self._vet(waits=[instance])
        try:
            return await self._correlate(instance, letter, origin, settles=True)
        except WaitOver:
            fact = f"it does not wait for '{letter.name}' under '{letter.correlation_key}'"
            raise RejectedError(Rejection("blocked", "replay to", "instance", id_text(instance), fact)) from None


async def _told_apart(letter: MessageEnvelope, send: Callable[[MessageEnvelope], Awaitable[Receipt]]) -> Receipt:
    """Send it; where another message has its id already, under one that is its own."""
    try:
        return await send(letter)
    except Namesake:
        return await send(namesake(MESSAGE, letter))


def _opened(aggregate: Aggregate, entry: Opening) -> dict[Place, None]:
    """Names and keys an entry made an instance wait for; all of them when it goes on after a pause or elsewhere."""
    if isinstance(entry, e.WatchMet):
        watch = None if entry.is_met else aggregate.state.watches.get(entry.number)  # one that is waited for anew
        return {(watch.name, watch.key): None} if watch is not None and watch.kind == MESSAGE else {}
    if isinstance(entry, e.Armed):
        return {(entry.name, entry.key): None} if entry.kind == MESSAGE else {}
    return _waits(aggregate)


def _waits(aggregate: Aggregate) -> dict[Place, None]:
    return {(row.name, row.key): None for row in aggregate.rows.parked if row.kind == MESSAGE}


def _named(found: list[WaitFound], letter: MessageEnvelope) -> list[WaitFound]:
    return [each for each in found if id_text(each.aggregate) in letter.starts]
