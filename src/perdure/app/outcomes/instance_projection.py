"""Outcome events of an instance: pure, entry by entry, from its state before the entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from perdure.app.outcomes.event_table import Happened, ParkedKind, awaited, bare
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.apply import inside
from perdure.bpmn.machine.jobs import EXHAUSTED
from perdure.bpmn.machine.state import Instance, Node, Watch
from perdure.moments import iso
from perdure.payload import digest_text

Name = Callable[[str], str]
"""An element as it stands in a sentence."""
AWAITED: dict[str, ParkedKind] = {
    "message": "ExternalSignal", "signal": "ExternalSignal", "condition": "ExternalSignal", "timer": "Timer"
}  # fmt: skip


def of_instance(state: Instance | None, entry: e.Entry, name: Name) -> Iterator[Happened]:
    """What an entry says in the words of the table; most entries say nothing."""
    if type(entry) is e.InstanceStarted:
        refs: dict[str, str | int] = {
            "process": entry.process, "version": entry.process_version, "definition": digest_text(entry.definition)
        }  # fmt: skip
        yield Happened("DurableTaskStarted", entry.at, refs=refs)
        return
    told = _TABLE.get(type(entry))
    if told is not None:
        assert state is not None
        yield from told(state, entry, name)


def _job_completed(state: Instance, entry: e.JobCompleted, name: Name) -> Iterator[Happened]:
    node = state.nodes[entry.number]
    is_undo = node.job is not None and node.job.purpose == "undo"
    refs = _place(node, payload=digest_text(entry.head) if entry.head else "")
    yield Happened("CompensationStep" if is_undo else "StepCompleted", entry.at, sub_verb=entry.verb, refs=refs)


def _job_failed(state: Instance, entry: e.JobFailed, name: Name) -> Iterator[Happened]:
    node, kind = state.nodes[entry.number], "retried" if entry.retry_at else ""
    refs = _place(node, attempt=entry.attempt, retry_at=iso(entry.retry_at or None) or "")
    yield Happened("StepFailed", entry.at, 0, kind, "", _verb(node), refs, entry.failure)


def _task_opened(state: Instance, entry: e.TaskOpened, name: Name) -> Iterator[Happened]:
    node = state.nodes[entry.number]
    due = iso(entry.due_at or None) or ""
    refs = _place(node, assignee=entry.assignee, groups=entry.groups, due_at=due)
    yield Happened(
        "Parked", node.at, 0, "HumanGate", awaited(entry.assignee or entry.groups, name(node.element)), refs=refs
    )


def _task_completed(state: Instance, entry: e.TaskCompleted, name: Name) -> Iterator[Happened]:
    node = state.nodes[entry.number]
    yield Happened("Resumed", entry.at, 0, "HumanGate", name(node.element), refs=_place(node, by=entry.by))


def _task_chased(state: Instance, entry: e.TaskChased, name: Name) -> Iterator[Happened]:
    node = state.nodes[entry.number]
    event = "Reminded" if entry.act == "remind" else "Escalated"
    yield Happened(event, entry.at, 0, "", entry.user or entry.group or name(node.element), refs=_place(node))  # type: ignore[arg-type]


def _armed(state: Instance, entry: e.Armed, name: Name) -> Iterator[Happened]:
    node = state.nodes[entry.node]
    if not _is_own(entry.event, node):
        return
    refs = _place(node, event=entry.event, due_at=iso(entry.due or None) or "", **_message(entry))
    yield Happened("Parked", node.at, 0, AWAITED[entry.kind], awaited("", name(entry.event)), refs=refs)


def _occurred(state: Instance, entry: e.Occurred, name: Name) -> Iterator[Happened]:
    watch = state.watches[entry.number]
    node, text = state.nodes[watch.node], name(watch.event)
    refs = _place(node, event=watch.event, **_message(watch))
    if watch.kind == "timer":
        yield Happened("TimerFired", entry.at, 0, "", text, refs=refs)
    elif watch.kind in ("message", "signal"):
        if entry.message_id:
            refs["message_id"] = entry.message_id
        yield Happened("ExternalSignalReceived", entry.at, 0, "", watch.name or text, refs=refs)
    if _is_own(watch.event, node):
        yield Happened("Resumed", entry.at, 0, AWAITED[watch.kind], bare(text), refs=_place(node))


def _left(state: Instance, entry: e.Left, name: Name) -> Iterator[Happened]:
    """A wait that something else interrupted is over as well."""
    if entry.how not in ("interrupted", "moved"):
        return
    for number in (entry.number, *inside(state, entry.number)):
        node = state.nodes[number]
        kind: str = "HumanGate" if node.kind == "task" else ""
        if node.kind in ("wait", "gate"):
            kind = next((AWAITED[each.kind] for each in state.watches.values() if _awaits(each, node)), "")
        if kind:
            yield Happened("Resumed", 0, 0, kind, entry.how, refs=_place(node))


def _incident_raised(state: Instance, entry: e.IncidentRaised, name: Name) -> Iterator[Happened]:
    node = state.nodes[entry.number]
    refs = _place(node, code=entry.code)
    if entry.code == EXHAUSTED:
        yield Happened("RetriesExhausted", entry.at, 0, "", "", _verb(node), refs)
    yield Happened("IncidentCreated", entry.at, 0, entry.code, entry.text, _verb(node), refs)


def _incident_resolved(state: Instance, entry: e.IncidentResolved, name: Name) -> Iterator[Happened]:
    node = state.nodes[entry.number]
    yield Happened("IncidentResolved", entry.at, 0, entry.how, entry.reason, _verb(node), _place(node))


def _error_thrown(state: Instance, entry: e.ErrorThrown, name: Name) -> Iterator[Happened]:
    if entry.kind == "escalation":
        refs: dict[str, str | int] = {"element": entry.element, "caught_by": entry.caught_by}
        yield Happened("Escalated", 0, 0, "", entry.code or name(entry.element), refs=refs)


def _cancel_requested(state: Instance, entry: e.CancelRequested, name: Name) -> Iterator[Happened]:
    yield Happened("CancelRequested", entry.at, 0, "", entry.reason)


def _compensation_started(state: Instance, entry: e.CompensationStarted, name: Name) -> Iterator[Happened]:
    reason = entry.failure.message if entry.failure is not None else ""
    yield Happened("CompensationStarted", entry.at, 0, "", reason, failure=entry.failure)


def _ended(state: Instance, entry: e.InstanceEnded, name: Name) -> Iterator[Happened]:
    if entry.status == "compensated":
        yield Happened("CompensationCompleted", entry.at)
    elif entry.status == "compensation_failed":
        yield Happened("CompensationFailed", entry.at, failure=entry.failure)


def _suspended(state: Instance, entry: e.InstanceSuspended, name: Name) -> Iterator[Happened]:
    yield Happened("Parked", entry.at, 0, "Suspended", entry.reason)


def _resumed(state: Instance, entry: e.InstanceResumed, name: Name) -> Iterator[Happened]:
    yield Happened("Resumed", entry.at, 0, "Suspended")


def _progress(state: Instance, entry: e.ProgressPosted, name: Name) -> Iterator[Happened]:
    yield Happened("ProgressPosted", entry.at, 0, "", entry.text)


def _ignored(state: Instance, entry: e.MessageIgnored, name: Name) -> Iterator[Happened]:
    if entry.message_id:
        yield Happened("CorrelationFailed", entry.at, 0, "", entry.why, refs={"message_id": entry.message_id})


def _uncorrelated(state: Instance, entry: e.CorrelationFailed, name: Name) -> Iterator[Happened]:
    refs: dict[str, str | int] = {"message": entry.name, "key": entry.key, "message_id": entry.message_id}
    yield Happened("CorrelationFailed", entry.at, 0, entry.name, f"{entry.outcome}: {entry.why}", refs=refs)


_TABLE: dict[type, Callable[[Instance, Any, Name], Iterator[Happened]]] = {
    e.JobCompleted: _job_completed,
    e.JobFailed: _job_failed,
    e.TaskOpened: _task_opened,
    e.TaskCompleted: _task_completed,
    e.TaskChased: _task_chased,
    e.Armed: _armed,
    e.Occurred: _occurred,
    e.Left: _left,
    e.IncidentRaised: _incident_raised,
    e.IncidentResolved: _incident_resolved,
    e.ErrorThrown: _error_thrown,
    e.CancelRequested: _cancel_requested,
    e.CompensationStarted: _compensation_started,
    e.InstanceEnded: _ended,
    e.InstanceSuspended: _suspended,
    e.InstanceResumed: _resumed,
    e.ProgressPosted: _progress,
    e.MessageIgnored: _ignored,
    e.CorrelationFailed: _uncorrelated,
}
GIVES: tuple[type, ...] = (e.InstanceStarted, *_TABLE)
"""The entries that give events."""


def _is_own(event: str, node: Node) -> bool:
    """Whether a token waits for the event itself; boundary events are exceptions, not what it waits for."""
    return node.kind == "gate" or (node.kind == "wait" and event == node.element)


def _awaits(watch: Watch, node: Node) -> bool:
    return watch.node == node.number and _is_own(watch.event, node)


def _verb(node: Node) -> str:
    return node.job.type if node.job is not None else ""


def _message(watch: e.Armed | Watch) -> dict[str, str]:
    if watch.kind not in ("message", "signal"):
        return {}
    return {watch.kind: watch.name, "key": watch.key} if watch.key else {watch.kind: watch.name}


def _place(node: Node, **more: str | int) -> dict[str, str | int]:
    """Where in the process it happened, and more that is known of it."""
    found: dict[str, str | int] = {"element": node.element, "token": node.number}
    if node.iteration:
        found["iteration"] = node.iteration
    found.update({name: value for name, value in more.items() if value})
    return found
