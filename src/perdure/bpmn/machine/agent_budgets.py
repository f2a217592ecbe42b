"""Budgets of instances: reserved before an agent is asked, released when its attempt ends, set by somebody.

The states of a job are those of a step of a runbook.
"""

from __future__ import annotations

from perdure.agent_usage import (
    OVER_BUDGET,
    RESERVED,
    UNUSED,
    Budget,
    Reservation,
    bounds,
    refused_budget,
    reservation_at,
    reserve,
)
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.activities import offer_again
from perdure.bpmn.machine.state import Instance
from perdure.bpmn.machine.token_game_state import TokenGame
from perdure.errors import Rejection

WAITS = frozenset({OVER_BUDGET, RESERVED})


def reserved(game: TokenGame, command: c.ReserveBudget) -> str:
    """Whether an attempt may begin; where it may not, the answer is a code and words, and nothing has changed."""
    node = game.state.nodes.get(command.node)
    job = node.job if node is not None else None
    is_current = job is not None and (job.attempt, job.worker) == (command.attempt, command.job_worker)
    if job is None or job.status != "leased" or not is_current:
        return "gone"
    made = room_for(game.state, command.node, command.budget, command.wanted)
    if not isinstance(made, Reservation):
        return " ".join(made)
    if made != reservation_at(game.state.ledger, command.node):
        game.emit(e.BudgetReserved(command.node, command.attempt, game.now, made.tokens, made.cost))
    return "reserved"


def room_for(state: Instance, node: int, declared: Budget, wanted: Budget) -> Reservation | tuple[str, str]:
    return reserve(state.ledger, declared, state.spent, node, wanted.max_tokens, wanted.max_cost)


def settle(game: TokenGame, number: int) -> None:
    """The end of an attempt: its reservation is free, and jobs that wait for others look again."""
    if reservation_at(game.state.ledger, number) is not None:
        game.emit(e.BudgetReleased(number, game.now))
        _wake(game, (RESERVED,))


def set_budget(game: TokenGame, command: c.SetBudget, by: str) -> str | Rejection:
    before = bounds(game.state.ledger, command.declared)
    after = Budget(command.max_tokens, command.max_cost)
    if refused := refused_budget(before, after, command.loosens, command.reason):
        return Rejection(refused[0], refused[1], "instance", "?", *refused[2:])
    ledger = game.state.ledger or UNUSED
    tokens = ledger.max_tokens if command.max_tokens is None else command.max_tokens
    cost = ledger.max_cost if command.max_cost is None else command.max_cost
    game.emit(e.BudgetSet(game.now, by, tokens, cost, command.reason, command.loosens))
    _wake(game, tuple(WAITS))
    return "set"


def _wake(game: TokenGame, codes: tuple[str, ...]) -> None:
    for node in list(game.state.nodes.values()):
        job = node.job
        is_held = job is not None and job.hold is not None and job.hold.code in codes and job.status == "pending"
        if is_held and node.kind == "job" and node.incident is None:
            offer_again(game, node.number)
