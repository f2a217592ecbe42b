"""How the entries of plans and drafts change a runbook: one small pure function per entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.dag_progress import INDEX, course_of, hangs_on, is_over, put, status_of
from perdure.runbooks.machine.state import (
    CANCELLED,
    ENDED,
    STATE_VERSION,
    STEP_STATES,
    WAITING,
    Course,
    Draft,
    Fragment,
    Links,
    Runbook,
    Step,
    asked_by,
    extended,
    links_of,
    with_step,
)

NOTHING = b""


def runbook_started(state: Runbook | None, entry: e.RunbookStarted) -> Runbook:
    course = Course(
        entry.plan, (), (0,) * len(STEP_STATES), is_sealed=entry.is_sealed, case=entry.case, decider=entry.decider
    )
    before = state or Runbook(STATE_VERSION, "executing", entry.at, entry.principal, entry.trace, ())
    begun = replace(
        before, course=course, status="executing", started_at=entry.at, principal=entry.principal,
        trace=entry.trace, idempotency_key=entry.idempotency_key or before.idempotency_key, behind=(),
    )  # fmt: skip
    return asked_by(begun, entry.behind)


def draft_opened(entry: e.DraftOpened) -> Runbook:
    draft = Draft((entry.document,), 1, entry.case)
    opened = Runbook(STATE_VERSION, "draft", entry.at, entry.principal, entry.trace, (), draft=draft)
    return asked_by(opened, entry.behind)


def _steps_added(state: Runbook, entry: e.StepsAdded) -> Runbook:
    course = course_of(state)
    new = [_new(added) for added in entry.steps]
    told = _wire(state, new, entry.first)
    steps = extended(state.steps, new)
    for number, step in told.items():
        steps = with_step(steps, number, step)
    counts = list(course.counts)
    counts[INDEX["pending"]] += len(new)
    fragments = course.fragments
    if entry.document:
        fragments = (*fragments, Fragment(entry.document, entry.first, len(new)))
    course = replace(course, plan=entry.plan, fragments=fragments, counts=tuple(counts))
    return asked_by(replace(state, steps=steps, course=course, status=status_of(course)), entry.names)


def _new(added: e.Added) -> Step:
    links = Links(
        added.name, added.needs, added.after, added.sides, added.either, on_failure=added.on_failure, gate=added.gate,
        alternative=added.alternative, compensate=added.compensate, undoes=added.undoes, decides=added.decides,
    )  # fmt: skip
    return Step(added.verb, added.definition_version, added.definition, "pending", NOTHING, links=links)


def _wire(state: Runbook, new: list[Step], first: int) -> dict[int, Step]:
    """Count for each new step what it hangs on that is not over, and tell those; the earlier ones are returned."""
    dependents: dict[int, list[int]] = {}
    for number, step in enumerate(new, first):
        links = links_of(step)
        open_ones = [
            each for each in hangs_on(links) if each >= first or not is_over(state.steps[each - 1])
        ]  # fmt: skip
        for each in open_ones:
            dependents.setdefault(each, []).append(number)
        if open_ones:
            new[number - first] = replace(step, links=replace(links, unmet=len(open_ones)))
    told: dict[int, Step] = {}
    for number, more in dependents.items():
        step = new[number - first] if number >= first else state.steps[number - 1]
        links = links_of(step)
        step = replace(step, links=replace(links, dependents=(*links.dependents, *more)))
        if number >= first:
            new[number - first] = step
        else:
            told[number] = step
    return told


def _edges_added(state: Runbook, entry: e.EdgesAdded) -> Runbook:
    course = course_of(state)
    steps = state.steps
    for number, before in entry.edges:
        links = links_of(steps[number - 1])
        other = steps[before - 1]
        unmet = links.unmet + (not is_over(other))
        links = replace(links, after=(*links.after, before), unmet=unmet)
        steps = with_step(steps, number, replace(steps[number - 1], links=links))
        if not is_over(other):
            told = links_of(other)
            told = replace(told, dependents=(*told.dependents, number))
            steps = with_step(steps, before, replace(steps[before - 1], links=told))
    moved = {number for number, _ in entry.edges}
    held = tuple(each for each in course.held if each not in moved)
    return replace(state, steps=steps, course=replace(course, held=held))


def _step_begun(state: Runbook, entry: e.StepBegun) -> Runbook:
    step = state.steps[entry.step - 1]
    links = replace(links_of(step), locks=entry.locks, begun_at=entry.at)
    begun = replace(step, input=entry.input, status="running", links=links)
    return put(state, entry.step, begun)


def _choice_made(state: Runbook, entry: e.ChoiceMade) -> Runbook:
    step = state.steps[entry.step - 1]
    links = replace(links_of(step), side=entry.side, ended_at=entry.at)
    return put(state, entry.step, replace(step, status="completed", links=links))


def _step_skipped(state: Runbook, entry: e.StepSkipped) -> Runbook:
    return put(state, entry.step, _stopped(state.steps[entry.step - 1], "skipped", entry.at))


def _step_cancelled(state: Runbook, entry: e.StepCancelled) -> Runbook:
    return put(state, entry.step, _stopped(state.steps[entry.step - 1], "cancelled", entry.at))


def _stopped(step: Step, status: Any, at: int) -> Step:
    frame = step.frame
    if frame is not None and frame.status == "started":
        frame = replace(frame, status="failed", ended_at=at, worker=0)
    tokens = tuple(replace(each, status=CANCELLED) if each.status == WAITING else each for each in step.tokens)
    links = stamped(step.links, at)
    return replace(step, status=status, frame=frame, tokens=tokens, incident=None, retry_at=0, links=links)


def stamped(links: Links | None, at: int) -> Links | None:
    return replace(links, ended_at=at) if links is not None else None


def cancelled_all(state: Runbook, at: int) -> Runbook:
    """Every step that has not ended ends here; nobody need look after its failures any more."""
    for number, step in enumerate(state.steps, 1):
        if step.status not in ENDED:
            state = put(state, number, _stopped(step, "cancelled", at))
    state = _all_passed(state)
    return replace(state, status="cancelled", ended_at=at)


def _all_passed(state: Runbook) -> Runbook:
    for number, step in enumerate(state.steps, 1):
        links = links_of(step)
        if step.status == "failed" and not links.is_passed:
            state = put(state, number, replace(step, links=replace(links, is_passed=True)))
    return replace(state, course=replace(course_of(state), held=()))


def _failure_passed(state: Runbook, entry: e.FailurePassed) -> Runbook:
    step = state.steps[entry.step - 1]
    return put(state, entry.step, replace(step, links=replace(links_of(step), is_passed=True)))


def _failure_asked(state: Runbook, entry: e.FailureAsked) -> Runbook:
    step = state.steps[entry.step - 1]
    return put(state, entry.step, replace(step, links=replace(links_of(step), asked_at=entry.at)))


def _steps_held(state: Runbook, entry: e.StepsHeld) -> Runbook:
    for number in entry.steps:
        step = state.steps[number - 1]
        if step.status != "pending":
            state = put(state, number, replace(step, status="pending"))
    course = course_of(state)
    return replace(state, course=replace(course, held=(*course.held, *entry.steps)))


def _step_retried(state: Runbook, entry: e.StepRetried) -> Runbook:
    step = state.steps[entry.step - 1]
    links = links_of(step)
    tried = step.frame.attempt if step.frame is not None else 0
    links = replace(links, round=links.round + 1, tried=tried, ended_at=0, asked_at=0)
    again = replace(
        step, status="pending", error=None, carrier=None, links=links, uncounted=0, proposal=b"", question=b"",
        answer=b"",
    )  # fmt: skip
    return put(state, entry.step, again)


def _gate_closed(state: Runbook, entry: e.GateClosed) -> Runbook:
    step = state.steps[entry.step - 1]
    return put(state, entry.step, replace(step, status="parked", links=replace(links_of(step), gated_at=entry.at)))


def _gate_answered(state: Runbook, entry: e.GateAnswered) -> Runbook:
    step = state.steps[entry.step - 1]
    if not entry.agrees:
        return state
    links = links_of(step)
    if entry.seen:
        links = replace(links, agreed_on=entry.seen)
    if entry.group:
        links = replace(links, agreed=(*links.agreed, (entry.group, (entry.by, *entry.behind))))
        if links.awaited:
            return put(state, entry.step, replace(step, links=links))
    return put(state, entry.step, replace(step, status="pending", links=replace(links, is_open=True)))


def _gate_reopened(state: Runbook, entry: e.GateReopened) -> Runbook:
    step = state.steps[entry.step - 1]
    links = replace(links_of(step), is_open=False, agreed=(), agreed_on="", gated_at=entry.at)
    state = put(state, entry.step, replace(step, status="parked", links=links))
    course = course_of(state)
    held = tuple(number for number in course.held if number != entry.step)
    return replace(state, course=replace(course, held=held))


def _runbook_sealed(state: Runbook, entry: e.RunbookSealed) -> Runbook:
    return replace(state, course=replace(course_of(state), is_sealed=True))


def _compensation_started(state: Runbook, entry: e.CompensationStarted) -> Runbook:
    ending: Any = "failed" if state.status == "failed" else "cancelled"
    state = _all_passed(state)
    course = replace(course_of(state), ending=ending, last_undoable=0)
    return replace(state, course=course, status="executing", ended_at=0)


def _compensation_ended(state: Runbook, entry: e.CompensationEnded) -> Runbook:
    return replace(state, status=entry.how, ended_at=entry.at)


def _runbook_completed(state: Runbook, entry: e.RunbookCompleted) -> Runbook:
    return replace(state, status="completed", ended_at=entry.at)


def _runbook_failed(state: Runbook, entry: e.RunbookFailed) -> Runbook:
    return replace(state, status="failed", ended_at=entry.at)


def _draft_revised(state: Runbook, entry: e.DraftRevised) -> Runbook:
    draft = draft_of(state)
    revisions = (*draft.revisions[: draft.current], entry.document)
    return asked_by(replace(state, draft=replace(draft, revisions=revisions, current=len(revisions))), entry.names)


def _draft_moved(state: Runbook, entry: e.DraftMoved) -> Runbook:
    return asked_by(replace(state, draft=replace(draft_of(state), current=entry.revision)), entry.names)


def draft_of(state: Runbook) -> Draft:
    assert state.draft is not None
    return state.draft


def _unchanged(state: Runbook, entry: Any) -> Runbook:
    return state


PLAN_TABLE: dict[type, Callable[[Runbook, Any], Runbook]] = {
    e.StepsAdded: _steps_added,
    e.EdgesAdded: _edges_added,
    e.StepBegun: _step_begun,
    e.ChoiceMade: _choice_made,
    e.StepSkipped: _step_skipped,
    e.StepCancelled: _step_cancelled,
    e.FailurePassed: _failure_passed,
    e.FailureAsked: _failure_asked,
    e.StepsHeld: _steps_held,
    e.StepRetried: _step_retried,
    e.DecisionMade: _unchanged,
    e.GateClosed: _gate_closed,
    e.GateAnswered: _gate_answered,
    e.GateReopened: _gate_reopened,
    e.RunbookSealed: _runbook_sealed,
    e.CompensationStarted: _compensation_started,
    e.CompensationEnded: _compensation_ended,
    e.RunbookCompleted: _runbook_completed,
    e.RunbookFailed: _runbook_failed,
    e.DraftRevised: _draft_revised,
    e.DraftMoved: _draft_moved,
}
