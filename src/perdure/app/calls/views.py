"""Call views: plain values, the same in Python and in JSON."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from perdure.app.override_views import OverrideView, override_views
from perdure.app.progress_text import reported
from perdure.app.runbooks.usage_views import UsageView, usage_view
from perdure.human_tasks import joint_progress, joint_state
from perdure.journal import Record
from perdure.kernel.kernel import Aggregate
from perdure.processes.ports import EngineWait
from perdure.runbooks.executor.agent_proposal import Proposal
from perdure.runbooks.machine.journal_entries import Entry, entry_fields, entry_name
from perdure.runbooks.machine.runbook_machine import GATE, is_asked, token_key
from perdure.runbooks.machine.state import ENDED, WAITING, Amendment, Failure, Runbook, Step, Token, step_id
from perdure.sources import Id, id_text, iso


class ErrorView(msgspec.Struct, frozen=True):
    """Why a call failed."""

    failure_class: str
    code: str
    message: str


class WaitingFor(msgspec.Struct, frozen=True):
    """What a parked call waits for: `kind` is completion, process, engine, escalation, gate, retry, incident,
    task, or held: `code` and `text` say why nothing could be tried.
    """

    kind: str
    key: str = ""
    verb: str = ""
    since: str | None = None
    due_at: str | None = None
    escalation: str = ""
    code: str = ""
    text: str = ""


class AttemptView(msgspec.Struct, frozen=True):
    """The latest execution of a handler."""

    attempt: int
    status: str
    started_at: str | None
    ended_at: str | None = None
    error: ErrorView | None = None


class AmendmentView(msgspec.Struct, frozen=True):
    """A correction of data and who agreed to it."""

    number: int
    target: str
    reason: str
    by: str
    at: str | None
    approved_by: str


class IncidentView(msgspec.Struct, frozen=True):
    """What is stuck in a process and needs a person; `token` is its number."""

    token: int
    element: str
    code: str
    text: str
    since: str | None


class EngineWaitView(msgspec.Struct, frozen=True):
    """An engine that cannot be reached: since when, how often it was tried, and when it is tried next."""

    engine: str
    since: str | None
    tries: int
    tried_at: str | None
    next_at: str | None
    reason: str

    @property
    def text(self) -> str:
        times = "once" if self.tries == 1 else f"{self.tries} times"
        return (
            f"waits for the engine at {self.engine}, unreachable since {self.since}, tried {times}, "
            f"next at {self.next_at}: {self.reason}"
        )


def engine_wait_view(wait: EngineWait) -> EngineWaitView:
    return EngineWaitView(
        wait.engine, iso(wait.since), wait.tries, iso(wait.tried_at), iso(wait.next_at), wait.reason
    )  # fmt: skip


class CarrierView(msgspec.Struct, frozen=True):
    """The process that carries a call, as far as it has come. `completed` lists the sub-verbs that did, in order."""

    process: str
    version: int
    definition: str
    instance: str
    state: str
    progress: str
    completed: list[str] = []
    incidents: list[IncidentView] = []
    engine: str = ""
    waits_for: EngineWaitView | None = None
    """The engine that has not answered its dispatch; None once it has begun."""
    task_link: str = ""
    """Its oldest open human task in the external task list; empty where there is no task or no list."""
    engine_link: str = ""
    """The address of the instance in the web interface of its engine; empty where settings name none."""


class CallView(msgspec.Struct, frozen=True):
    """A call as everyone sees it, sync or durable alike."""

    id: str
    verb: str
    version: int
    state: str
    result: Any = None
    error: ErrorView | None = None
    waiting_for: WaitingFor | None = None
    args: Any = None
    progress: str = ""
    attempt: AttemptView | None = None
    tenant: str = ""
    principal: str = ""
    started_at: str | None = None
    ended_at: str | None = None
    definition: str = ""
    flags: dict[str, str | bool | int] = {}
    amendments: list[AmendmentView] = []
    parent: str = ""
    erased_at: str | None = None
    sequence: int = 0
    sentence: str = ""
    carrier: CarrierView | None = None
    usage: UsageView | None = None
    proposal: Proposal | None = None
    """What an agent proposes and nobody has decided upon."""
    overrides: list[OverrideView] = []
    """Acts around its human tasks."""
    mode: str = ""
    """How it is carried: `sync`, `durable` or `human_gate`; `carrier` names the engine and the process."""
    task_link: str = ""
    """The open human task that it waits for in the external task list; empty where there is no task or no list."""

    @property
    def is_ended(self) -> bool:
        return self.state in ("completed", "failed", "cancelled")

    @property
    def outcome(self) -> Complete | Parked | None:
        """`Complete(value)`, `Parked(invocation)`, or None when it failed or still runs."""
        if self.state == "completed":
            return Complete(self.result)
        return Parked(self.waiting_for) if self.waiting_for is not None else None


class Complete(NamedTuple):
    """The verb is done."""

    value: Any


class Parked(NamedTuple):
    """The verb waits."""

    invocation: WaitingFor


class EventView(msgspec.Struct, frozen=True):
    """One entry of a call's journal."""

    sequence: int
    at: str | None
    entry: str
    command: str
    principal: str
    data: dict[str, Any]
    trace: str = ""
    key: str = ""
    """The id of the key by which the principal asked for it; empty where there was none."""


