"""Operations on budgets of agents: read, tighten (which is free) and loosen (which is a decision)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from perdure.agent_usage import Budget, micros
from perdure.app.budgets import BudgetView, budget_of, set_budget
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import MAX_TEXT, ById, Id
from perdure.app.operations.verb_scopes import EVERY_VERB_OF_ID
from perdure.errors import RejectedError, Rejection
from perdure.verbs.agent_handlers import MAX_TOKENS, amount_of

TAG = "budgets"
Tokens = Annotated[int | None, Meta(description="Tokens in and out, in all; default: as it is.")]
Cost = Annotated[str, Meta(max_length=40, description='An amount such as "0.50"; default: as it is.')]


class TightenBudget(Request, frozen=True):
    """A call, a runbook or an instance, and how little its agents may use in all."""

    id: Id
    max_tokens: Tokens = None
    max_cost: Cost = ""


class LoosenBudget(Request, frozen=True):
    """A call, a runbook or an instance, how much its agents may use in all, and why."""

    id: Id
    reason: Annotated[str, Meta(max_length=MAX_TEXT, description="Why; it stays in the journal.")]
    max_tokens: Tokens = None
    max_cost: Cost = ""


@operation("budget.read", Route("GET", "/budgets/{id}"), tag=TAG, scope=EVERY_VERB_OF_ID)
async def show_budget(context: Context, request: ById) -> BudgetView:
    """What all agents of a call, a runbook or an instance may use, have used and have reserved, and who waits."""
    return await budget_of(context.runtime, context.origin, request.id)


@operation("budget.tighten", Route("POST", "/budgets/{id}/tighten", needs_body=True), tag=TAG, scope=EVERY_VERB_OF_ID)
async def tighten_budget(context: Context, request: TightenBudget) -> BudgetView:
    """Let agents use less. What would be wider than now is refused."""
    after = _read(request.id, request.max_tokens, request.max_cost)
    return await set_budget(context.runtime, context.origin, request.id, after, loosens=False)


@operation("budget.loosen", Route("POST", "/budgets/{id}/loosen", needs_body=True), tag=TAG, scope=EVERY_VERB_OF_ID)
async def loosen_budget(context: Context, request: LoosenBudget) -> BudgetView:
    """Let agents use more, with a reason. What waits for it goes on."""
    after = _read(request.id, request.max_tokens, request.max_cost)
    return await set_budget(
        context.runtime, context.origin, request.id, after, loosens=True, reason=request.reason
    )  # fmt: skip


def _read(id: str, tokens: int | None, cost: str) -> Budget:
    fact = "" if tokens is None or 1 <= tokens <= MAX_TOKENS else f"max_tokens is not from 1 to {MAX_TOKENS:,}"
    try:
        amount = micros(amount_of(cost)) if cost else None
    except ValueError as error:
        fact, amount = str(error), None
    if fact:
        raise RejectedError(Rejection("invalid", "set the budget of", "work", id, fact))
    return Budget(tokens, amount)
