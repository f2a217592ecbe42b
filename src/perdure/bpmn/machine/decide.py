"""Decisions: a table of small functions, one per command, over the token game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from perdure.bpmn import model as m
from perdure.bpmn.machine import agent_budgets, external_triggers, human_tasks, jobs, operator_commands
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.apply import started
from perdure.bpmn.machine.event_subscriptions import arm_subs
from perdure.bpmn.machine.event_triggers import pass_event
from perdure.bpmn.machine.execution_plan import Plan
from perdure.bpmn.machine.guarded_tasks import lost_tasks
from perdure.bpmn.machine.migration import migrate
from perdure.bpmn.machine.overrides import ACTS, Proposed, around, passage
from perdure.bpmn.machine.scopes import begin_at
from perdure.bpmn.machine.state import ENDED, ROOT, Instance
from perdure.bpmn.machine.token_game_loop import run
from perdure.bpmn.machine.token_game_state import Cron, TokenGame
from perdure.errors import Rejection
from perdure.journal import Decision, Origin
from perdure.overrides import Guard
from perdure.verb_contract import ConsequenceTier, flag_faults, tier_rank

Answer = Decision | Rejection
KEEPS_NOTHING = frozenset({"discarded", "ignored", "gone", "replayed"})


def decide(
    plans: Mapping[bytes, Plan],
    state: Instance | None,
    command: c.Command,
    origin: Origin,
    now: int,
    chance: float,
    cron: Cron,
) -> Answer:
    """Entries and an answer, or a rejection; never both."""
    # Types are compared, not tested: a struct's type answers `isinstance` slowly where the answer is no.
    if type(command) is c.StartInstance:
        return _start(plans, state, command, origin, now, cron)
    if state is None:
        return Rejection("not_found", "find", "instance", "?", "there is no such instance")
    if type(command) is c.Erase:
        return _erase(state, command, now)
    if type(command) is c.NoteFailedCorrelation:
        noted = e.CorrelationFailed(
            now, command.name, command.key, command.message_id, command.outcome, command.why
        )  # fmt: skip
        return Decision((noted,), "noted")
    if state.status in ENDED:
        return _late(state, command, now)
    game = TokenGame(plans[state.definition], state.copy(), now, cron)
    if type(command) is c.SetBudget:
        answer: str | Rejection | Proposed = agent_budgets.set_budget(game, command, origin.principal)
    elif type(command) in ACTS:
        answer = _act(game, plans, state, command, origin)
    else:
        answer = _TABLE[type(command)](game, command, chance)
    if isinstance(answer, Proposed):
        return Decision(tuple(game.entries), "proposed", keeps=False, state=game.state, refusal=answer)
    if not isinstance(answer, str):
        return answer
    if not game.entries and not game.moves and not game.ready:
        return Decision((), answer, keeps=False)
    run(game, getattr(command, "worker", 0) if type(command) is not c.LeaseJob else 0)
    return Decision(tuple(game.entries), answer, answer not in KEEPS_NOTHING, game.state)


def _act(
    game: TokenGame, plans: Mapping[bytes, Plan], state: Instance, command: Any, origin: Origin
) -> str | Rejection:
    """Whatever somebody does to an instance otherwise than by its model; around its tasks only with who could answer.

    The act is tried first: nobody is asked to agree to what cannot be done.
    """
    tried = TokenGame(game.plan, state.copy(), game.now, game.cron)
    answer = _done(tried, plans, state, command)
    if not isinstance(answer, str):
        return answer
    act, guards = around(game, tried, command)
    if guards and (waits := passage(game, guards, act, origin, command.reason)) is not None:
        return waits
    agreed: ConsequenceTier | Literal[""] = getattr(command, "agreed", "")
    if agreed and (not state.agreed or tier_rank(agreed) > tier_rank(state.agreed)):
        game.emit(e.ConsequenceAgreed(game.now, agreed, origin.principal))
    return _done(game, plans, state, command)


class Tried(NamedTuple):
    """An instance as it would be after a migration, and the tasks that it would leave behind."""

    state: Instance
    guards: tuple[Guard, ...]
    lost: list[str]
    """User tasks and call activities, by their elements."""


def tried_migration(
    plans: Mapping[bytes, Plan], state: Instance, command: c.Migrate, now: int, cron: Cron
) -> Tried | Rejection:
    """Where a migration would lead, without anything being decided."""
    if state.status in ENDED:
        return Rejection("wrong_state", "change", "instance", "?", f"it is {state.status}")
    before, after = (TokenGame(plans[state.definition], state.copy(), now, cron) for _ in range(2))
    answer = _done(after, plans, state, command)
    if not isinstance(answer, str):
        return answer
    guards, lost = around(before, after, command)[1], lost_tasks(before, after, command.mapping)
    run(after, command.worker)
    return Tried(after.state, guards, lost)


def _done(game: TokenGame, plans: Mapping[bytes, Plan], state: Instance, command: Any) -> str | Rejection:
    if type(command) is c.Migrate:
        return migrate(game, command, plans[command.definition], _version(state, command))
    return _ACTS[type(command)](game, command)


def _version(state: Instance, command: c.Migrate) -> int:
    return command.version or state.process_version


def _start(
    plans: Mapping[bytes, Plan], state: Instance | None, command: c.StartInstance, origin: Origin, now: int, cron: Cron
) -> Answer:  # fmt: skip
    if state is not None:
        return Decision((), "replayed", keeps=False)
    plan = plans[command.definition]
    flags = {**plan.initial_flags(), **command.flags}
    faults = {} if plan.deployed.is_loose else flag_faults(plan.deployed.flags, command.flags)
    if faults:
        fact = "; ".join(f"{name}: {reason}" for name, reason in faults.items())
        return Rejection("invalid", "start", "process", command.process, fact)
    first = e.InstanceStarted(
        command.definition, command.process, command.process_version, now, origin.principal, flags, command.head,
        origin.trace, command.parent, command.business_key, command.start, command.idempotency_key,
        origin.behind, command.agreed,
    )  # fmt: skip
    game = TokenGame(plan, started(first), now, cron)
    game.entries.append(first)
    arm_subs(game, ROOT, plan.process)
    problem = _begin(game, plan, command.start)
    if problem:
        return Rejection("invalid", "start", "process", command.process, problem)
    game.touch(ROOT)
    run(game, command.worker)
    return Decision(tuple(game.entries), "started", state=game.state)


def _begin(game: TokenGame, plan: Plan, start: str) -> str:
    if not start:
        starts = plan.areas[plan.process].starts
        if not starts:
            return "it has no start event that needs no trigger"
        begin_at(game, ROOT, starts)
        return ""
    spot = plan.spots.get(start)
    if spot is None or spot.area != plan.process:
        return f"it has no start event '{start}'"
    for flow in spot.into:
        if isinstance(plan.spots[flow.source].node, m.Gateway):  # the one that starts instances
            game.emit(e.Passed(flow.source, ROOT))
    pass_event(game, start, ROOT)
    return ""


def _erase(state: Instance, command: c.Erase, now: int) -> Answer:
    if state.erased_at:
        return Decision((), "replayed", keeps=False)
    if state.status not in ENDED:
        fact = f"it is {state.status}"
        return Rejection("wrong_state", "erase the data of", "instance", "?", fact, "Cancel it first.")
    return Decision((e.PayloadErased(now, command.reason),), "erased")


def _late(state: Instance, command: c.Command, now: int) -> Answer:
    """The instance has ended: what still arrives is recorded where it matters, and never applied."""
    match command:
        case c.RecordJob():
            entry = e.JobDiscarded(
                command.node, command.attempt, now, command.job_worker, f"the instance is {state.status}"
            )
            return Decision((entry,), "discarded", keeps=False)
        case c.Correlate():
            why = f"the instance is {state.status}"
            ignored = e.MessageIgnored(now, f"watch {command.watch}", command.message_id, why)
            return Decision((ignored,), "ignored", keeps=False)
        case c.FireTimer() | c.ReserveBudget() | c.LeaseJob() | c.EndCall() | c.Escalate() | c.RaiseIncident():
            return Decision((), "gone", keeps=False)
        case c.Cancel():
            return Decision((), "replayed", keeps=False)
        case _:
            return Rejection("wrong_state", "change", "instance", "?", f"it is {state.status}")


_TABLE: dict[type, Callable[[TokenGame, Any, float], str | Rejection]] = {
    c.LeaseJob: lambda game, command, chance: jobs.lease(game, command),
    c.RecordJob: jobs.record,
    c.ReserveBudget: lambda game, command, chance: agent_budgets.reserved(game, command),
    c.Correlate: lambda game, command, chance: external_triggers.correlate(game, command),
    c.FireTimer: lambda game, command, chance: external_triggers.fire(game, command),
    c.ClaimTask: lambda game, command, chance: human_tasks.claim(game, command),
    c.UnclaimTask: lambda game, command, chance: human_tasks.unclaim(game, command),
    c.DelegateTask: lambda game, command, chance: human_tasks.delegate(game, command),
    c.ReassignTask: lambda game, command, chance: human_tasks.reassign(game, command),
    c.CompleteTask: lambda game, command, chance: external_triggers.complete_task(game, command),
    c.NoteOnTask: lambda game, command, chance: external_triggers.note_on_task(game, command),
    c.EndCall: lambda game, command, chance: external_triggers.end_call(game, command),
    c.Escalate: lambda game, command, chance: external_triggers.escalate(game, command),
    c.Suspend: lambda game, command, chance: operator_commands.suspend(game, command),
    c.Resume: lambda game, command, chance: operator_commands.resume(game, command),
    c.ChangeCarrier: lambda game, command, chance: operator_commands.change_carrier(game, command),
    c.RaiseIncident: lambda game, command, chance: operator_commands.raise_incident(game, command),
}
_ACTS: dict[type, Callable[[TokenGame, Any], str | Rejection]] = {
    c.Cancel: operator_commands.cancel,
    c.Modify: operator_commands.modify,
    c.RetryIncident: operator_commands.retry,
    c.ResolveIncident: operator_commands.resolve,
}
