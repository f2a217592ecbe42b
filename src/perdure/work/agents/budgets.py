"""Budgets: what an agent may still use, before it is asked, while it works, and after."""

from __future__ import annotations

import msgspec

from perdure.agent_usage import (
    OVER_BUDGET,
    RESERVED,
    RESERVED_SECONDS,
    Budget,
    Meter,
    ModelUse,
    Prices,
    Reservation,
    Spent,
    excess,
    is_exhausted,
    money,
    priced,
)
from perdure.errors import BusinessError
from perdure.verbs.agent_handlers import AgentContract
from perdure.work.failure_classes import Failed

UNSURE = "agent.unsure"
EXHAUSTED = "agent.exhausted"
"""The budget of the whole work is used up: the step waits, and goes on when it is loosened."""


class OverBudgetError(BusinessError):
    """What the agents of a runbook may use is used up, or one attempt used more than it may."""

    def __init__(self, message: str, code: str = OVER_BUDGET) -> None:
        super().__init__(code, message)


class Left(msgspec.Struct, frozen=True):
    """What one attempt may use; None where nothing bounds it."""

    tokens: int | None
    requests: int
    cost: int | None = None
    code: str = OVER_BUDGET
    """What it is called when it is used up."""


def left(contract: AgentContract, spent: Spent, prices: Prices, reserved: Reservation | None = None) -> Left:
    """What is left: what the attempt has reserved. OverBudgetError when nothing is: no model is asked then."""
    tokens = cost = None
    if reserved is not None:
        tokens = _least(reserved.tokens, _affordable(reserved.cost, prices))
        is_whole = contract.attempt == Budget()
        return Left(tokens, contract.max_requests, reserved.cost, EXHAUSTED if is_whole else OVER_BUDGET)
    if contract.max_tokens is not None:
        tokens = contract.max_tokens - spent.tokens
        if tokens <= 0:
            raise OverBudgetError(
                f"The agents may use {contract.max_tokens:,} tokens in all and have used {spent.tokens:,}. No model "
                "was asked. Raise max_tokens of the verb, or go on by hand."
            )
    if contract.max_cost is not None:
        cost = contract.max_cost - spent.cost
        if cost <= 0:
            raise OverBudgetError(
                f"The agents may cost {money(contract.max_cost)} in all and have cost {money(spent.cost)}. No "
                "model was asked. Raise max_cost of the verb, or go on by hand."
            )
        tokens = _least(tokens, _affordable(cost, prices))
    return Left(tokens, contract.max_requests, cost)


def _affordable(cost: int | None, prices: Prices) -> int | None:
    """However tokens are shared out, so many cannot cost less; None where no price tells."""
    rates = [rate for price in prices.values() for rate in (price.input, price.output) if rate]
    return cost * 1_000_000 // min(rates) + 1 if cost is not None and rates else None


def _least(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def check_next(left: Left, meter: Meter) -> None:
    """Stop before another request when the budget is used up by then."""
    if left.tokens is not None and meter.tokens >= left.tokens:
        used = f"{meter.tokens:,} tokens were used and {left.tokens:,} were left"
        raise OverBudgetError(f"The agent was stopped before it asked a model again: {used}.", left.code)
    if meter.requests >= left.requests:
        raise OverBudgetError(f"The agent was stopped: it asked models {left.requests} times already.")


def check_after(
    contract: AgentContract, spent: Spent, uses: tuple[ModelUse, ...], reserved: Reservation | None = None
) -> None:
    """What was used must be told, and be within what was reserved, for the answer to count."""
    if sum(use.requests for use in uses) > contract.max_requests:
        raise OverBudgetError(f"The agent asked models more than {contract.max_requests} times in one attempt.")
    budget = contract.budget
    if reserved is not None:
        tokens = None if reserved.tokens is None else spent.tokens + reserved.tokens
        budget = Budget(tokens, None if reserved.cost is None else spent.cost + reserved.cost)
    if words := excess(budget, spent, uses):
        is_whole = reserved is not None and contract.attempt == Budget() and is_exhausted(budget, spent, uses)
        raise OverBudgetError(words, EXHAUSTED if is_whole else OVER_BUDGET)


def all_priced(meter: Meter, prices: Prices) -> tuple[ModelUse, ...]:
    return tuple(priced(use, prices) for use in meter.uses)


def held(told: str) -> Failed:
    """What becomes of an attempt for which there is no room: its step waits, and no attempt counts."""
    code, _, words = told.partition(" ")
    seconds = RESERVED_SECONDS if code == RESERVED else None
    return Failed("permanent_business", code, words, seconds, is_hold=True)
