"""Committed entries as metrics: what ended, how long it took, how long it had waited."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from perdure.agent_usage import MICRO, ModelUse
from perdure.app.telemetry.observed_commit import ObservedCommit
from perdure.bpmn.machine import journal_entries as process_entries
from perdure.bpmn.machine.aggregate_ids import INSTANCE, child_id
from perdure.bpmn.machine.state import Instance
from perdure.errors import PerdureError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Kernel
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.runbook_machine import RunbookMachine, carried_as
from perdure.runbooks.machine.state import Runbook, Step
from perdure.sources import SECOND, id_text
from perdure.telemetry.metrics import OTHER, Metrics
from perdure.verbs import Catalogue

_ENDS: dict[type, str] = {
    e.StepCompleted: "completed", e.StepFailed: "failed", e.StepSkipped: "skipped", e.StepCancelled: "cancelled",
}  # fmt: skip
_WAITS = (e.CompletionReceived, e.TimedOut)


class EntryMetrics:
    """Between entries and metrics."""

    def __init__(self, metrics: Metrics, catalogue: Catalogue, kernel: Kernel) -> None:
        self.metrics = metrics
        self._catalogue = catalogue
        self._kernel = kernel

    async def measure(self, seen: ObservedCommit) -> None:
        is_runbook = seen.aggregate.kind == RunbookMachine.kind
        for entries in seen.told:
            for entry in entries:
                if is_runbook:
                    await self._measured(seen.aggregate, entry)
                elif seen.aggregate.kind == INSTANCE:
                    self._of_instance(seen.aggregate.state, entry)

    def _of_instance(self, state: Instance, entry: Any) -> None:
        match entry:
            case process_entries.IncidentRaised():
                self.metrics.incident_raised()
            case process_entries.TaskCompleted():
                self.metrics.task_ended(entry.at, entry.due_at)
            case process_entries.InstanceEnded():
                self.metrics.instance_ended(state.process, entry.status)
                if entry.status in ("compensated", "compensation_failed"):
                    self.metrics.compensated(is_whole=entry.status == "compensated")
            case process_entries.AgentUsed():
                self.metrics.agent_used(state.process, state.process_version, *_used(entry.uses))
            case _:
                pass

    def _of_people(self, state: Runbook, entry: Any) -> None:
        """What of a runbook is about people, money and taking back."""
        match entry:
            case e.TaskActed(act="complete") | e.TimedOut():
                task = state.steps[entry.step - 1].tokens[entry.token - 1].task
                if task is not None:
                    self.metrics.task_ended(entry.at, task.due_at, is_expired=type(entry) is e.TimedOut)
            case e.CompensationEnded():
                self.metrics.compensated(is_whole=not entry.failures)
            case e.AgentUsed():
                step = state.steps[entry.step - 1]
                self.metrics.agent_used(step.verb, step.version, *_used(entry.uses))
            case _:
                pass

    async def _measured(self, aggregate: Aggregate, entry: Any) -> None:
        state = aggregate.state
        kind: type = type(entry)
        if kind in _ENDS:
            self._ended(state, state.steps[entry.step - 1], _ENDS[kind], entry.at)
        elif kind in _WAITS:
            await self._waited(aggregate, entry)
        elif kind is e.CallCancelled:
            self._cancelled(state, entry.at)
        elif kind is e.IncidentRaised:
            self.metrics.incident_raised()
        self._of_people(state, entry)
        if kind is e.RunbookCompleted or (kind is e.StepCompleted and state.course is None):
            self.metrics.runbook_completed((entry.at - state.started_at) / SECOND)

    def _ended(self, state: Runbook, step: Step, status: str, at: int) -> None:
        began = begun_at(state, step) or at
        self.metrics.step_ended(self._kind(step), step.verb, status, max(0, at - began) / SECOND)

    def _cancelled(self, state: Runbook, at: int) -> None:
        for step in state.steps:
            if step.status == "cancelled" and (step.links is None or step.links.ended_at == at):
                self._ended(state, step, "cancelled", at)

    async def _waited(self, aggregate: Aggregate, entry: e.CompletionReceived | e.TimedOut) -> None:
        step = aggregate.state.steps[entry.step - 1]
        token = step.tokens[entry.token - 1]
        self.metrics.wait_ended(step.verb, max(0, entry.at - token.parked_at) / SECOND, type(entry) is e.TimedOut)
        if type(entry) is e.CompletionReceived and step.carrier is not None and not token.escalates:
            ended_at = await self._process_ended(aggregate, entry.step, step)
            if ended_at:
                self.metrics.notification_delivered(max(0, entry.at - ended_at) / SECOND)

    async def _process_ended(self, aggregate: Aggregate, number: int, step: Step) -> int:
        """When the process that carried a step had ended; 0 when that is not known, or it had not."""
        place = f"step:{carried_as(id_text(aggregate.id), number, step)}"
        try:
            child = await self._kernel.recall(child_id(aggregate.tenant, place), Origin(aggregate.tenant))
        except PerdureError:
            return 0
        return int(child.state.ended_at)

    def _kind(self, step: Step) -> str:
        if not step.verb:
            return "choice"
        verb = self._catalogue.find(step.verb, step.version)
        return verb.execution.kind if verb is not None else OTHER


def _used(uses: Iterable[ModelUse]) -> tuple[int, float]:
    """Tokens, and what is known of their cost."""
    found = tuple(uses)
    return sum(use.tokens for use in found), sum(use.cost or 0 for use in found) / MICRO


def begun_at(state: Runbook, step: Step) -> int:
    """When a step began, in microseconds; 0 when it never did."""
    return step.links.begun_at if step.links is not None else state.started_at
