"""Instance views: plain values, the same in Python and in JSON."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from perdure.app.calls.views import CarrierView, ErrorView, EventView, IncidentView
from perdure.app.instances.history_cache import InstanceHistory
from perdure.app.override_views import OverrideView, override_views
from perdure.app.progress_text import counted
from perdure.app.runbooks.usage_views import UsageView, usage_view
from perdure.app.tasks.views import TaskView, of_task
from perdure.bpmn.machine.aggregate_ids import child_id
from perdure.bpmn.machine.human_tasks import seen_in
from perdure.bpmn.machine.state import ENDED, Instance, Node, Watch
from perdure.bpmn.machine.transition_cache import samples
from perdure.bpmn.machine.transition_templates import standing
from perdure.human_tasks import joint_state
from perdure.journal import Record
from perdure.kernel.kernel import Aggregate
from perdure.payload import copied, digest_text
from perdure.processes.plan_cache import Definition
from perdure.processes.wait_schemas import NO_FORM, Form
from perdure.runbooks.machine.journal_entries import TIMES
from perdure.sources import Micros, id_text, iso


class TokenView(msgspec.Struct, frozen=True):
    """Where a token stands; `number` names it for incidents, tasks and modifications."""

    number: int
    element: str
    name: str
    kind: str
    since: str | None
    iteration: int = 0
    verb: str = ""
    attempt: int = 0
    assignee: str = ""
    groups: str = ""
    claimed_by: str = ""
    progress: str = ""
    """Who has answered a task that asks several groups, and who is awaited."""
    called: str = ""
    """The instance that a call activity waits for."""


class WaitView(msgspec.Struct, frozen=True):
    """What an instance waits for: kind is message, signal, timer, condition, task, job, retry or held.

    `name` is that of the message or signal.
    """

    kind: str
    element: str
    text: str
    key: str = ""
    due_at: str | None = None
    name: str = ""


class InstanceView(msgspec.Struct, frozen=True):
    """A running or ended process as everyone sees it."""

    id: str
    process: str
    version: int
    definition: str
    state: str
    progress: str
    flags: dict[str, str | bool | int] = {}
    data: Any = None
    tokens: list[TokenView] = []
    waits: list[WaitView] = []
    incidents: list[IncidentView] = []
    completed: list[str] = []
    """The sub-verbs that have completed, in their order."""
    error: ErrorView | None = None
    parent: str = ""
    """What began it: `step:…` of a call, `node:INSTANCE:TOKEN` of a call activity; empty where it was asked for."""
    business_key: str = ""
    tenant: str = ""
    principal: str = ""
    started_at: str | None = None
    ended_at: str | None = None
    suspended_at: str | None = None
    erased_at: str | None = None
    sequence: int = 0
    usage: UsageView | None = None
    verb: str = ""
    """The verb it carries; empty of none."""
    overrides: list[OverrideView] = []
    """Acts around its human tasks."""
    engine: str = ""
    """The name of the engine that carries it, or carried it to its end."""
    engine_link: str = ""
    """Its address in the web interface of that engine; empty where settings name none."""

    @property
    def is_ended(self) -> bool:
        return self.ended_at is not None


class Look(msgspec.Struct, frozen=True):
    """What of a view is the same for all instances that came the same way and stand the same way.

    Its tokens say nothing of since when they stand there.
    """

    definition: str
    verb: str
    progress: str
    tokens: list[TokenView]
    waits: list[WaitView]
    incidents: list[IncidentView]
    completed: list[str]
    error: ErrorView | None
    usage: UsageView | None


def instance_view(aggregate: Aggregate, look: Look, data: Any, engine: str = "", engine_link: str = "") -> InstanceView:
    state: Instance = aggregate.state
    ended_at, suspended_at, erased_at = state.ended_at, state.suspended_at, state.erased_at
    return InstanceView(
        id_text(aggregate.id), state.process, state.process_version, look.definition, state.status, look.progress,
        {**state.flags}, copied(data),
        [_standing(aggregate, each) for each in look.tokens] if look.tokens else [],
        look.waits.copy(), look.incidents.copy(), look.completed.copy(), look.error,
        state.parent, state.business_key, aggregate.tenant, state.principal,
        iso(state.started_at), iso(ended_at) if ended_at else None,
        iso(suspended_at) if suspended_at and state.status == "suspended" else None,
        iso(erased_at) if erased_at else None, aggregate.version, look.usage, look.verb,
        overrides=override_views(state.overrides) if state.overrides else [], engine=engine, engine_link=engine_link,
    )  # fmt: skip


def _standing(aggregate: Aggregate, token: TokenView) -> TokenView:
    """A token with what is of its instance alone: since when it stands there, and the instance it called."""
    letters, at = id_text(aggregate.id), aggregate.state.nodes[token.number].at
    is_call = token.kind == "call"
    called = id_text(child_id(aggregate.tenant, f"node:{letters}:{token.number}")) if is_call else ""
    return replace(token, since=iso(at), called=called)


def bare_view(aggregate: Aggregate) -> InstanceView:
    """An instance by its state alone: neither its data nor its model or history is read."""
    state: Instance = aggregate.state
    digest = digest_text(state.definition)
    look = Look(
        digest, "", state.status.replace("_", " "), [], [], incidents_of(state), [], None, usage_view(state.spent)
    )
    return instance_view(aggregate, look, None)


def known_look(state: Instance, past: InstanceHistory) -> Look | None:
    """How an instance looks, where that is known of those that stand there as it does."""
    looks, stands = past.looks, standing(state)
    return looks.get(stands[0]) if looks is not None and stands is not None else None


def look_of(state: Instance, definition: Definition, past: InstanceHistory) -> Look:
    """How an instance looks; remembered where all that stand there as it does look the same."""
    known = known_look(state, past)
    if known is not None:
        return known
    look, looks, stands = _look(state, definition, past), past.looks, standing(state)
    if looks is not None and stands is not None and stands[0] not in looks:
        is_of_all = all(_look(each, definition, past) == look for each in samples(stands[0]))
        looks[stands[0]] = look if is_of_all else None
    return look


def _look(state: Instance, definition: Definition, past: InstanceHistory) -> Look:
    failure, waits = state.failure, waits_of(state, definition)
    return Look(
        definition.digest, definition.deployed.verb, progress_of(state, definition, past, waits),
        [_token(node, definition) for node in state.nodes.values() if node.parent], waits, incidents_of(state),
        list(past.verbs), ErrorView(failure.kind, failure.code, failure.message) if failure is not None else None,
        usage_view(state.spent),
    )  # fmt: skip


def carrier_view(
    aggregate: Aggregate,
    definition: Definition,
    past: InstanceHistory,
    engine: str,
    ended: str = "",
    engine_link: str = "",
) -> CarrierView:
    """An instance as the carrier of a step. `ended` is how the step ended, which the instance may not know yet."""
    state: Instance = aggregate.state
    return CarrierView(
        state.process, state.process_version, definition.digest, id_text(aggregate.id), state.status,
        progress_of(state, definition, past, waits_of(state, definition), ended), list(past.verbs), incidents_of(state),
        engine, engine_link=engine_link,
    )  # fmt: skip


def progress_of(
    state: Instance, definition: Definition, past: InstanceHistory, waits: list[WaitView], ended: str = ""
) -> str:
    """`3 of 5 steps complete, waiting for document upload`."""
    done = len(definition.steps.intersection(past.elements))
    status = ended if ended and state.status not in ENDED else state.status
    text = counted(done, len(definition.steps), is_ended=bool(ended) or status in ENDED)
    if status == "active" and waits:
        waiting = dict.fromkeys([wait.text.removeprefix("wait for ") for wait in waits])
        return f"{text}, waiting for {', '.join(waiting)}"
    return text if status in ("active", "completed") else f"{text}, {status.replace('_', ' ')}"


def waits_of(state: Instance, definition: Definition) -> list[WaitView]:
    """What would move the instance on, boundary events left out: they are exceptions, not what it waits for."""
    found: list[WaitView] = []
    for node in state.nodes.values():
        if node.kind in ("job", "task", "call"):
            found.append(_node_wait(node, definition))
    for watch in state.watches.values():
        if _is_own(watch, state.nodes[watch.node]):
            found.append(_watch_wait(watch, definition))
    return found


def _is_own(watch: Watch, node: Node) -> bool:
    return node.kind == "gate" or (node.kind == "wait" and watch.event == node.element)


def _node_wait(node: Node, definition: Definition) -> WaitView:
    job = node.job
    due = iso(job.retry_at) if job is not None and job.retry_at else None
    if node.kind == "job" and job is not None and job.hold is not None and job.status == "pending":
        return WaitView("held", node.element, job.hold.text.rstrip("."), "", due)
    return WaitView("retry" if due else node.kind, node.element, definition.name(node.element), "", due)


def _watch_wait(watch: Watch, definition: Definition) -> WaitView:
    text, due = definition.name(watch.event), iso(watch.due or None)
    return WaitView(watch.kind, watch.event, text, watch.key, due, watch.name)


def incidents_of(state: Instance) -> list[IncidentView]:
    found: list[IncidentView] = []
    for node in state.nodes.values():
        if (open := node.incident) is not None:
            found.append(IncidentView(node.number, node.element, open.code, open.text, iso(open.opened_at)))
    return found


def task_view(
    aggregate: Aggregate, node: Node, definition: Definition, now: Micros, number: int = 0,
    form: Form = NO_FORM, documents: bytes = b"",
) -> TaskView:  # fmt: skip
    task, letters = node.task, id_text(aggregate.id)
    assert task is not None
    return TaskView(
        f"{letters}:{node.number}", letters, node.number, aggregate.state.process, node.element,
        definition.name(node.element), since=iso(node.at), number=number, form=form.schema,
        verb=definition.deployed.verb, known=form.known, seen=seen_in(aggregate.state, node.number, documents),
        body=form.body, labels=list(form.labels), **of_task(task, now),
    )  # fmt: skip


def instance_events(sequence: int, record: Record[Any]) -> list[EventView]:
    return [
        EventView(
            sequence, iso(record.at), type(entry).__name__, record.command, record.principal,
            msgspec.to_builtins({name: _plain(name, getattr(entry, name)) for name in entry.__struct_fields__}),
            record.trace, record.key,
        )
        for entry in record.entries
    ]  # fmt: skip


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, bytes):
        return digest_text(value) if value else ""
    if name in TIMES and isinstance(value, int):
        return iso(value or None)
    if isinstance(value, msgspec.Struct):
        return {field: _plain(field, getattr(value, field)) for field in value.__struct_fields__}
    return [_plain("", each) for each in value] if isinstance(value, tuple) else value


def _token(node: Node, definition: Definition) -> TokenView:
    job, task, element = node.job, node.task, node.element
    type, attempt = (job.type, job.attempt) if job is not None else ("", 0)
    who = ("", "", "", "")
    if task is not None:
        who = (task.assignee, ", ".join(task.groups), task.claimed_by, joint_state(task))
    return TokenView(
        node.number, element, definition.name(element), node.kind, None, node.iteration, type, attempt, *who
    )
