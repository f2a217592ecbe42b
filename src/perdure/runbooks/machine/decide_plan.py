"""Decisions on plans and drafts: start, extend, seal, retry, skip, cancel, compensate, gates, revisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perdure.errors import Rejection
from perdure.human_tasks import AGENT, OF_GATE, changed_parts, outdated
from perdure.journal import Decision, Origin
from perdure.overrides import Act, hash_of
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.apply_plan import runbook_started
from perdure.runbooks.machine.dag_progress import (
    base_of,
    course_of,
    hangs_on,
    is_not_begun,
    is_untouched,
    seen_at_gate,
)
from perdure.runbooks.machine.outcome_propagation import Begin, Flow
from perdure.runbooks.machine.overrides import passage
from perdure.runbooks.machine.state import COMPLETED, ENDED, Failure, Links, Runbook, Step, links_of

MAX_STEPS = 100_000
MAX_FRAGMENTS = 1000
MAX_REVISIONS = 1000

Answer = Decision | Rejection


def follow(state: Runbook, command: c.Command, decision: Decision, now: int, begin: Begin | None = None) -> Decision:
    """A decision about one step of a plan, with everything that follows from it."""
    if not decision.keeps or not decision.entries:
        return decision
    flow = Flow(state, now)
    flow.emit(*decision.entries)
    if isinstance(command, c.RecordAttempt | c.Complete):
        completed = state.steps[command.step - 1].status != "completed" and _is_completed(flow.state, command.step)
        if command.change is not None and completed:
            flow.change(command.step, command.change)
        flow.launch(command.launches, command.worker)
        if begin is not None:
            flow.begin(begin, command.worker, state)
    flow.settle()
    return flow.decision(decision.answer)


def _is_completed(state: Runbook, step: int) -> bool:
    return state.steps[step - 1].status == "completed"


def changed_meanwhile(state: Runbook, command: c.Command) -> Rejection | None:
    """A decision made about another plan than the one there is now, or that skips a step which has begun meanwhile."""
    change = command.change if isinstance(command, c.RecordAttempt | c.Complete) else None
    if change is None:
        return None
    if change.added and change.base != base_of(state):
        return Rejection("wrong_state", "extend", "runbook", "?", "its plan has changed since the decision was read")
    for number in change.skips:
        step = state.steps[number - 1]
        if step.status != "skipped" and not is_not_begun(step):
            return _wrong_state(step, "skip")
    return None


# --- starting and extending ----------------------------------------------------------------------------------------


def _start(
    state: Runbook | None, command: c.StartRunbook, origin: Origin, now: int, begin: Begin | None = None
) -> Answer:
    if state is not None and (state.draft is None or state.course is not None):
        return Decision((), "replayed")
    if state is not None and state.status != "draft":
        return Rejection("wrong_state", "start", "runbook", "?", f"it is {state.status}")
    if (refused := _unfit(Runbook(0, "executing", now, "", "", ()), command.steps, command.is_sealed)) is not None:
        return refused
    case = command.case or (state.draft.case if state is not None and state.draft is not None else "")
    drafters = state.askers if state is not None else ()
    started = e.RunbookStarted(
        now, origin.principal, origin.trace, command.plan, case, command.is_sealed, command.decider,
        command.idempotency_key, (*drafters, *origin.behind),
    )  # fmt: skip
    flow = Flow(runbook_started(state, started), now, started)
    flow.emit(e.StepsAdded(now, command.plan, command.document, 1, command.steps))
    flow.launch(command.launches, command.worker)
    if begin is not None:
        flow.begin(begin, command.worker, None)
    flow.settle()
    return flow.decision()


def _extend(state: Runbook, command: c.ExtendPlan, origin: Origin, now: int) -> Answer:
    course = course_of(state)
    if state.status in ENDED or course.ending:
        return Rejection("wrong_state", "extend", "runbook", "?", f"it is already {state.status}")
    if command.base != base_of(state):
        fact = "its plan has changed meanwhile"
        return Rejection("wrong_state", "extend", "runbook", "?", fact, "Look, and try again.")
    if len(course.fragments) >= MAX_FRAGMENTS:
        return Rejection("blocked", "extend", "runbook", "?", f"it was extended {MAX_FRAGMENTS} times already")
    if (refused := _unfit(state, command.steps, True, command.edges)) is not None:
        return refused
    flow = Flow(state, now)
    if command.steps:
        flow.emit(e.StepsAdded(now, command.plan, command.document, len(state.steps) + 1, command.steps, origin.names))
    if command.edges:
        flow.emit(e.EdgesAdded(now, command.edges))
    flow.settle()
    return flow.decision()


def _unfit(
    state: Runbook, steps: tuple[e.Added, ...], is_sealed: bool, edges: tuple[tuple[int, int], ...] = ()
) -> Rejection | None:
    """Why steps and edges cannot be added: too many, to nothing, to what has begun, or in a circle."""
    first = len(state.steps) + 1
    last = first + len(steps) - 1
    if not steps and not edges and is_sealed:
        return Rejection("invalid", "run", "runbook", "?", "it has no steps")
    if last > MAX_STEPS:
        return Rejection("invalid", "run", "runbook", "?", f"it would have {last} steps and may have {MAX_STEPS}")
    before: dict[int, list[int]] = {}
    for number, added in enumerate(steps, first):
        before[number] = list(hangs_on(_links(added)))
        if any(not 1 <= each <= last for each in before[number]):
            return Rejection("invalid", "run", "runbook", "?", f"step '{added.name}' hangs on a step that is not there")
    for number, other in edges:
        if not (1 <= number <= last and 1 <= other <= last):
            return Rejection("invalid", "extend", "runbook", "?", "an edge names a step that is not there")
        if number >= first:
            return _edge_of_new(steps[number - first].name, _name_of(state, steps, other))
        step = state.steps[number - 1]
        if not is_untouched(step):
            fact = f"step '{links_of(step).name}' is {step.status} and cannot come after another any more"
            return Rejection("wrong_state", "extend", "runbook", "?", fact)
        before.setdefault(number, list(hangs_on(links_of(step)))).append(other)
    return _circle(state, steps, before)


def _edge_of_new(later: str, earlier: str) -> Rejection:
    fact = f"the edge ('{later}', '{earlier}') lets '{later}' come after '{earlier}', and '{later}' is only added now"
    hint = (
        f"An edge is a pair: the step that waits, then the one it comes after. Write ('{earlier}', '{later}') when "
        f"'{earlier}' is to wait; else say AFTER {earlier} where '{later}' is written."
    )
    return Rejection("invalid", "extend", "runbook", "?", fact, hint)


def _name_of(state: Runbook, steps: tuple[e.Added, ...], number: int) -> str:
    count = len(state.steps)
    return links_of(state.steps[number - 1]).name if number <= count else steps[number - count - 1].name


def _links(added: e.Added) -> Links:
    return Links(added.name, added.needs, added.after, added.sides, added.either)


def _circle(state: Runbook, steps: tuple[e.Added, ...], before: dict[int, list[int]]) -> Rejection | None:
    """Steps that would wait for one another for ever, by name. Only what is added can close a circle."""
    first = len(state.steps) + 1
    names = {number: added.name for number, added in enumerate(steps, first)}
    if any(number < first for number in before):
        for number, step in enumerate(state.steps, 1):
            names[number] = links_of(step).name
            before.setdefault(number, list(hangs_on(links_of(step))))
    left = {number: {each for each in others if each in before} for number, others in before.items()}
    after: dict[int, list[int]] = {}
    for number, others in left.items():
        for each in others:
            after.setdefault(each, []).append(number)
    free = [number for number, others in left.items() if not others]
    while free:
        number = free.pop()
        del left[number]
        for each in after.get(number, ()):
            left[each].discard(number)
            if not left[each]:
                free.append(each)
    if not left:
        return None
    circle = ", ".join(f"'{names[number]}'" for number in sorted(left)[:5])
    return Rejection("invalid", "run", "runbook", "?", f"steps wait for one another in a circle: {circle}")


def _seal(state: Runbook, command: c.SealRunbook, origin: Origin, now: int) -> Answer:
    if course_of(state).is_sealed:
        return Decision((), "replayed")
    if state.status in ENDED:
        return Rejection("wrong_state", "seal", "runbook", "?", f"it is already {state.status}")
    flow = Flow(state, now)
    flow.emit(e.RunbookSealed(now))
    flow.settle()
    return flow.decision()


# --- single steps --------------------------------------------------------------------------------------------------


def _step(state: Runbook, number: int, do: str) -> Step | Rejection:
    if not 1 <= number <= len(state.steps):
        return Rejection("not_found", f"{do} step {number} of", "runbook", "?", f"it has {len(state.steps)} steps")
    return state.steps[number - 1]


def _wrong_state(step: Step, do: str, hint: str = "") -> Rejection:
    name = links_of(step).name
    return Rejection("wrong_state", f"{do} step '{name}' of", "runbook", "?", f"the step is {step.status}", hint)


def _retry(state: Runbook, command: c.RetryStep, origin: Origin, now: int) -> Answer:
    step = _step(state, command.step, "retry")
    if isinstance(step, Rejection):
        return step
    if step.status != "failed":
        hint = "Its incident is retried with `incidents retry`." if step.incident is not None else ""
        return _wrong_state(step, "retry", hint)
    if state.erased_at:
        return Rejection("wrong_state", "retry a step of", "runbook", "?", "its data has been erased")
    if state.status == "cancelled" or (course_of(state).ending and not links_of(step).undoes):
        return Rejection("wrong_state", "retry a step of", "runbook", "?", f"it is {state.status}")
    flow = Flow(state, now)
    flow.emit(e.StepRetried(command.step, now, command.reason))
    flow.settle()
    return flow.decision()


def _skip(state: Runbook, command: c.SkipStep, origin: Origin, now: int) -> Answer:
    step = _step(state, command.step, "skip")
    if isinstance(step, Rejection):
        return step
    if step.status == "skipped":
        return Decision((), "replayed")
    if not command.reason.strip():
        return Rejection("invalid", "skip a step of", "runbook", "?", "no reason was given")
    if step.status in ("completed", "cancelled", "running"):
        return _wrong_state(step, "skip", "Cancel it." if step.status == "running" else "")
    is_over = state.status in ("cancelled", "completed") or (course_of(state).ending and not links_of(step).undoes)
    if is_over or state.erased_at:
        return Rejection("wrong_state", "skip a step of", "runbook", "?", f"it is already {state.status}")
    act = Act(f"skip step '{links_of(step).name}' of", "runbook", hash_of("skip", command.step))
    passed = passage(state, command.step, act, command.unseen, origin, command.reason, now)
    if not isinstance(passed, tuple):
        return passed
    flow = Flow(state, now)
    flow.emit(*passed)
    flow.emit(e.StepSkipped(command.step, now, "person", command.reason))
    flow.settle()
    return flow.decision()


def cancel(state: Runbook, command: c.Cancel, origin: Origin, now: int) -> Answer:
    """One step, or everything that has not ended; then, when asked, what completed is taken back."""
    if command.step:
        return _cancel_step(state, command, origin, now)
    course = course_of(state)
    if state.status == "cancelled":
        return Decision((), "replayed")
    if state.status in ENDED:
        hint = "Compensate it." if command.compensates else ""
        return Rejection("wrong_state", "cancel", "runbook", "?", f"it is already {state.status}", hint)
    if command.compensates and course.ending:
        return Decision((), "replayed")  # it is being taken back; only a cancel without compensation stops that
    flow = Flow(state, now)
    flow.emit(e.CancelRequested(now, command.reason), e.CallCancelled(now, course.counts[COMPLETED]))
    if command.compensates:
        _undo(flow, command.reason)
    flow.settle()
    return flow.decision()


def _cancel_step(state: Runbook, command: c.Cancel, origin: Origin, now: int) -> Answer:
    step = _step(state, command.step, "cancel")
    if isinstance(step, Rejection):
        return step
    if step.status == "cancelled":
        return Decision((), "replayed")
    if step.status in ENDED or state.status in ENDED:
        return _wrong_state(step, "cancel")
    act = Act(f"cancel step '{links_of(step).name}' of", "runbook", hash_of("cancel", command.step))
    passed = passage(state, command.step, act, command.unseen, origin, command.reason, now)
    if not isinstance(passed, tuple):
        return passed
    flow = Flow(state, now)
    flow.emit(*passed)
    flow.emit(e.CancelRequested(now, command.reason), e.StepCancelled(command.step, now, command.reason))
    flow.settle()
    return flow.decision()


def _compensate(state: Runbook, command: c.Compensate, origin: Origin, now: int) -> Answer:
    course = course_of(state)
    if course.ending:
        return Decision((), "replayed")
    if state.erased_at:
        return Rejection("wrong_state", "compensate", "runbook", "?", "its data has been erased")
    if state.status not in ENDED:
        return Rejection(
            "wrong_state", "compensate", "runbook", "?", f"it is {state.status}", "Cancel it with --compensate."
        )
    flow = Flow(state, now)
    _undo(flow, command.reason)
    flow.settle()
    return flow.decision()


def _undo(flow: Flow, reason: str) -> None:
    """One step for each completed one that can be taken back, in a chain from the last completed to the first."""
    first = len(flow.state.steps) + 1
    number = course_of(flow.state).last_undoable
    added: list[e.Added] = []
    while number:
        links = links_of(flow.state.steps[number - 1])
        pin = links.compensate
        assert pin is not None
        after = (first + len(added) - 1,) if added else ()
        added.append(
            e.Added(
                f"{links.name}/undo", pin.verb, pin.version, pin.definition, after=after, on_failure="continue",
                undoes=number,
            )
        )  # fmt: skip
        number = links.previous
    flow.emit(e.CompensationStarted(flow.now, reason))
    if added:
        flow.append(tuple(added))


def _answer_gate(state: Runbook, command: c.AnswerGate, origin: Origin, now: int) -> Answer:
    step = _step(state, command.step, "answer the gate of")
    if isinstance(step, Rejection):
        return step
    links = links_of(step)
    if not links.gated_at:
        return _wrong_state(step, "answer the gate of")
    do = f"answer the gate of step '{links.name}' of"
    if same := next((name for name in origin.names if name in state.askers), ""):
        fact = f"'{same}' asked for the runbook"
        if same != origin.principal:
            fact = f"{fact} and made the key of '{origin.principal}'"
        return Rejection("forbidden", do, "runbook", "?", fact, "Someone else must answer.")
    if origin.principal.startswith(AGENT):
        fact = f"'{origin.principal}' is an agent"
        return Rejection("forbidden", do, "runbook", "?", fact, "A person has to answer.")
    group = next((each for each in links.awaited if each in origin.groups), "")
    if not group:
        wanted = " or ".join(f"'{each}'" for each in links.awaited)
        return Rejection("forbidden", do, "runbook", "?", f"'{origin.principal}' is not in the group {wanted}")
    before = {name for _, names in links.agreed for name in names}
    if same := next((name for name in origin.names if name in before), ""):
        fact, hint = f"'{same}' has agreed for another group", "Somebody else must answer for this one."
        return Rejection("forbidden", do, "runbook", "?", fact, hint)
    seen = seen_at_gate(state, command.step, command.documents)
    if (stale := outdated(command.seen, seen, OF_GATE, do, "runbook", "?")) is not None:
        return stale
    flow = Flow(state, now)
    if links.agreed_on and (changed := changed_parts(links.agreed_on, seen, OF_GATE)):
        flow.emit(e.GateReopened(command.step, now, changed, links.gate))
    told = (command.step, now, origin.principal, command.agrees, command.reason, group, origin.behind)
    flow.emit(e.GateAnswered(*told, seen))
    if not command.agrees:
        words = f"'{origin.principal}' refused" + (f": {command.reason}" if command.reason else ".")
        flow.emit(e.StepFailed(command.step, now, Failure("permanent_business", "gate.refused", words)))
    flow.settle()
    return flow.decision()


# --- drafts --------------------------------------------------------------------------------------------------------


def _open_draft(state: Runbook | None, command: c.OpenDraft, origin: Origin, now: int) -> Answer:
    if state is not None:
        return Decision((), "replayed")
    return Decision(
        (e.DraftOpened(now, origin.principal, origin.trace, command.document, command.case, origin.behind),)
    )


def _revise(state: Runbook, command: c.ReviseDraft, origin: Origin, now: int) -> Answer:
    draft = state.draft
    assert draft is not None
    if draft.revisions[draft.current - 1] == command.document:
        return Decision((), "replayed")
    if draft.current >= MAX_REVISIONS:
        return Rejection("blocked", "revise", "draft", "?", f"it was revised {MAX_REVISIONS} times already")
    return Decision((e.DraftRevised(now, command.document, command.change, origin.names),))


def _undo_revision(state: Runbook, command: c.UndoRevision, origin: Origin, now: int) -> Answer:
    assert state.draft is not None
    if state.draft.current == 1:
        return Rejection("wrong_state", "undo a change of", "draft", "?", "nothing is left to undo")
    return Decision((e.DraftMoved(now, state.draft.current - 1, origin.names),))


def _redo_revision(state: Runbook, command: c.RedoRevision, origin: Origin, now: int) -> Answer:
    assert state.draft is not None
    if state.draft.current == len(state.draft.revisions):
        return Rejection("wrong_state", "redo a change of", "draft", "?", "nothing was undone")
    return Decision((e.DraftMoved(now, state.draft.current + 1, origin.names),))


def _launch(state: Runbook, command: c.LaunchSteps, origin: Origin, now: int) -> Answer:
    flow = Flow(state, now)
    if state.status in ENDED or flow.launch(command.launches, command.worker) < len(command.launches):
        return Decision((), "gone", keeps=False)  # all or none: what the others brought would be nobody's
    flow.settle()
    return flow.decision("leased")


_OPENING: dict[type, Callable[..., Answer]] = {c.StartRunbook: _start, c.OpenDraft: _open_draft}
_DRAFTS: dict[type, Callable[..., Answer]] = {
    c.ReviseDraft: _revise,
    c.UndoRevision: _undo_revision,
    c.RedoRevision: _redo_revision,
}
_COURSES: dict[type, Callable[..., Answer]] = {
    c.LaunchSteps: _launch,
    c.ExtendPlan: _extend,
    c.SealRunbook: _seal,
    c.RetryStep: _retry,
    c.SkipStep: _skip,
    c.Compensate: _compensate,
    c.AnswerGate: _answer_gate,
}
STEERING = frozenset({*_OPENING, *_DRAFTS, *_COURSES})


def steer(state: Runbook | None, command: Any, origin: Origin, now: int, begin: Begin | None = None) -> Answer:
    """The answer to a command about a plan or a draft."""
    kind = type(command)
    if kind is c.StartRunbook:
        return _start(state, command, origin, now, begin)
    if kind in _OPENING:
        return _OPENING[kind](state, command, origin, now)
    if state is None:
        return Rejection("not_found", "find", "runbook", "?", "there is no such runbook")
    is_draft = state.status == "draft"
    if kind in _DRAFTS:
        if not is_draft:
            return Rejection("wrong_state", "change", "draft", "?", f"it is {state.status}")
        return _DRAFTS[kind](state, command, origin, now)
    if state.course is None:
        fact = "it is a draft" if is_draft else "it is a single call"
        return Rejection("wrong_state", "change the plan of", "runbook", "?", fact)
    return _COURSES[kind](state, command, origin, now)
