"""The projection of one call or runbook: its journal and those of the processes that carry its steps, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from perdure.app.calls.views import ErrorView
from perdure.app.lists.cursors import cursor_of
from perdure.app.outcomes.event_table import Happened, OutcomeEvent, written
from perdure.app.outcomes.instance_projection import of_instance
from perdure.app.outcomes.runbook_projection import Around, of_runbook
from perdure.bpmn.machine import apply as instances
from perdure.bpmn.machine.aggregate_ids import child_id
from perdure.bpmn.machine.journal_entries import InstanceEnded, InstanceMigrated, InstanceStarted, Thrown
from perdure.bpmn.machine.state import Instance
from perdure.identifiers import Id, id_text
from perdure.journal import Record
from perdure.moments import iso
from perdure.payload import digest_text
from perdure.processes.plan_cache import Definition
from perdure.runbooks.machine import apply as runbooks
from perdure.runbooks.machine.journal_entries import ProcessAsked
from perdure.runbooks.machine.runbook_machine import carried_as
from perdure.runbooks.machine.state import ENDED, Runbook

Names = Callable[[str, bytes], Definition | None]
"""The definition of a process by its name and hash, where it is known."""
OF_THE_STEP = (InstanceStarted, InstanceEnded)
"""Entries that speak of the step when its own process says them, and of a part of it when a called one does."""


class Carrier(msgspec.Struct):
    """An instance that carries a step, or that one of its call activities began, as far as its journal was read."""

    step: int
    is_called: bool = False
    state: Instance | None = None


class Projection:
    """Pure: the same records in the same order give the same events."""

    def __init__(self, id: Id, tenant: str, names: Names) -> None:
        self.id = id
        self.tenant = tenant
        self.state: Runbook | None = None
        self.carriers: dict[Id, Carrier] = {}
        self._letters = id_text(id)
        self._names = names

    def add(self, chain: Id, place: int, record: Record[Any]) -> list[tuple[OutcomeEvent, bytes]]:
        """The events of a record, each with the hash of its result; `place` is the record's in the order of commits."""
        # The whole record is folded first: a step may be added by it and begin in it.
        told = list(self._runbook(record) if chain == self.id else self._instance(chain, record))
        scope = outcome_scope(self.tenant)
        return [
            (self._event(each, cursor_of(scope, (place, number)), record), each.result)
            for number, each in enumerate(told, 1)
        ]

    def _runbook(self, record: Record[Any]) -> Iterator[Happened]:
        states: list[Runbook] = []
        before = self.state
        for entry in record.entries:
            states.append(runbooks.apply(states[-1] if states else before, entry))
        for number, entry in enumerate(record.entries):
            around = Around(
                self._letters, states[number - 1] if number else before, states[number], record.entries
            )  # fmt: skip
            yield from of_runbook(around, entry)
            if isinstance(entry, ProcessAsked):
                self._carried(states[-1], entry.step)
        self.state = states[-1]

    def _carried(self, state: Runbook, number: int) -> None:
        place = carried_as(self._letters, number, state.steps[number - 1])
        self.carriers.setdefault(child_id(self.tenant, f"step:{place}"), Carrier(number))

    def _instance(self, chain: Id, record: Record[Any]) -> Iterator[Happened]:
        carrier = self.carriers[chain]
        for entry in record.entries:
            is_part = carrier.is_called and isinstance(entry, OF_THE_STEP)
            for each in () if is_part else of_instance(carrier.state, entry, self._name(carrier, entry)):
                if each.event == "CancelRequested" and self._is_over(carrier):
                    continue  # the step was cancelled, and its process follows
                refs = {"instance": id_text(chain), **each.refs}
                yield replace(each, step=carrier.step, at=each.at or record.at, refs=refs)
            if type(entry) is Thrown and entry.kind == "call":
                called = child_id(self.tenant, f"node:{id_text(chain)}:{entry.number}")
                self.carriers.setdefault(called, Carrier(carrier.step, is_called=True))
            carrier.state = instances.apply(carrier.state, entry)

    def _is_over(self, carrier: Carrier) -> bool:
        return carrier.is_called or (self.state is not None and self.state.steps[carrier.step - 1].status in ENDED)

    def _name(self, carrier: Carrier, entry: Any) -> Callable[[str], str]:
        at = entry if isinstance(entry, InstanceStarted | InstanceMigrated) else carrier.state
        definition = self._names(at.process, at.definition) if at is not None else None
        return definition.name if definition is not None else str

    def _carrier_refs(self, step: int) -> dict[str, str | int]:
        """The instance that carried a step to its end, and the payload it ended with."""
        for id, carrier in reversed(self.carriers.items()):
            if carrier.step == step and not carrier.is_called and carrier.state is not None:
                return {"instance": id_text(id), "payload": digest_text(carrier.state.head)}
        return {}

    def _event(self, each: Happened, cursor: str, record: Record[Any]) -> OutcomeEvent:
        step = self.state.steps[each.step - 1] if each.step and self.state is not None else None
        failure = each.failure
        refs = {**self._carrier_refs(each.step), **each.refs} if each.event == "ExecutionResult" else each.refs
        shown = {"kind": each.kind, "reason": each.reason, "sub_verb": each.sub_verb}
        return OutcomeEvent(
            cursor, iso(each.at or None), each.event, written(each.event, shown), self._letters, each.step,
            step.verb if step is not None else "", each.kind, each.reason, each.sub_verb, record.principal, refs,
            ErrorView(failure.kind, failure.code, failure.message) if failure is not None else None,
        )  # fmt: skip


def outcome_scope(tenant: str) -> tuple[str, ...]:
    """What a cursor of outcome events is good for: the streams of a tenant."""
    return ("outcomes", tenant)
