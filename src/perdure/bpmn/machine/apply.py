"""How each entry changes an instance: one small function per entry, in one table. They change the instance given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from perdure.agent_usage import UNUSED, Reservation, after, released, with_reservation
from perdure.bpmn import timer_cycles
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.completed_activities import appended
from perdure.bpmn.machine.state import (
    CONTAINERS,
    ROOT,
    STATE_VERSION,
    Done,
    Hold,
    Incident,
    Instance,
    Job,
    Many,
    Node,
    Watch,
)
from perdure.errors import InvariantBroken
from perdure.human_tasks import Given, HumanTask, Rung, climbed, handed, names_of, shifted, with_given, without
from perdure.overrides import Override, agreed, remembered


def apply(state: Instance | None, entry: e.Entry) -> Instance:
    """The instance after an entry; the one given stays as it is."""
    if type(entry) is e.InstanceStarted:
        return started(entry)
    if state is None:
        raise InvariantBroken("apply", "entry", type(entry).__name__, "the instance has not been started")
    copy = state.copy()
    TABLE[type(entry)](copy, entry)
    return copy


def started(entry: e.InstanceStarted) -> Instance:
    root = Node(ROOT, entry.process, 0, "scope", entry.at)
    return Instance(
        STATE_VERSION, "active", entry.definition, entry.process, entry.process_version, entry.at, entry.principal,
        entry.trace, entry.parent, entry.business_key, dict(entry.flags), entry.head, ROOT + 1, {ROOT: root}, {}, {},
        idempotency_key=entry.idempotency_key, behind=entry.behind, agreed=entry.agreed,
    )  # fmt: skip


def _number(state: Instance, number: int) -> None:
    if number >= state.next:
        state.next = number + 1


def _entered(state: Instance, entry: e.Entered) -> None:
    if entry.number >= state.next:
        state.next = entry.number + 1
    state.nodes[entry.number] = Node(
        entry.number, entry.element, entry.parent, entry.kind, entry.at, entry.flow, entry.iteration
    )


def _nothing(state: Instance, entry: Any) -> None:
    pass


def _left(state: Instance, entry: e.Left) -> None:
    gone = {entry.number: None}
    node = state.nodes[entry.number]
    if node.kind in CONTAINERS:
        for number in inside(state, entry.number):
            gone[number] = None
        if node.done and node.kind in ("many", "loop"):
            _hand_up(state, node)
    for number in gone:
        state.nodes.pop(number, None)
        if state.ledger is not None:
            state.ledger = released(state.ledger, number)
    if state.watches:
        for number in [watch.number for watch in state.watches.values() if watch.node in gone]:
            del state.watches[number]


def _hand_up(state: Instance, node: Node) -> None:
    """What iterations did and nobody has undone belongs to what is around them."""
    around = state.nodes[node.parent]
    done = around.done
    for each in node.done:
        done = appended(done, each)
    state.nodes[around.number] = replace(around, done=done)


def inside(state: Instance, number: int) -> list[int]:
    """The nodes inside a node, outermost first. A node is always younger than the one around it."""
    if state.nodes[number].kind not in CONTAINERS:
        return []
    around = {number: None}
    for node in state.nodes.values():
        if node.parent in around:
            around[node.number] = None
    del around[number]
    return list(around)


def _armed(state: Instance, entry: e.Armed) -> None:
    _number(state, entry.number)
    state.watches[entry.number] = Watch(
        entry.number, entry.node, entry.event, entry.kind, entry.name, entry.key, entry.due, entry.cycle, entry.left,
        entry.is_met,
    )  # fmt: skip


def _disarmed(state: Instance, entry: e.Disarmed) -> None:
    state.watches.pop(entry.number, None)


def _occurred(state: Instance, entry: e.Occurred) -> None:
    watch = state.watches[entry.number]
    if entry.stays:
        state.watches[entry.number] = replace(watch, due=entry.due, left=entry.left)
    else:
        del state.watches[entry.number]


def _watch_met(state: Instance, entry: e.WatchMet) -> None:
    state.watches[entry.number] = replace(state.watches[entry.number], is_met=entry.is_met, message=entry.message)


def _job_made(state: Instance, entry: e.JobMade) -> None:
    node = state.nodes[entry.number]
    job = node.job
    if job is not None and job.run == entry.run and job.type == entry.verb:
        job = replace(job, status="ready", worker=0, retry_at=0)
    else:
        job = Job(
            entry.verb, entry.run, purpose=entry.purpose, message=entry.message, definition=entry.definition,
            by=entry.by,
        )  # fmt: skip
        state.runs[node.element] = max(entry.run, state.runs.get(node.element, 0))
    state.nodes[entry.number] = replace(node, kind="job", job=job)


def _job_rebound(state: Instance, entry: e.JobRebound) -> None:
    node, job = _job(state, entry.number)
    # The new verb's policy counts from here.
    job = replace(job, type=entry.verb, definition=entry.definition, before=job.attempt, interruptions=0)
    state.nodes[entry.number] = replace(node, job=job)


def _job(state: Instance, number: int) -> tuple[Node, Job]:
    node = state.nodes[number]
    assert node.job is not None
    return node, node.job


def _job_started(state: Instance, entry: e.JobStarted) -> None:
    node, job = _job(state, entry.number)
    base, since = (job.base, job.since) if job.base else (state.head, state.changes)
    job = replace(
        job, status="leased", attempt=entry.attempt, worker=entry.worker, started_at=entry.at, retry_at=0,
        interruptions=entry.interruptions, base=base, since=since, flags=entry.flags,
        hold=None,
    )  # fmt: skip
    state.nodes[entry.number] = replace(node, job=job)


def _job_completed(state: Instance, entry: e.JobCompleted) -> None:
    state.head = entry.head


def _job_failed(state: Instance, entry: e.JobFailed) -> None:
    node, job = _job(state, entry.number)
    job = replace(
        job, status="pending", attempt=entry.attempt, worker=0, retry_at=entry.retry_at, failure=entry.failure, base=b""
    )
    state.nodes[entry.number] = replace(node, job=job)


def _flags_written(state: Instance, entry: e.FlagsWritten) -> None:
    state.changes += 1
    state.flags.update(entry.flags)
    for name in entry.flags:
        state.written[name] = (state.changes, entry.verb, entry.element)


def _head_changed(state: Instance, entry: e.HeadChanged) -> None:
    state.head = entry.head


def _incident_raised(state: Instance, entry: e.IncidentRaised) -> None:
    node = state.nodes[entry.number]
    job = node.job
    if job is not None and job.status != "pending":
        job = replace(job, status="pending", worker=0, retry_at=0, base=b"")
    incident = Incident(entry.code, entry.text, entry.at)
    state.nodes[entry.number] = replace(node, job=job, incident=incident)


def _incident_resolved(state: Instance, entry: e.IncidentResolved) -> None:
    node = state.nodes[entry.number]
    job = node.job
    if job is not None and entry.how == "retried":
        job = replace(job, attempt=entry.attempts, before=entry.attempts, interruptions=0)
    state.nodes[entry.number] = replace(node, incident=None, job=job)


def _task_opened(state: Instance, entry: e.TaskOpened) -> None:
    node = state.nodes[entry.number]
    task = HumanTask(
        assignee=entry.assignee, groups=names_of(entry.groups), users=names_of(entry.users), opened_at=node.at,
        due=entry.due, due_at=entry.due_at, requester=entry.requester, ladder=entry.ladder, base=state.head,
        behind=entry.behind, agents=entry.agents,
    )  # fmt: skip
    state.nodes[entry.number] = replace(node, task=task)


def _task(state: Instance, number: int) -> HumanTask:
    task = state.nodes[number].task
    assert task is not None
    return task


def _with_task(state: Instance, number: int, task: HumanTask) -> None:
    state.nodes[number] = replace(state.nodes[number], task=task)


def _task_claimed(state: Instance, entry: e.TaskClaimed) -> None:
    task = replace(_task(state, entry.number), state="claimed" if entry.by else "open", claimed_by=entry.by)
    _with_task(state, entry.number, task)


def _task_reassigned(state: Instance, entry: e.TaskReassigned) -> None:
    _with_task(state, entry.number, handed(_task(state, entry.number), entry.to, names_of(entry.groups)))


def _task_delegated(state: Instance, entry: e.TaskDelegated) -> None:
    task = _task(state, entry.number)
    _with_task(state, entry.number, replace(handed(task, entry.to), delegated_by=(*task.delegated_by, entry.by)))


def _task_chased(state: Instance, entry: e.TaskChased) -> None:
    _with_task(state, entry.number, climbed(_task(state, entry.number), Rung(0, entry.act, entry.group, entry.user)))


def _task_answered(state: Instance, entry: e.TaskAnswered) -> None:
    given = Given(entry.group, entry.by, entry.answer, entry.seen, entry.at, entry.behind)
    _with_task(state, entry.number, with_given(_task(state, entry.number), given))


def _task_reopened(state: Instance, entry: e.TaskReopened) -> None:
    _with_task(state, entry.number, without(_task(state, entry.number), entry.of))


def _thrown(state: Instance, entry: e.Thrown) -> None:
    if entry.kind in ("message", "signal", "escalation"):
        _number(state, entry.number)


def _iterated(state: Instance, entry: e.Iterated) -> None:
    many = Many(entry.total, entry.started, entry.ended)
    state.nodes[entry.number] = replace(state.nodes[entry.number], many=many)


def _completed(state: Instance, entry: e.Completed) -> None:
    scope = state.nodes[entry.scope]
    state.nodes[entry.scope] = replace(scope, done=appended(scope.done, entry.done))


def _undoing(state: Instance, entry: e.Undoing) -> None:
    state.nodes[entry.number] = replace(state.nodes[entry.number], undo=entry.undo)
    if entry.scope:
        state.nodes[entry.scope] = replace(state.nodes[entry.scope], done=entry.keeps)


def _adopted(state: Instance, entry: e.Adopted) -> None:
    # Behind its new parent, because a node always comes after the one around it.
    for number in (entry.number, *inside(state, entry.number)):
        node = state.nodes.pop(number)
        state.nodes[number] = replace(node, parent=entry.parent) if number == entry.number else node


def _interrupted(state: Instance, entry: e.Interrupted) -> None:
    state.nodes[entry.scope] = replace(state.nodes[entry.scope], is_interrupted=True)


def _gateway_opened(state: Instance, entry: e.GatewayOpened) -> None:
    state.nodes[entry.scope] = replace(state.nodes[entry.scope], opened=entry.opened)


def _rerouted(state: Instance, entry: e.Rerouted) -> None:
    state.nodes[entry.number] = replace(state.nodes[entry.number], flow=entry.flow)


def _compensation_started(state: Instance, entry: e.CompensationStarted) -> None:
    state.status = "compensating"
    state.failure = entry.failure


def _suspended(state: Instance, entry: e.InstanceSuspended) -> None:
    if state.status == "suspended":
        return  # for itself as well; since when, and what it was, stays
    state.before = state.status
    state.status = "suspended"
    state.suspended_at = entry.at


def _carrier_changed(state: Instance, entry: e.CarrierChanged) -> None:
    state.carrier, state.carrier_run = entry.carrier, entry.run


def _resumed(state: Instance, entry: e.InstanceResumed) -> None:
    state.status = state.before
    state.suspended_at = 0
    if not entry.shift:
        return
    for watch in list(state.watches.values()):
        if watch.due:
            due = watch.due + entry.shift
            state.watches[watch.number] = replace(watch, due=due, cycle=timer_cycles.put_off(watch.cycle, due))
    for node in list(state.nodes.values()):
        if node.job is not None and node.job.retry_at:
            state.nodes[node.number] = replace(node, job=replace(node.job, retry_at=node.job.retry_at + entry.shift))
        if node.task is not None and (node.task.ladder or node.task.due_at):
            _with_task(state, node.number, shifted(node.task, entry.shift))


def _migrated(state: Instance, entry: e.InstanceMigrated) -> None:
    names = entry.mapping
    state.past = (*state.past, (state.definition, state.process_version, names))
    state.definition, state.process, state.process_version = entry.definition, entry.process, entry.process_version
    state.flags = dict(entry.flags)
    state.written = {name: written for name, written in state.written.items() if name in entry.flags}
    for node in list(state.nodes.values()):
        renamed = replace(
            node, element=names.get(node.element, node.element), done=tuple(_renamed(done, names) for done in node.done)
        )
        if node.number == ROOT:
            renamed = replace(renamed, element=entry.process)
        if entry.keeps_keys and node.job is not None and renamed.element != node.element:
            renamed = replace(renamed, job=replace(node.job, began_as=node.job.began_as or node.element))
        state.nodes[node.number] = renamed
    for watch in list(state.watches.values()):
        state.watches[watch.number] = replace(watch, event=names.get(watch.event, watch.event))
    state.runs = _counted(state.runs, names) if entry.keeps_keys else _moved(state.runs, names)


def _counted(runs: dict[str, int], names: dict[str, str]) -> dict[str, int]:
    """Runs counted on from the most under the old name and the new: no key is ever given twice."""
    counted = dict(runs)
    for element, run in runs.items():
        new = names.get(element, element)
        counted[new] = max(run, counted.get(new, 0))
    return counted


def _moved(runs: dict[str, int], names: dict[str, str]) -> dict[str, int]:
    return {names.get(element, element): run for element, run in runs.items()}


def _renamed(done: Done, names: dict[str, str]) -> Done:
    return replace(
        done, element=names.get(done.element, done.element), handler=names.get(done.handler, done.handler),
        inner=tuple(_renamed(each, names) for each in done.inner),
    )  # fmt: skip


def _ended(state: Instance, entry: e.InstanceEnded) -> None:
    state.status = entry.status
    state.ended_at = entry.at
    state.failure = entry.failure
    state.nodes.clear()
    state.watches.clear()


def _erased(state: Instance, entry: e.PayloadErased) -> None:
    state.erased_at = entry.at


def _agent_used(state: Instance, entry: e.AgentUsed) -> None:
    state.spent = after(state.spent, entry.uses, entry.duration, entry.is_cut)


def _job_asked(state: Instance, entry: e.JobAsked) -> None:
    node, job = _job(state, entry.number)
    job = replace(
        job, status="pending", worker=0, retry_at=0, base=b"", before=job.before + 1, question=entry.question,
        answer=b"", questions=job.questions + 1,
    )  # fmt: skip
    state.nodes[entry.number] = replace(node, kind="task", at=entry.at, job=job)


def _job_held(state: Instance, entry: e.JobHeld) -> None:
    node, job = _job(state, entry.number)
    job = replace(
        job, status="pending", worker=0, retry_at=entry.retry_at, base=b"", before=job.before + 1,
        hold=Hold(entry.code, entry.text, entry.at),
    )  # fmt: skip
    state.nodes[entry.number] = replace(node, job=job)


def _job_answered(state: Instance, entry: e.JobAnswered) -> None:
    node, job = _job(state, entry.number)
    state.nodes[entry.number] = replace(node, kind="job", task=None, job=replace(job, answer=entry.answer))


def _budget_reserved(state: Instance, entry: e.BudgetReserved) -> None:
    state.ledger = with_reservation(state.ledger, Reservation(entry.number, entry.tokens, entry.cost))


def _budget_released(state: Instance, entry: e.BudgetReleased) -> None:
    state.ledger = released(state.ledger, entry.number)


def _budget_set(state: Instance, entry: e.BudgetSet) -> None:
    state.ledger = replace(state.ledger or UNUSED, max_tokens=entry.max_tokens, max_cost=entry.max_cost)


def _override_proposed(state: Instance, entry: e.OverrideProposed) -> None:
    made = Override(
        entry.number,
        entry.at,
        entry.act,
        entry.what,
        entry.tasks,
        entry.needs,
        entry.by,
        entry.reason,
        entry.behind,
        entry.covered,
    )
    state.overrides = remembered(state.overrides, made)


def _override_agreed(state: Instance, entry: e.OverrideAgreed) -> None:
    told = (entry.number, entry.by, entry.behind, entry.reason, entry.covered)
    state.overrides = agreed(state.overrides, *told)


def _consequence_agreed(state: Instance, entry: e.ConsequenceAgreed) -> None:
    state.agreed = entry.tier


TABLE: dict[type, Callable[[Instance, Any], None]] = {
    e.Entered: _entered,
    e.Passed: _nothing,
    e.Left: _left,
    e.Armed: _armed,
    e.Disarmed: _disarmed,
    e.Occurred: _occurred,
    e.JobMade: _job_made,
    e.JobStarted: _job_started,
    e.JobCompleted: _job_completed,
    e.JobFailed: _job_failed,
    e.JobDiscarded: _nothing,
    e.FlagsWritten: _flags_written,
    e.HeadChanged: _head_changed,
    e.IncidentRaised: _incident_raised,
    e.IncidentResolved: _incident_resolved,
    e.TaskOpened: _task_opened,
    e.TaskClaimed: _task_claimed,
    e.TaskReassigned: _task_reassigned,
    e.TaskCompleted: _nothing,
    e.Thrown: _thrown,
    e.ErrorThrown: _nothing,
    e.Iterated: _iterated,
    e.Completed: _completed,
    e.Undoing: _undoing,
    e.Interrupted: _interrupted,
    e.GatewayOpened: _gateway_opened,
    e.WatchMet: _watch_met,
    e.CompensationStarted: _compensation_started,
    e.InstanceSuspended: _suspended,
    e.InstanceResumed: _resumed,
    e.CarrierChanged: _carrier_changed,
    e.InstanceModified: _nothing,
    e.InstanceMigrated: _migrated,
    e.CancelRequested: _nothing,
    e.InstanceEnded: _ended,
    e.PayloadErased: _erased,
    e.ProgressPosted: _nothing,
    e.MessageIgnored: _nothing,
    e.CorrelationFailed: _nothing,
    e.Adopted: _adopted,
    e.TaskDelegated: _task_delegated,
    e.TaskChased: _task_chased,
    e.TaskAnswered: _task_answered,
    e.TaskReopened: _task_reopened,
    e.TaskOverridden: _nothing,
    e.AgentUsed: _agent_used,
    e.JobRebound: _job_rebound,
    e.JobAsked: _job_asked,
    e.JobAnswered: _job_answered,
    e.JobHeld: _job_held,
    e.BudgetReserved: _budget_reserved,
    e.BudgetReleased: _budget_released,
    e.BudgetSet: _budget_set,
    e.Rerouted: _rerouted,
    e.OverrideProposed: _override_proposed,
    e.OverrideAgreed: _override_agreed,
    e.ConsequenceAgreed: _consequence_agreed,
}
