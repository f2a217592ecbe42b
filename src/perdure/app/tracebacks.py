"""Tracebacks: what the error of a handler left for operators, kept beside the journal until the data is erased."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import msgspec

from perdure.app.incidents import Place
from perdure.bpmn.machine.aggregate_ids import child_id
from perdure.bpmn.machine.journal_entries import JobFailed
from perdure.errors import RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.runbooks.executor.call_executor import KIND as RUNBOOK
from perdure.runbooks.machine.journal_entries import AttemptFailed
from perdure.runbooks.machine.runbook_machine import carried_as
from perdure.sources import id_text, iso

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime


class TracebackView(msgspec.Struct, frozen=True):
    """The error of the latest failed attempt that left a traceback; `place` is the number of its step or token."""

    id: str
    place: int
    attempt: int
    at: str | None
    code: str
    message: str
    traceback: str


async def traceback_of(
    runtime: Runtime, aggregate: Aggregate, place: Place
) -> tuple[TracebackView, Aggregate]:  # fmt: skip
    """The traceback of a call, a step, an instance or a token, and where it is; a rejection when there is none."""
    async for each in _concerned(runtime, aggregate):
        number = place.number if each.id == aggregate.id else None
        found = await _latest(runtime, each, number)
        if found is not None:
            data = await runtime.store.payload(each.id, found.trace)
            if data is None:
                raise _none(place, "it was erased")
            text: str = msgspec.json.decode(data)["traceback"]
            failure, at = found.failure, _number(found)
            return TracebackView(
                id_text(each.id), at, found.attempt, iso(found.at), failure.code, failure.message, text
            ), each  # fmt: skip
    raise _none(place, "none of its attempts left one")


async def _concerned(runtime: Runtime, aggregate: Aggregate) -> AsyncIterator[Aggregate]:
    """The aggregate, and the instances that carry its steps."""
    yield aggregate
    if aggregate.kind != RUNBOOK:
        return
    letters, origin = id_text(aggregate.id), Origin(aggregate.tenant)
    for number, step in enumerate(aggregate.state.steps, 1):
        if step.carrier is not None:
            try:
                yield await runtime.kernel.read(
                    child_id(aggregate.tenant, f"step:{carried_as(letters, number, step)}"), origin
                )
            except RejectedError:
                continue  # it has not begun yet


async def _latest(runtime: Runtime, aggregate: Aggregate, number: int | None) -> AttemptFailed | JobFailed | None:
    found: AttemptFailed | JobFailed | None = None
    records = runtime.kernel.machine(aggregate.kind).records
    async for row in runtime.store.history(aggregate):
        for entry in records.decode(row.body).entries:
            if isinstance(entry, AttemptFailed | JobFailed) and entry.trace and number in (None, _number(entry)):
                found = entry
    return found


def _number(entry: AttemptFailed | JobFailed) -> int:
    return entry.step if isinstance(entry, AttemptFailed) else entry.number


def _none(place: Place, fact: str) -> RejectedError:
    hint = "Only errors that a handler did not mean to raise leave a traceback."
    return RejectedError(Rejection("not_found", "show", "traceback", place.id, fact, hint))
