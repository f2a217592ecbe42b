"""Deciding: what commands lead to, and the unit that commits it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from perdure.errors import PerdureError, RejectedError, Rejection
from perdure.journal import Decision, Machine, Notice, Origin, PartedMachine, Rows, Written, link
from perdure.kernel.ports import Attachments, Conflict, RecordRow, Unit
from perdure.sources import Id, Micros, Sources


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


Preparation = Callable[[Aggregate], Prepared | Rejection]


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What the caller is told once it is durable. `conflict` is set when a key was taken."""

    aggregate: Aggregate | None
    answer: str
    entries: Any = ()
    conflict: Conflict | None = None


class Submission(msgspec.Struct, frozen=True):
    """A command that someone waits for."""

    origin: Origin
    prepare: Preparation | Prepared
    future: asyncio.Future[Answer]
    kind: str

    def settle(self, answer: Answer | BaseException) -> None:
        """Tell whoever waits, unless they have given up."""
        future = self.future
        if future.done():
            return
        if not isinstance(answer, BaseException):
            future.set_result(answer)
        elif isinstance(answer, asyncio.CancelledError):
            future.cancel()
        else:
            future.set_exception(answer)


class Decided(msgspec.Struct, frozen=True, gc=False):
    """A command as it was decided, when, and what it brings."""

    submission: Submission
    at: Micros
    command: Any
    brought: Attachments | None
    answer: str
    entries: Any
    state: Any = None
    written: Written | None = None


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
        self._sources = sources

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
            elif result.brought is None and not result.entries:
                decisions.quiet.append(result)
            else:
                decisions.decided.append(result)
                if len(submissions) > 1 and result.entries:
                    current = replace(current, state=_after(machine, current.state, result))
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
        command, brought = prepared.command, prepared.attachments
        sources = self._sources
        now = sources.now()
        decision = prepared.decision
        if decision is None:
            decision = machine.decide(aggregate.id, aggregate.state, command, submission.origin, now, sources.random())
        if not isinstance(decision, Decision):
            return RejectedError(decision)
        if not decision.keeps and brought is not None:
            brought = brought.arrival()
        return Decided(
            submission, now, command, brought, decision.answer, decision.entries, decision.state, decision.written
        )

    def unit(self, machine: Machine[Any, Any, Any], current: Aggregate, decided: list[Decided]) -> Committing:
        id, state, head, version = current.id, current.state, current.head, current.version
        records: list[RecordRow] = []
        attachments: list[Attachments] = []
        notices: list[Notice] = []
        written: Written | None = None
        for each in decided:
            if each.brought is not None:
                attachments.append(each.brought)
            if each.written is None and not each.entries:
                continue
            state, written = _after(machine, state, each), each.written
            if written is not None:
                body = written.record
            else:
                by = each.submission.origin
                body = machine.records.encode(each.at, type(each.command).__name__, by, each.entries)
            head = link(head, body)
            version += 1
            records.append(RecordRow(version, body, head))
            if written is None or written.is_notable:
                notices.extend(machine.notices(id, state, tuple(each.entries)))
        before, rows, parts = self._derived(machine, current, state, written)
        status, ended_at = machine.status(state)
        encoded = written.state if written is not None else machine.encode(state)
        unit = Unit(
            current.tenant, id, current.kind, current.version, version, status, ended_at, encoded, head, records,
            before, rows, notices, attachments, decided[-1].at, parts,
        )  # fmt: skip
        return Committing(unit, Aggregate(id, current.tenant, current.kind, version, state, head, rows), decided)

    def _derived(
        self, machine: Machine[Any, Any, Any], current: Aggregate, state: Any, written: Written | None
    ) -> tuple[Rows, Rows, list[tuple[int, bytes]]]:
        """The rows before and after, and the parts to write: of many parts only what concerns those that changed."""
        if written is not None and written.rows is not None:
            return current.rows, written.rows, []
        parted = self.parted.get(current.kind)
        parts = parted.parts(state) if parted is not None else None
        if parted is None or parts is None:
            return current.rows, machine.rows(current.id, state), []
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


def _after(machine: Machine[Any, Any, Any], state: Any, decided: Decided) -> Any:
    """The state a decision leads to."""
    if decided.state is not None:
        return decided.state
    for entry in decided.entries:
        state = machine.apply(state, entry)
    return state
