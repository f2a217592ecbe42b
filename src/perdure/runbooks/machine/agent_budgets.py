"""Budgets of runbooks: reserved before an agent is asked, released when its attempt ends, set by somebody.

| a step | what happens | next |
|---|---|---|
| running | there is room for what it may use at most | reserved |
| running | others have reserved what is left | held, until one of them ends |
| running | nothing is left | held, until the budget is loosened |
| reserved | its attempt ends | what it used is counted, and those that are held look again |
| held | the budget is set | ready |
"""

from __future__ import annotations

from msgspec.structs import replace

from perdure.agent_usage import (
    OVER_BUDGET,
    RESERVED,
    UNUSED,
    Budget,
    Ledger,
    Reservation,
    bounds,
    refused_budget,
    released,
    reservation_at,
    reserve,
    with_reservation,
    with_waiting,
    without_waiting,
)
from perdure.errors import Rejection
from perdure.journal import Decision, Origin
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.state import ENDED, Runbook

WAITS = frozenset({OVER_BUDGET, RESERVED})


def reserved(state: Runbook, command: c.ReserveBudget, now: int) -> Decision:
    """Whether an attempt may begin; where it may not, the answer is a code and words, and nothing has changed."""
    step = state.steps[command.step - 1]
    frame = step.frame
    if step.status != "running" or frame is None or (frame.attempt, frame.worker) != (command.attempt, command.worker):
        return Decision((), "gone", keeps=False)
    made = room_for(state, command.step, command.budget, command.wanted)
    if not isinstance(made, Reservation):
        return Decision((), " ".join(made), keeps=False)
    if made == reservation_at(state.ledger, command.step):
        return Decision((), "reserved", keeps=False)
    return Decision((e.BudgetReserved(command.step, command.attempt, now, made.tokens, made.cost),), "reserved")


def room_for(state: Runbook, step: int, declared: Budget, wanted: Budget) -> Reservation | tuple[str, str]:
    return reserve(state.ledger, declared, state.spent, step, wanted.max_tokens, wanted.max_cost)


def settled(state: Runbook, step: int, now: int) -> tuple[e.Entry, ...]:
    """The end of an attempt: its reservation is free, and steps that wait for others look again."""
    if reservation_at(state.ledger, step) is None:
        return ()
    return (e.BudgetReleased(step, now), *_woken(state, now, (RESERVED,), step))


def set_budget(state: Runbook, command: c.SetBudget, origin: Origin, now: int) -> Decision | Rejection:
    if state.status in ENDED or state.status == "draft":
        return Rejection("wrong_state", "set the budget of", "call", "?", f"it is {state.status}")
    before = bounds(state.ledger, command.declared)
    after = Budget(command.max_tokens, command.max_cost)
    if refused := refused_budget(before, after, command.loosens, command.reason):
        return Rejection(refused[0], refused[1], "call", "?", *refused[2:])
    ledger = state.ledger or UNUSED
    tokens = ledger.max_tokens if command.max_tokens is None else command.max_tokens
    cost = ledger.max_cost if command.max_cost is None else command.max_cost
    told = e.BudgetSet(now, origin.principal, tokens, cost, command.reason, command.loosens)
    return Decision((told, *_woken(state, now, tuple(WAITS))), "set")


def _woken(state: Runbook, now: int, codes: tuple[str, ...], but: int = 0) -> tuple[e.Entry, ...]:
    waiting = state.ledger.waiting if state.ledger is not None else ()
    found = []
    for number in waiting:
        step = state.steps[number - 1]
        is_held = step.hold is not None and step.hold.code in codes and step.status in ("pending", "parked")
        if number != but and is_held and step.incident is None:
            found.append(e.StepReady(number, now))
    return tuple(found)


# --- what entries mean ------------------------------------------------------------------------------------------------


def budget_reserved(state: Runbook, entry: e.BudgetReserved) -> Runbook:
    made = Reservation(entry.step, entry.tokens, entry.cost)
    return replace(state, ledger=with_reservation(state.ledger, made))


def budget_released(state: Runbook, entry: e.BudgetReleased) -> Runbook:
    return replace(state, ledger=released(state.ledger, entry.step))


def budget_set(state: Runbook, entry: e.BudgetSet) -> Runbook:
    ledger = replace(state.ledger or UNUSED, max_tokens=entry.max_tokens, max_cost=entry.max_cost)
    return replace(state, ledger=ledger)


def noted_waiting(state: Runbook, step: int, code: str) -> Runbook:
    return replace(state, ledger=with_waiting(state.ledger, step)) if code in WAITS else state


def cleared(state: Runbook, step: int) -> Runbook:
    """A step that waits for no room any more, or that has ended, holds nothing."""
    ledger: Ledger | None = without_waiting(state.ledger, step)
    if state.steps[step - 1].status in ENDED:
        ledger = released(ledger, step)
    return state if ledger is state.ledger else replace(state, ledger=ledger)
