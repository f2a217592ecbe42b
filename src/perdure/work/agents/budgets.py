"""Budgets: what an agent may still use, before it is asked, while it works, and after."""

from __future__ import annotations

import msgspec

from perdure.agent_usage import OVER_BUDGET, Meter, ModelUse, Prices, Spent, excess, money, priced
from perdure.errors import BusinessError
from perdure.verbs.agent_handlers import AgentContract

UNSURE = "agent.unsure"


class OverBudgetError(BusinessError):
    """What the agents of a runbook may use is used up."""

    def __init__(self, message: str) -> None:
        super().__init__(OVER_BUDGET, message)


class Left(msgspec.Struct, frozen=True):
    """What one attempt may use; None where nothing bounds it."""

    tokens: int | None
    requests: int
    cost: int | None = None


def left(contract: AgentContract, spent: Spent, prices: Prices) -> Left:
    """What is left of the budget; OverBudgetError when that is nothing, so that no model is asked in vain."""
    tokens = cost = None
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
        rates = [rate for price in prices.values() for rate in (price.input, price.output) if rate]
        if rates:
            # However the tokens are shared out, so many cannot cost less than what is left.
            most = cost * 1_000_000 // min(rates) + 1
            tokens = most if tokens is None else min(tokens, most)
    return Left(tokens, contract.max_requests, cost)


def check_next(left: Left, meter: Meter) -> None:
    """Stop before another request when the budget is used up by then."""
    if left.tokens is not None and meter.tokens >= left.tokens:
        used = f"{meter.tokens:,} tokens were used and {left.tokens:,} were left"
        raise OverBudgetError(f"The agent was stopped before it asked a model again: {used}.")
    if meter.requests >= left.requests:
        raise OverBudgetError(f"The agent was stopped: it asked models {left.requests} times already.")


def check_after(contract: AgentContract, spent: Spent, uses: tuple[ModelUse, ...]) -> None:
    """What was used must be told, and be within the budget, for the answer to count."""
    if sum(use.requests for use in uses) > contract.max_requests:
        raise OverBudgetError(f"The agent asked models more than {contract.max_requests} times in one attempt.")
    if words := excess(contract.budget, spent, uses):
        raise OverBudgetError(words)


def all_priced(meter: Meter, prices: Prices) -> tuple[ModelUse, ...]:
    return tuple(priced(use, prices) for use in meter.uses)
