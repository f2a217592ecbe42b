"""Decisions of a lifecycle instance: a command and what was read for it in, entries or a rejection out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, assert_never

from perdure.errors import Rejection
from perdure.human_tasks import AGENT
from perdure.journal import Decision, Origin
from perdure.lifecycles.guards.guard_table import GuardTable
from perdure.lifecycles.machine import commands as c
from perdure.lifecycles.machine import entries as e
from perdure.lifecycles.machine.agreements import (
    changed_since,
    is_override,
    is_proposed,
    proposal_of,
    refused_override,
    refused_second,
    seen_by,
)
from perdure.lifecycles.machine.definition import Action, Lifecycle, Requirement, Transition
from perdure.lifecycles.machine.judgements import (
    JudgedState,
    blocked_of,
    deadlines_in,
    interest_in,
    judge_state,
    names_of,
    needed_facts,
    stale,
)
from perdure.lifecycles.machine.state import ACTION, MAX_HOPS, Cause, Instance, correlation_id
from perdure.lifecycles.machine.task_decisions import (
    closing,
    decide_close,
    decide_dismissal,
    decide_expiry,
    decide_result,
    failed_task,
)
from perdure.moments import SECOND

MAX_REASON = 2000
MAX_SUBJECT = 200


class Setting(NamedTuple):
    """Who decides what, and when."""

    table: GuardTable
    letters: str
    origin: Origin
    now: int


def decide(
    table: GuardTable, letters: str, state: Instance | None, command: c.LifecycleCommand, origin: Origin, now: int
) -> Decision | Rejection:
    at = Setting(table, letters, origin, now)
    if isinstance(command, c.Start):
        return _start(at, state, command)
    if state is None:
        return Rejection("not_found", "find", "lifecycle", letters, "there is no such instance")
    if isinstance(command, c.Erase):
        return _erase(at, state, command)
    if isinstance(command, c.DismissTask):
        return decide_dismissal(at.letters, state, command, now)
    if isinstance(command, c.RetryTask):
        return _retry(at, state, command)
    if isinstance(command, c.ReceiveResult):
        return decide_result(letters, state, command, origin, now)
    if state.is_over and not isinstance(command, c.CloseTask):  # an action may end after the instance
        return _over(at, state, command)
    if isinstance(command, c.Evaluate | c.PassDeadline | c.CloseTask | c.ExpireTask):
        return _by_platform(at, state, command)
    return _by_person(at, state, command)


def _by_platform(
    at: Setting, state: Instance, command: c.Evaluate | c.PassDeadline | c.CloseTask | c.ExpireTask
) -> Decision | Rejection:
    match command:
        case c.Evaluate():
            return _evaluate(at, state, command.view)
        case c.PassDeadline():
            return _pass_deadline(at, state, command)
        case c.CloseTask():
            return decide_close(at.letters, state, command, at.now)
        case c.ExpireTask():
            return decide_expiry(state, command, at.now)
        case _:
            assert_never(command)


def _by_person(
    at: Setting, state: Instance, command: c.Transit | c.RequestTask | c.Act | c.Cancel | c.LookAgain | c.Migrate
) -> Decision | Rejection:
    match command:
        case c.Transit():
            return _transit(at, state, command)
        case c.RequestTask():
            return _request(at, state, command)
        case c.Act():
            return _act(at, state, command)
        case c.Cancel():
            return _cancel(at, state, command)
        case c.LookAgain():
            return Decision((e.LookAsked(at.now, at.origin.principal),), "asked")
        case c.Migrate():
            return _migrate(at, state, command)
        case _:
            assert_never(command)


def _cancel(at: Setting, state: Instance, command: c.Cancel) -> Decision | Rejection:
    if not command.reason.strip() or len(command.reason) > MAX_REASON:
        fact = f"it needs a reason of at most {MAX_REASON:,} characters"
        return Rejection("invalid", "cancel", "lifecycle", at.letters, fact)
    ended = e.LifecycleEnded("cancelled", at.now, at.origin.principal, command.reason)
    return Decision((*closing(state, "the lifecycle was cancelled", at.now, with_actions=True), ended), "cancelled")


def _over(at: Setting, state: Instance, command: c.LifecycleCommand) -> Decision | Rejection:
    """What the platform itself asks of an instance that is over changes nothing; a person is told."""
    if isinstance(command, c.Evaluate | c.PassDeadline | c.CloseTask | c.ExpireTask):
        return Decision((), "over", keeps=False)
    return Rejection("wrong_state", "change", "lifecycle", at.letters, f"it is {state.status} in state {state.state}")


def _start(at: Setting, state: Instance | None, command: c.Start) -> Decision | Rejection:
    if state is not None:
        return Decision((), "replayed")
    if not command.subject.strip() or len(command.subject) > MAX_SUBJECT or not command.subject.isprintable():
        fact = f"a subject has 1 to {MAX_SUBJECT} printable characters"
        return Rejection("invalid", "start", "lifecycle", command.material.definition.name, fact)
    material, definition = command.material, command.material.definition
    begun = e.LifecycleStarted(
        definition.name, command.number, material.hash, command.subject, material.context_hash, at.now,
        at.origin.principal, at.origin.behind, command.depth,
    )  # fmt: skip
    entered = _entered(at, material, command.subject, definition.initial.name, "", "start", command.event)
    if isinstance(entered, Rejection):
        return entered
    ends = definition.initial.is_terminal
    ended = (e.LifecycleEnded("completed", at.now, at.origin.principal),) if ends else ()
    acts = _acts(at, definition, definition.initial.name, {}, at.origin.behind)
    return Decision((begun, entered, *acts, *ended), "started")


def _entered(
    at: Setting,
    material: c.Material,
    subject: str,
    state: str,
    source: str,
    cause: Cause,
    reason: str = "",
    facts: bytes = b"",
) -> e.StateEntered | Rejection:
    """A state is entered: what it waits for and until when is fixed in this very commit."""
    definition = material.definition
    interest = interest_in(
        at.table, definition, state, names_of(at.letters, definition.name, subject, material.context)
    )
    if isinstance(interest, str):
        return Rejection("invalid", "enter", "state", state, interest)
    return e.StateEntered(
        state, source, cause, at.now, at.origin.principal, reason, deadlines_in(definition, state, at.now), interest,
        facts,
    )  # fmt: skip


def _judged(at: Setting, state: Instance, view: c.View) -> JudgedState | Rejection:
    """The guards of the present state by facts of the present round; Rejection when they are of another."""
    material = view.material
    if view.round != state.round or material.hash != state.hash or material.context_hash != state.context:
        return stale(state, at.letters)
    names = names_of(at.letters, state.lifecycle, state.subject, material.context)
    definition = material.definition
    if any(key not in view.facts for key in needed_facts(at.table, definition, state.state, names)):
        return stale(state, at.letters)
    return judge_state(at.table, definition, state.state, names, view.facts, at.now)


def _moved(
    at: Setting, state: Instance, view: c.View, transition: Transition, cause: Cause, reason: str = ""
) -> Decision | Rejection:
    entered = _entered(
        at, view.material, state.subject, transition.target, state.state, cause, reason, view.hash
    )  # fmt: skip
    if isinstance(entered, Rejection):
        return entered
    target = view.material.definition.state(transition.target)
    ends = target is not None and target.is_terminal
    ended = (e.LifecycleEnded("completed", at.now, at.origin.principal, reason),) if ends else ()
    acts = _acts(at, view.material.definition, transition.target, state.asked, _others_of(at, state))
    closed = closing(state, f"the state {state.state} was left", at.now)
    return Decision((*closed, entered, *acts, *ended), "moved", stands_on_facts=True)


def _evaluate(at: Setting, state: Instance, view: c.View) -> Decision | Rejection:
    judged = _judged(at, state, view)
    if isinstance(judged, Rejection):
        return judged
    if state.stuck is not None:
        return Decision((), "stuck", keeps=False)
    material = view.material
    names = names_of(at.letters, state.lifecycle, state.subject, material.context)
    interest = interest_in(at.table, material.definition, state.state, names)
    if isinstance(interest, str):
        return Decision((e.LifecycleStuck("lifecycle.interest", interest, at.now, view.hash),), "stuck")
    if interest != state.interest:
        # The context names other facts than before: their changes must reach it before they are judged.
        return Decision((e.InterestChanged(interest, at.now, view.hash),), "asks")
    taken = next((each for _, each, judgement in judged.transitions if each.mode == "auto" and judgement.holds), None)
    if taken is not None and state.hops >= MAX_HOPS:
        text = f"It moved {MAX_HOPS} times by itself without coming to rest, last to {state.state}."
        return Decision((e.LifecycleStuck("lifecycle.restless", text, at.now, view.hash),), "stuck")
    if taken is not None:
        moved = _moved(at, state, view, taken, "auto")
        if isinstance(moved, Rejection):
            return Decision((e.LifecycleStuck("lifecycle.unreachable", moved.fact, at.now, view.hash),), "stuck")
        return moved
    return Decision(_rest(at, state, view, judged), "rests")


def _rest(at: Setting, state: Instance, view: c.View, judged: JudgedState) -> tuple[e.LifecycleEntry, ...]:
    """The instance stays: blockers are noted, tasks that are not needed any more end, others are asked for."""
    blocked = blocked_of(judged)
    noted = e.FactsJudged(at.now, blocked, judged.changes_at, view.hash)
    met = {requirement.key for requirement, judgement in judged.requirements if judgement.holds}
    over = [
        e.TaskClosed(task.correlation_id, "cancelled", "what it was for is met", at.now)
        for task in state.open_tasks()
        if task.key in met
    ]
    asked = [
        _requested(at, state, requirement)
        for requirement, judgement in judged.requirements
        if not judgement.holds and not judgement.holds_off and _asks_itself(state, requirement)
    ]
    return (noted, *over, *asked)


def _asks_itself(state: Instance, requirement: Requirement) -> bool:
    resolution = requirement.resolution
    if resolution is None or not resolution.auto:
        return False
    return not has_open_task(state, requirement.key) and tries(state, requirement.key) < resolution.max_attempts


def has_open_task(state: Instance, key: str) -> bool:
    return any(task.key == key and task.visit == state.visit for task in state.open_tasks())


def tries(state: Instance, key: str) -> int:
    """How often a requirement was asked for in this stay, in vain or not; tasks that were not needed do not count."""
    return sum(
        1 for task in state.tasks if task.key == key and task.visit == state.visit and task.status != "cancelled"
    )


def _requested(at: Setting, state: Instance, requirement: Requirement, facts: bytes = b"") -> e.TaskRequested:
    resolution = requirement.resolution
    assert resolution is not None
    attempt = state.asked.get(requirement.key, 0) + 1
    behind = _others_of(at, state)
    expires = resolution.expires_seconds
    return e.TaskRequested(
        correlation_id(at.letters, requirement.blocker, requirement.key, attempt), requirement.key,
        requirement.blocker, resolution.verb, attempt, at.now, at.origin.principal,
        at.now + round(expires * SECOND) if expires is not None else 0, resolution.expected, behind, facts,
    )  # fmt: skip


def _others_of(at: Setting, state: Instance) -> tuple[str, ...]:
    """Who stands behind what is asked for now, besides whoever asks."""
    others = dict.fromkeys((*at.origin.behind, state.started_by, *state.behind))
    return tuple(each for each in others if each != at.origin.principal)


def _acts(
    at: Setting, definition: Lifecycle, state: str, asked: Mapping[str, int], behind: tuple[str, ...]
) -> tuple[e.TaskRequested, ...]:
    """The actions of a state that are done by themselves, asked for in the commit that enters it."""
    found = [each for each in definition.actions if each.state == state and each.auto]
    return tuple(_acted(at, each, asked.get(each.key, 0) + 1, behind) for each in found)


def _acted(at: Setting, action: Action, attempt: int, behind: tuple[str, ...]) -> e.TaskRequested:
    return e.TaskRequested(
        correlation_id(at.letters, ACTION, action.key, attempt), action.key, ACTION, action.verb, attempt, at.now,
        at.origin.principal, 0, 1, behind,
    )  # fmt: skip


def _act(at: Setting, state: Instance, command: c.Act) -> Decision | Rejection:
    material = command.material
    if material.hash != state.hash or material.context_hash != state.context:
        return stale(state, at.letters)
    here = [each for each in material.definition.actions if each.state == state.state]
    action = next((each for each in here if each.name == command.action), None)
    if action is None:
        known = ", ".join(each.name for each in here) or "none"
        fact = f"state {state.state} has no action of that name"
        return Rejection("not_found", "do", "action", command.action[:80], fact, f"Its actions: {known}.")
    if command.verb not in ("", action.verb):
        fact = f"it went on meanwhile, and '{action.verb}' would be called"
        return Rejection("wrong_state", "do", "action", action.name, fact, "Look at it again.")
    if (open_task := next((task for task in state.open_tasks() if task.key == action.key), None)) is not None:
        fact = f"it is being done, under '{open_task.correlation_id}'"
        return Rejection("already_exists", "do", "action", action.name, fact)
    return Decision((_acted(at, action, state.asked.get(action.key, 0) + 1, _others_of(at, state)),), "asked")


def _retry(at: Setting, state: Instance, command: c.RetryTask) -> Decision | Rejection:
    """Ask once more for what failed or expired: an action always, a requirement while its blocker is there."""
    task = failed_task(at.letters, state, command.number)
    if isinstance(task, Rejection):
        return task
    definition = command.view.material.definition
    if task.is_action:
        action = definition.action(task.key)
        if action is None:
            fact = f"version {state.number} has no such action"
            return Rejection("wrong_state", "retry", "task", task.correlation_id, fact, "Dismiss it.")
        return Decision((_acted(at, action, state.asked.get(task.key, 0) + 1, _others_of(at, state)),), "asked")
    if state.is_over:
        return _over(at, state, command)
    judged = _judged(at, state, command.view)
    if isinstance(judged, Rejection):
        return judged
    found = next(
        (each for each, judgement in judged.requirements if each.key == task.key and not judgement.holds), None
    )
    if found is None or found.resolution is None:
        fact = f"'{task.key}' does not block it any more"
        return Rejection("wrong_state", "retry", "task", task.correlation_id, fact)
    return Decision((_requested(at, state, found, command.view.hash),), "asked")


def _request(at: Setting, state: Instance, command: c.RequestTask) -> Decision | Rejection:
    judged = _judged(at, state, command.view)
    if isinstance(judged, Rejection):
        return judged
    key = command.key
    found = next(((each, judgement) for each, judgement in judged.requirements if each.key == key), None)
    if found is None:
        known = ", ".join(each.key for each, _ in judged.requirements) or "none"
        fact = f"state {state.state} has no requirement of that name"
        return Rejection("not_found", "resolve", "blocker", key[:80], fact, f"Its requirements: {known}.")
    requirement, judgement = found
    if judgement.holds:
        return Rejection("wrong_state", "resolve", "blocker", key, "it is met")
    if requirement.resolution is None:
        return Rejection("blocked", "resolve", "blocker", key, "its definition names no call that would open it")
    if command.verb not in ("", requirement.resolution.verb):
        fact = f"it went on meanwhile, and '{requirement.resolution.verb}' would be called"
        return Rejection("wrong_state", "resolve", "blocker", key, fact, "Look at it again.")
    if (open_task := next((task for task in state.open_tasks() if task.key == key), None)) is not None:
        fact = f"it was asked for already, under '{open_task.correlation_id}'"
        return Rejection("already_exists", "resolve", "blocker", key, fact)
    if tries(state, key) >= requirement.resolution.max_attempts:
        fact = f"it was asked for {requirement.resolution.max_attempts} times, as often as it may be in one stay"
        return Rejection("blocked", "resolve", "blocker", key, fact)
    return Decision((_requested(at, state, requirement, command.view.hash),), "asked")


def _transit(at: Setting, state: Instance, command: c.Transit) -> Decision | Rejection:
    judged = _judged(at, state, command.view)
    if isinstance(judged, Rejection):
        return judged
    ways = [(each, judgement) for _, each, judgement in judged.transitions if each.mode == "manual"]
    found = next(((each, judgement) for each, judgement in ways if each.target == command.target), None)
    if found is None:
        known = ", ".join(each.target for each, _ in ways) or "none"
        fact = f"no manual transition leads there from {state.state}"
        return Rejection("wrong_state", "move to", "state", command.target[:80], fact, f"Manual transitions: {known}.")
    transition, judgement = found
    refused = _unfit(at, transition, command)
    if refused is not None:
        return refused
    if not judgement.holds:
        fact = f"something is missing: {'; '.join(judgement.missing)}"
        return Rejection("blocked", "move to", "state", command.target, fact[:2000])
    if transition.four_eyes:
        return _agreed(at, state, command, transition)
    return _moved(at, state, command.view, transition, "manual", command.reason)


def _unfit(at: Setting, transition: Transition, command: c.Transit) -> Rejection | None:
    """Why who asks may not take a transition, or not in this way."""
    target = transition.target
    if at.origin.principal.startswith(AGENT):
        fact = f"'{at.origin.principal}' is an agent, and people decide"
        return Rejection("forbidden", "move to", "state", target, fact)
    if transition.role and transition.role not in at.origin.groups:
        fact = f"'{at.origin.principal}' does not belong to '{transition.role}'"
        return Rejection("forbidden", "move to", "state", target, fact)
    if transition.needs_reason and not command.reason.strip():
        return Rejection("invalid", "move to", "state", target, "it needs a reason")
    if len(command.reason) > MAX_REASON:
        return Rejection("invalid", "move to", "state", target, f"the reason has more than {MAX_REASON:,} characters")
    return None


def _agreed(at: Setting, state: Instance, command: c.Transit, transition: Transition) -> Decision | Rejection:
    """The first person proposes; a second one, behind whom the first does not stand, moves."""
    proposal, seen = state.proposal, seen_by(state.context, command.view.facts)
    proposed = proposal_of(at.origin, transition.target, command.reason, at.now, seen, command.view.hash)
    if proposal is None or not is_proposed(state, transition.target):
        return Decision((proposed,), "proposed")
    if changed := changed_since(proposal, seen):
        return Decision((proposed,), " ".join(("reopened", *changed)))
    if refused := refused_second(proposal, at.origin, "move to", "state", transition.target):
        return refused
    reason = command.reason or proposal.reason
    return _moved(at, state, command.view, transition, "manual", reason)


def _pass_deadline(at: Setting, state: Instance, command: c.PassDeadline) -> Decision | Rejection:
    due = [each for each in state.deadlines if each.at == command.due]
    if not due:
        return Decision((), "over", keeps=False)
    judged = _judged(at, state, command.view)
    if isinstance(judged, Rejection):
        return judged
    places = {each.transition for each in due}
    for place, transition, judgement in judged.transitions:
        if place in places and judgement.holds:
            return _moved(at, state, command.view, transition, "time")
    passed = e.DeadlinePassed(command.due, at.now, blocked_of(judged), command.view.hash)
    return Decision((passed,), "overdue")


def _migrate(at: Setting, state: Instance, command: c.Migrate) -> Decision | Rejection:
    definition = command.material.definition
    if definition.name != state.lifecycle:
        fact = f"it is an instance of '{state.lifecycle}'"
        return Rejection("invalid", "migrate", "lifecycle", at.letters, fact)
    if command.material.context_hash != state.context or command.before_hash != state.hash:
        return stale(state, at.letters)
    if command.material.hash == state.hash and command.state == state.state:
        return Decision((), "replayed")
    target = definition.state(command.state)
    if target is None:
        fact = f"version {command.number} has no state '{command.state}'"
        hint = f"Say which of its states stands for it: {', '.join(each.name for each in definition.states)}."
        return Rejection("invalid", "migrate", "lifecycle", at.letters, fact, hint)
    if is_override(command.before, definition, state.state, command.state):
        waits = _overridden(at, state, command)
        if waits is not None:
            return waits
    migrated = e.LifecycleMigrated(command.number, command.material.hash, at.now, at.origin.principal, command.reason)
    entered = _entered(at, command.material, state.subject, target.name, state.state, "migration", command.reason)
    if isinstance(entered, Rejection):
        return entered
    ended = (e.LifecycleEnded("completed", at.now, at.origin.principal),) if target.is_terminal else ()
    acts = _acts(at, definition, target.name, state.asked, _others_of(at, state))
    closed = closing(state, "the definition changed", at.now)
    return Decision((*closed, migrated, entered, *acts, *ended), "migrated")


def _overridden(at: Setting, state: Instance, command: c.Migrate) -> Decision | Rejection | None:
    """A migration past a decision waits for a second person who could have taken it; None once they agree."""
    if not command.reason.strip() or len(command.reason) > MAX_REASON:
        fact = f"it may lead past a decision, and that needs a reason of at most {MAX_REASON:,} characters"
        return Rejection("invalid", "migrate", "lifecycle", at.letters, fact)
    proposal, seen = state.proposal, seen_by(state.context, {})
    proposed = proposal_of(at.origin, command.state, command.reason, at.now, seen, number=command.number)
    if proposal is None or not is_proposed(state, command.state, command.number):
        return Decision((proposed,), "proposed")
    if changed := changed_since(proposal, seen):
        return Decision((proposed,), " ".join(("reopened", *changed)))
    refused = refused_second(proposal, at.origin, "migrate", "lifecycle", at.letters)
    return refused or refused_override(command.before, at.origin, at.letters)


def _erase(at: Setting, state: Instance, command: c.Erase) -> Decision | Rejection:
    if not state.is_over:
        return Rejection("wrong_state", "erase", "lifecycle", at.letters, "it is active", "Cancel it first.")
    if state.is_erased:
        return Decision((), "replayed")
    return Decision((e.DataErased(at.now, at.origin.principal, command.reason),), "erased")
