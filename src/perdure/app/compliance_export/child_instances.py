"""Child instances of a call: those that carry its steps, the processes they call, and escalations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from perdure.app.compliance_export.journal_replay import ChainReplay, Moment
from perdure.bpmn.machine.aggregate_ids import child_id
from perdure.bpmn.machine.journal_entries import IncidentResolved, Left, Thrown
from perdure.runbooks.executor.recovery import escalation_id
from perdure.runbooks.machine.journal_entries import CompletionReceived, Escalated, ProcessAsked
from perdure.runbooks.machine.runbook_machine import CHILD_ENDED, ESCALATION, INSTANCE_ENDED, NOTICE, carried_as
from perdure.runbooks.machine.state import step_id
from perdure.sources import id_text


class Child(NamedTuple):
    """Someone this chain began, or was to begin; `is_certain` when the chain also heard how it ended."""

    id: str
    where: str
    is_certain: bool


def children_of(chronicle: ChainReplay) -> list[Child]:
    """In the order they were begun."""
    found = _Found(chronicle)
    for moment in chronicle.moments():
        found.look(moment)
    return list(found.children())


class _Found:
    def __init__(self, chronicle: ChainReplay) -> None:
        self._chronicle = chronicle
        self._begun: dict[str, str] = {}
        self._ended: set[str] = set()
        self._calls: dict[int, str] = {}

    def look(self, moment: Moment) -> None:
        entry, letters, tenant = moment.entry, self._chronicle.id, self._chronicle.chain.tenant
        if isinstance(entry, ProcessAsked):
            step = self._chronicle.state.steps[entry.step - 1]
            parent = f"step:{carried_as(letters, entry.step, step)}"
            self._begun[id_text(child_id(tenant, parent))] = f"step {entry.step}"
        elif isinstance(entry, Escalated):
            self._escalated(entry)
        elif isinstance(entry, CompletionReceived):
            for ending in (INSTANCE_ENDED, f"/{CHILD_ENDED}"):
                if entry.message_id.startswith(NOTICE) and entry.message_id.endswith(ending):
                    self._ended.add(entry.message_id.removeprefix(NOTICE).removesuffix(ending))
        elif isinstance(entry, Thrown) and entry.kind == "call":
            called = id_text(child_id(tenant, f"node:{letters}:{entry.number}"))
            self._calls[entry.number] = called
            self._begun[called] = entry.element
        elif isinstance(entry, IncidentResolved) and entry.number in self._calls:
            del self._calls[entry.number]  # ended by hand: what it called may never have begun
        elif isinstance(entry, Left) and entry.how == "completed" and entry.number in self._calls:
            self._ended.add(self._calls[entry.number])

    def _escalated(self, entry: Escalated) -> None:
        letters, state = self._chronicle.id, self._chronicle.state
        token = len(state.steps[entry.step - 1].tokens)  # escalations are numbered by their tokens
        notice = f"{NOTICE}{step_id(letters, entry.step)}/{ESCALATION}/{token}"
        child = escalation_id(state.started_at, notice, self._chronicle.chain.tenant)
        self._begun[id_text(child)] = f"escalation of step {entry.step}"

    def children(self) -> Iterator[Child]:
        for id, where in self._begun.items():
            yield Child(id, where, id in self._ended)
