"""Budgets of calls, runbooks and instances: what their agents may use, have used and have reserved; and setting it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from perdure.agent_usage import Budget, Ledger, Spent, bounds, money
from perdure.app.runbooks.usage_views import UsageView, usage_view
from perdure.app.runtime import Runtime
from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.state import Instance
from perdure.errors import RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.runbooks.executor.call_executor import KIND as RUNBOOK
from perdure.runbooks.machine import commands as runbook_commands
from perdure.runbooks.machine.state import Runbook, Step
from perdure.sources import parse_id
from perdure.verbs import Verb


class ReservedView(msgspec.Struct, frozen=True):
    """What an attempt under way may use at most. `place` is a step, or an element of a process."""

    place: str
    tokens: int | None
    cost: str | None


class BudgetView(msgspec.Struct, frozen=True):
    """What all agents of a call, a runbook or an instance may use; None where nothing bounds it.

    `is_set`: somebody set it, else its verbs say so. `waiting` are steps or elements for which nothing is left.
    """

    id: str
    max_tokens: int | None
    max_cost: str | None
    is_set: bool
    used: UsageView | None = None
    reserved: list[ReservedView] = []
    waiting: list[str] = []


async def budget_of(runtime: Runtime, origin: Origin, id: str) -> BudgetView:
    aggregate = await _read(runtime, origin, id)
    return _view(id, aggregate, await _declared(runtime, aggregate))


async def set_budget(
    runtime: Runtime, origin: Origin, id: str, after: Budget, *, loosens: bool, reason: str = ""
) -> BudgetView:
    """Set it in one commit, in which whoever waited for it becomes ready."""
    aggregate = await _read(runtime, origin, id)
    declared = await _declared(runtime, aggregate)
    if aggregate.kind == INSTANCE:
        await runtime.engine.set_budget(aggregate.id, origin, declared, after, loosens=loosens, reason=reason)
    else:
        asked = Prepared(
            runbook_commands.SetBudget(declared, after.max_tokens, after.max_cost, loosens, reason)
        )  # fmt: skip
        await runtime.kernel.ask(RUNBOOK, aggregate.id, origin, asked)
    return _view(id, await _read(runtime, origin, id), declared)


async def _read(runtime: Runtime, origin: Origin, id: str) -> Aggregate:
    aggregate = await runtime.kernel.read(parse_id(id), origin)
    if aggregate.kind not in (INSTANCE, RUNBOOK):
        fact = "it is no call, runbook or instance"
        raise RejectedError(Rejection("not_found", "find the budget of", "work", id, fact))
    return aggregate


async def _declared(runtime: Runtime, aggregate: Aggregate) -> Budget:
    """The widest bounds that verbs of the work declare; None where one of its agents has none, or it has no agents."""
    return widest(await _verbs(runtime, aggregate))


async def _verbs(runtime: Runtime, aggregate: Aggregate) -> list[Verb]:
    texts = runtime.conductor.texts
    if aggregate.kind == RUNBOOK:
        state: Runbook = aggregate.state
        pins = {(step.verb, step.version, step.definition) for step in state.steps if step.verb}
    else:
        definition = await runtime.instances.loaded(aggregate)
        pins = {(each.verb, each.version, each.definition) for each in definition.deployed.bindings.values()}
    return [verb for pin in sorted(pins) if (verb := texts.find(*pin)) is not None]


def widest(verbs: Iterable[Verb]) -> Budget:
    """The widest of the bounds that agents among verbs declare."""
    budgets = [verb.execution.agent.budget for verb in verbs if verb.execution.agent is not None]
    tokens = [each.max_tokens for each in budgets if each.max_tokens is not None]
    costs = [each.max_cost for each in budgets if each.max_cost is not None]
    return Budget(max(tokens, default=None), max(costs, default=None))


def _view(id: str, aggregate: Aggregate, declared: Budget) -> BudgetView:
    state: Runbook | Instance = aggregate.state
    ledger, spent = state.ledger or Ledger(), state.spent
    budget = bounds(ledger, declared)
    reserved = [ReservedView(_place(aggregate, each.place), each.tokens, _money(each.cost)) for each in ledger.reserved]
    return BudgetView(
        id, budget.max_tokens, _money(budget.max_cost), ledger.max_tokens is not None or ledger.max_cost is not None,
        _usage(spent), reserved, _waiting(aggregate),
    )  # fmt: skip


def _usage(spent: Spent | None) -> UsageView | None:
    return usage_view(spent)


def _money(amount: int | None) -> str | None:
    return None if amount is None else money(amount)


def _place(aggregate: Aggregate, number: int) -> str:
    if aggregate.kind == INSTANCE:
        node = aggregate.state.nodes.get(number)
        return node.element if node is not None else str(number)
    step: Step = aggregate.state.steps[number - 1]
    return step.links.name if step.links is not None else step.verb


def _waiting(aggregate: Aggregate) -> list[str]:
    if aggregate.kind == INSTANCE:
        nodes = aggregate.state.nodes.values()
        return [each.element for each in nodes if each.job is not None and _is_held(each.job.status, each.job.hold)]
    ledger = aggregate.state.ledger
    return [_place(aggregate, number) for number in (ledger.waiting if ledger is not None else ())]


def _is_held(status: str, hold: object) -> bool:
    return status == "pending" and hold is not None
