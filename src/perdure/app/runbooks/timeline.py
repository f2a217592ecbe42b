"""A runbook's time: when each step ran, waited and ended, from its journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from perdure.app.runbooks.views import name_of
from perdure.errors import RejectedError, Rejection
from perdure.runbooks.machine.state import ENDED, Runbook, Step
from perdure.sources import iso, parse_id

if TYPE_CHECKING:
    from perdure.app.perdure import Perdure


class Span(msgspec.Struct, frozen=True):
    """A while in one state; `until` is null while it lasts."""

    state: str
    since: str | None
    until: str | None = None


class StepTime(msgspec.Struct, frozen=True):
    """The spans of one step, in order; besides its states: `gated`, `retrying`, `stuck`."""

    step: int
    name: str
    verb: str
    state: str
    spans: list[Span]
    due_at: str | None = None


class Timeline(msgspec.Struct, frozen=True):
    """From the first record to now, or to the end."""

    id: str
    state: str
    started_at: str | None
    ended_at: str | None
    now: str | None
    steps: list[StepTime]
    sequence: int


async def timeline_of(perdure: Perdure, id: str) -> Timeline:
    """When everything in a runbook or a call happened."""
    runtime = perdure.runtime
    aggregate = await runtime.kernel.read(parse_id(id), perdure._origin)
    machine = runtime.machines[aggregate.kind]
    if not isinstance(aggregate.state, Runbook):
        raise RejectedError(Rejection("not_found", "find", "runbook", id, "there is no such runbook"))
    tracks = _Tracks()
    state: Runbook | None = None
    async for row in runtime.store.history(aggregate):
        if row.sequence > aggregate.version:
            break
        record = machine.records.decode(row.body)
        before = state
        for entry in record.entries:
            state = machine.apply(state, entry)
        tracks.note(before, state, record.at)
    return tracks.whole(id, state or aggregate.state, runtime.sources.now(), aggregate.version)


class _Tracks:
    """What is known of each step while its journal is read."""

    def __init__(self) -> None:
        self._spans: dict[int, list[tuple[str, int]]] = {}

    def note(self, before: Runbook | None, now: Runbook | None, at: int) -> None:
        if now is None:
            return
        known = before.steps if before is not None else ()
        for number, step in enumerate(now.steps, 1):
            if number <= len(known) and known[number - 1] is step:
                continue
            spans = self._spans.setdefault(number, [])
            state = _state_of(step)
            if not spans or spans[-1][0] != state:
                spans.append((state, at))

    def whole(self, id: str, state: Runbook, now: int, sequence: int) -> Timeline:
        steps = [self._step(state, number) for number in range(1, len(state.steps) + 1)]
        ended = iso(state.ended_at or None)
        return Timeline(id, state.status, iso(state.started_at), ended, iso(now), steps, sequence)

    def _step(self, state: Runbook, number: int) -> StepTime:
        step = state.steps[number - 1]
        begun = self._spans.get(number, [])
        ends = [iso(at) for _, at in begun[1:]] + [None]
        spans = [Span(name, iso(at), end) for (name, at), end in zip(begun, ends, strict=True)]
        name = name_of(state, number) if step.links is not None else step.verb
        due = next((token.due for token in step.tokens if token.due), 0)
        waits = step.status not in ENDED
        return StepTime(number, name, step.verb, step.status, spans, iso(due or None) if waits else None)


def _state_of(step: Step) -> str:
    if step.incident is not None:
        return "stuck"
    if step.retry_at:
        return "retrying"
    links = step.links
    if links is not None and links.gated_at and not links.is_open and step.status not in ENDED:
        return "gated"
    return step.status
