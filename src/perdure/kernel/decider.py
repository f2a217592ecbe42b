"""The decider: commands become entries, and the unit that commits them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from perdure.errors import PerdureError, RejectedError, Rejection
from perdure.journal import (
    Anchor,
    Decision,
    Deed,
    Machine,
    Notice,
    Origin,
    PartedMachine,
    Parts,
    RecordRow,
    Rows,
    Written,
    anchored,
    genesis,
    link,
)
from perdure.journal.facts import MAX_KEYS, fact_key, fact_notice
from perdure.journal.notice_routes import FactEvent
from perdure.kernel.ports import Attachments, Conflict, EntityWrite, Unit
from perdure.kernel.unit_row_digests import anchors_of, has_rows
from perdure.sources import Id, Micros, Sources, id_text

_NO_PARTS: list[tuple[int, bytes]] = []
NO_HEAD = b""
"""The head of an aggregate that has no record yet: its first unit begins the chain."""


class Aggregate(msgspec.Struct, frozen=True, gc=False):
    """An aggregate in memory, as of its last commit.

    `rows` are those its state stands for; of one whose parts are rows by themselves, those the last commit changed.
    """

    id: Id
    tenant: str
    kind: str
    version: int
    state: Any
    head: bytes
    rows: Rows


class Prepared(msgspec.Struct, frozen=True, gc=False):
    """A command together with what it brings along."""

    command: Any
    attachments: Attachments | None = None
    decision: Decision | Rejection | None = None
    """What the command leads to, where whoever prepared it for this very state has decided it already."""
    due: Micros = 0
    """The moment before which it may not be committed, by the store's clock."""
    undecided: Attachments | None = None
    """The attachments of the command alone, for when it is decided again and may lead elsewhere."""