class ReceiptView(msgspec.Struct, frozen=True):
    """What became of something that arrived: applied, duplicate, late or dead_letter.

    The call is shown without its arguments: who answers is told what came of it, not what was asked.
    """

    answer: str
    message_id: str = ""
    reason: str = ""
    call: CallView | None = None


def call_view(
    aggregate: Aggregate,
    args: Any,
    result: Any,
    sentence: str = "",
    carrier: CarrierView | None = None,
    number: int = 1,
    proposal: Proposal | None = None,
) -> CallView:
    """A call; of a runbook, one of its steps."""
    state: Runbook = aggregate.state
    step = state.steps[number - 1]
    return CallView(
        verb=step.verb,
        version=step.version,
        state=state.status,
        result=result,
        error=error_view(step.error),
        waiting_for=waiting_view(aggregate.id, step, carrier, number),
        args=args,
        progress=step_progress(step, carrier),
        attempt=attempt_view(step),
        tenant=aggregate.tenant,
        principal=state.principal,
        definition="sha256:" + step.definition.hex(),
        flags=step.flags,
        amendments=[amendment_view(each) for each in state.amendments],
        parent=state.parent,
        sequence=aggregate.version,
        sentence=sentence,
        carrier=carrier,
        usage=usage_view(state.spent) if state.spent is not None else None,
        proposal=proposal,
        overrides=override_views(state.overrides) if state.overrides else [],
        id=id_text(aggregate.id),
        started_at=iso(state.started_at),
        ended_at=iso(state.ended_at) if state.ended_at else None,
        erased_at=iso(state.erased_at) if state.erased_at else None,
    )


def step_progress(step: Step, carrier: CarrierView | None) -> str:
    """How far a step has come: by the process that carries it, and by what somebody posted."""
    progress = carrier.progress if carrier is not None else ""
    return reported(progress, step.progress, is_ended=step.status in ENDED)


def event_views(sequence: int, record: Record[Entry]) -> list[EventView]:
    return [
        EventView(
            sequence, iso(record.at), entry_name(entry), record.command, record.principal,
            msgspec.to_builtins(entry_fields(entry)), record.trace, record.key,
        )
        for entry in record.entries
    ]  # fmt: skip


def error_view(failure: Failure | None) -> ErrorView | None:
    return ErrorView(failure.kind, failure.code, failure.message) if failure is not None else None


def attempt_view(step: Step) -> AttemptView | None:
    frame = step.frame
    if frame is None:
        return None
    return AttemptView(
        frame.attempt, frame.status, iso(frame.started_at), iso(frame.ended_at or None), error_view(frame.failure)
    )


def amendment_view(each: Amendment) -> AmendmentView:
    return AmendmentView(each.number, each.target, each.reason, each.by, iso(each.at), each.approved_by)


def waiting_view(id: Id, step: Step, carrier: CarrierView | None, number: int = 1) -> WaitingFor | None:
    token = next((each for each in step.tokens if each.status == WAITING), None)
    key = token_key(id_text(id), number, token) if token is not None else ""
    if step.incident is not None:
        incident = step.incident
        return WaitingFor("incident", key, step.verb, iso(incident.opened_at), code=incident.code, text=incident.text)
    if token is not None and carrier is not None and not token.escalates:
        return _carried(key, step, token, carrier)
    if token is not None and token.task is not None and (step.proposal or step.is_asking):
        groups = ", ".join(token.task.groups)
        return WaitingFor("task", key, groups, iso(token.parked_at), text=token.task.title)
    if token is not None:
        kind = "escalation" if token.escalates else "completion"
        since, due = iso(token.parked_at), iso(token.due or None)
        told = joint_state(token.task) if token.task is not None else ""
        return WaitingFor(kind, key, token.name, since, due, token.escalation, text=told)
    if step.links is not None and step.links.gated_at:
        gate = step.links.gate
        agreed = tuple((group, names[0]) for group, names in step.links.agreed)
        told, place = joint_progress(agreed, step.links.awaited), f"{step_id(id_text(id), number)}/{GATE}"
        return WaitingFor("gate", place, gate, iso(step.links.gated_at), text=told)
    if is_asked(step) and step.links is not None:
        told = step.error.message.rstrip(".") if step.error is not None else ""
        since, code = iso(step.links.ended_at), step.error.code if step.error is not None else ""
        text = f"Step '{step.links.name}' failed: {told}. Somebody has to say retry, skip or abort."
        return WaitingFor("task", step_id(id_text(id), number), step.verb, since, code=code, text=text)
    if step.hold is not None and step.status in ("pending", "parked"):
        hold, due = step.hold, iso(step.retry_at or None)
        return WaitingFor("held", "", step.verb, iso(hold.at), due, code=hold.code, text=hold.text)
    if step.retry_at:
        return WaitingFor("retry", "", step.verb, None, iso(step.retry_at))
    return None


def _carried(key: str, step: Step, token: Token, carrier: CarrierView) -> WaitingFor:
    """A call waits for its process; what is stuck there is stuck here."""
    if carrier.incidents:
        stuck = carrier.incidents[0]
        return WaitingFor("incident", key, step.verb, stuck.since, code=stuck.code, text=stuck.text)
    due = iso(token.due or None)
    if (away := carrier.waits_for) is not None:
        code = "engine.unavailable"
        return WaitingFor("engine", key, token.name, away.since, due, token.escalation, code, away.text)
    return WaitingFor("process", key, token.name, iso(token.parked_at), due, token.escalation, text=carrier.progress)