Preparation = Callable[[Aggregate], Prepared | Rejection]


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What the caller is told once it is durable. `conflict` is set when a key was taken."""

    aggregate: Aggregate | None
    answer: str
    entries: Any = ()
    conflict: Conflict | None = None


Settled = Callable[[Answer | BaseException], None]


class Submission(msgspec.Struct):
    """A command, and who is told what became of it: by a future, or by a call."""

    origin: Origin
    prepare: Preparation | Prepared
    kind: str
    future: asyncio.Future[Answer] | None
    told: Settled | None = None

    @property
    def is_settled(self) -> bool:
        return self.told is None if self.future is None else self.future.done()

    def settle(self, answer: Answer | BaseException) -> None:
        """Tell whoever waits, once, unless they have given up."""
        future = self.future
        if future is None:
            told, self.told = self.told, None
            if told is not None:
                _call_back(told, answer)
        elif future.done():
            return
        elif not isinstance(answer, BaseException):
            future.set_result(answer)
        elif isinstance(answer, asyncio.CancelledError):
            future.cancel()
        else:
            future.set_exception(answer)


def _call_back(told: Settled, answer: Answer | BaseException) -> None:
    """One who cannot bear it is reported: others wait for their answers too."""
    try:
        told(answer)
    except Exception as error:
        message = f"{told!r} failed when it was told what became of a command"
        asyncio.get_running_loop().call_exception_handler({"message": message, "exception": error})


class Decided(msgspec.Struct, frozen=True, gc=False):
    """A command as it was decided, when, and what it brings."""

    submission: Submission
    at: Micros
    command: Any
    brought: Attachments | None
    decision: Decision
    due: Micros = 0

    def told(self, after: Aggregate) -> Answer | RejectedError:
        """What whoever asked is told once it is durable."""
        decision = self.decision
        if decision.refusal is not None:
            return RejectedError(decision.refusal)
        return Answer(after, decision.answer, decision.entries)

    @property
    def is_quiet(self) -> bool:
        """Whether it changes nothing."""
        return self.brought is None and self.decision.written is None and not self.decision.entries


class Decisions(msgspec.Struct, frozen=True, gc=False):
    """What became of the commands of one unit before it is committed."""

    decided: list[Decided]
    quiet: list[Decided]
    refused: list[tuple[Submission, Exception]]


class Committing(msgspec.Struct, frozen=True, gc=False):
    """A unit on its way to the store, what it makes of the aggregate, and whose commands it holds."""

    unit: Unit
    after: Aggregate
    decided: list[Decided]


class Decider:
    """Synchronous: an aggregate and commands in, a unit out."""

    def __init__(self, machines: Mapping[str, Machine[Any, Any, Any]], sources: Sources) -> None:
        self.parted = {kind: each for kind, each in machines.items() if isinstance(each, PartedMachine)}
        self._now, self._chance = sources.now, sources.random
        self.watched: set[str] = set()
        """Tenants whose records are facts that somebody may wait for: each change of one is told. The store knows them
        all, and refuses a unit that is silent in one of them."""

    def decisions(
        self, machine: Machine[Any, Any, Any], current: Aggregate, submissions: list[Submission]
    ) -> Decisions:
        decisions = Decisions([], [], [])
        for submission in submissions:
            result: Decided | Exception
            try:
                result = self.decide(machine, current, submission)
            except Exception as error:
                result = error  # a command that cannot be decided fails alone: the others are not to blame
            if isinstance(result, Exception):
                decisions.refused.append((submission, result))
            elif result.is_quiet:
                decisions.quiet.append(result)
            else:
                decisions.decided.append(result)
                if len(submissions) > 1:
                    current = replace(current, state=_after(machine, current.state, result.decision))
        return decisions

    def decide(
        self, machine: Machine[Any, Any, Any], aggregate: Aggregate, submission: Submission
    ) -> Decided | PerdureError:
        prepared = submission.prepare
        if type(prepared) is not Prepared:
            try:
                made = prepared(aggregate)  # type: ignore[operator]
            except PerdureError as error:
                return error  # what it brings does not fit; those it is folded with are not to blame
            if not isinstance(made, Prepared):
                return RejectedError(made)
            prepared = made
        command, brought, decision = prepared.command, prepared.attachments, prepared.decision
        now = self._now()
        if decision is None:
            decision = machine.decide(aggregate.id, aggregate.state, command, submission.origin, now, self._chance())
        if type(decision) is not Decision:
            assert isinstance(decision, Rejection)
            return RejectedError(decision)
        if brought is not None and not decision.keeps:
            brought = brought.arrival()
        elif brought is not None and brought.grounds is not None and not decision.stands_on_facts:
            brought = replace(brought, grounds=None)
        return Decided(submission, now, command, brought, decision, prepared.due)

    def unit(self, machine: Machine[Any, Any, Any], current: Aggregate, decided: list[Decided]) -> Committing:
        if len(decided) == 1:
            written = decided[0].decision.written
            is_silent = written is None or not written.is_notable
            tells = self._changes(current, decided[0].brought, decided[0].at)
            if written is not None and written.rows is not None and is_silent and not tells:
                return _filled(machine, current, decided, written, written.rows)
        id, state = current.id, current.state
        changing: list[Deed] = []
        attachments: list[Attachments] = []
        notices: list[Notice] = []
        events: list[FactEvent] = []
        written, due, has_records = None, 0, False
        for each in decided:
            due = max(due, each.due)
            if each.brought is not None:
                attachments.append(each.brought)
                if each.brought.entities:
                    has_records = True
                    events.extend(self._changes(current, each.brought, each.at))
            decision = each.decision
            if decision.written is None and not decision.entries:
                continue
            state, written = _after(machine, state, decision), decision.written
            body = written.record if written is not None else b""
            changing.append(Deed(each.at, type(each.command).__name__, each.submission.origin, decision.entries, body))
            if written is None or written.is_notable:
                notices.extend(machine.notices(id, state, tuple(decision.entries)))
        if events:
            notices.extend(_changed_records(id, current.version, events))
        if len(decided) > 1 and len(notices) > 1:
            notices = _once(notices)
        parted = self.parted.get(current.kind)
        if written is not None and written.rows is not None:
            before, rows, parts = current.rows, written.rows, _NO_PARTS
        elif parted is None or (held := parted.parts(state)) is None:
            before, rows, parts = current.rows, machine.rows(id, state), _NO_PARTS
        else:
            before, rows, parts = _changed(machine, parted, current, state, held)
        status, ended_at = machine.status(state)
        encoded = written.state if written is not None else machine.encode(state)
        anchors = _anchors(current, decided[-1].at, attachments, notices)
        records = machine.records.chained(
            current.head or genesis(current.tenant, current.kind, id), current.version, changing, anchors
        )
        head, version = (records[-1].hash, records[-1].sequence) if records else (current.head, current.version)
        unit = Unit(
            current.tenant, id, current.kind, current.version, version, status, ended_at, encoded, head, records,
            before, rows, notices, attachments, decided[-1].at, parts, due, has_records and not events,
        )  # fmt: skip
        return Committing(unit, Aggregate(id, current.tenant, current.kind, version, state, head, rows), decided)

    def _changes(self, current: Aggregate, brought: Attachments | None, at: int) -> list[FactEvent]:
        """What happens to the records that a command brings, where it is told."""
        if brought is None or not brought.entities or current.tenant not in self.watched:
            return []
        return [
            FactEvent(
                f"{each.entity}.{_happened(each)}",
                each.key,
                fact_key("record", each.entity, each.key),
                at,
                version=each.expected + 1,
            )
            for each in brought.entities
        ]


def _happened(write: EntityWrite) -> str:
    """The last word of the event that the change of a record is."""
    if write.is_deleted:
        return "deleted"
    return "updated" if write.expected else "created"


def _changed_records(id: Id, version: int, events: list[FactEvent]) -> list[Notice]:
    """Notices of changed records; the version before the unit, which no other unit has, numbers them."""
    letters, pages = id_text(id), range(0, len(events), MAX_KEYS)
    return [
        fact_notice(f"{letters}/records/{version}", first, [each.key for each in several], several)
        for first, several in ((first, events[first : first + MAX_KEYS]) for first in pages)
    ]


def _once(notices: list[Notice]) -> list[Notice]:
    """Each notice once: several commands of one unit may give the same, as two that end one step do."""
    found: dict[str, Notice] = {}
    for each in notices:
        found.setdefault(each.message_id, each)
    return list(found.values())


def _changed(
    machine: Machine[Any, Any, Any], parted: PartedMachine, current: Aggregate, state: Any, parts: Parts[Any]
) -> tuple[Rows, Rows, list[tuple[int, bytes]]]:
    """The rows before and after, and the parts to write: only what concerns the parts that changed."""
    known = parted.parts(current.state) if current.state is not None else None
    changed = parts.changed_since(known)
    changes = [(at, parts.written(at, parted.encode_part)) for at in changed]
    if known is None:
        return current.rows, machine.rows(current.id, state), changes
    before = parted.rows_among(current.id, current.state, [at for at in changed if at < len(known)])
    return before, parted.rows_among(current.id, state, changed), changes


def twin(decided: list[Decided]) -> str:
    """A message id that more than one of the commands brings; empty when there is none."""
    seen: set[str] = set()
    for each in decided:
        inbox = each.brought.inbox if each.brought is not None else None
        if inbox is not None and inbox.message_id in seen:
            return inbox.message_id
        if inbox is not None:
            seen.add(inbox.message_id)
    return ""


def _filled(
    machine: Machine[Any, Any, Any], current: Aggregate, decided: list[Decided], written: Written, rows: Rows
) -> Committing:
    """The unit of one command that is written already: as `Decider.unit` would make it, with less ado."""
    alone, id, tenant, kind, version = decided[0], current.id, current.tenant, current.kind, current.version
    state, body, brought = alone.decision.state, written.record, alone.brought
    if brought is not None and has_rows(brought):
        body = anchored(body, anchors_of(tenant, id, alone.at, [brought], ()))
    head = link(current.head or genesis(tenant, kind, id), body)
    status, ended_at = machine.status(state)
    unit = Unit(
        tenant, id, kind, version, version + 1, status, ended_at, written.state, head,
        [RecordRow(version + 1, body, head)], current.rows, rows, [],
        [] if brought is None else [brought], alone.at, _NO_PARTS, alone.due,
        brought is not None and bool(brought.entities),
    )  # fmt: skip
    return Committing(unit, Aggregate(id, tenant, kind, version + 1, state, head, rows), decided)


def _anchors(current: Aggregate, at: Micros, attachments: list[Attachments], notices: list[Notice]) -> list[Anchor]:
    if not notices and not any(map(has_rows, attachments)):
        return []
    return anchors_of(current.tenant, current.id, at, attachments, notices)


def _after(machine: Machine[Any, Any, Any], state: Any, decision: Decision) -> Any:
    """The state a decision leads to."""
    if decision.state is not None:
        return decision.state
    for entry in decision.entries:
        state = machine.apply(state, entry)
    return state
