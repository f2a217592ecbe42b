"""The worst case of a process before it begins: calls of models, money, writes and people's tasks, at most."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from perdure.agent_usage import Prices, money
from perdure.app.budgets import widest
from perdure.bpmn import model as m
from perdure.bpmn.execution_bounds import execution_bounds
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.verbs import Verb

Find = Callable[[str, int], Verb | None]


class ElementCase(msgspec.Struct, frozen=True):
    """One task of the process at its worst; None is unbounded. `times` is how often it is begun, attempts aside."""

    element: str
    verb: str
    times: int | None
    calls: int | None = 0
    tokens: int | None = 0
    cost: str | None = "0.00"
    writes: int | None = 0
    tasks: int | None = 0


class WorstCase(msgspec.Struct, frozen=True):
    """What one instance may do at most, failed attempts included; None is unbounded, and `reasons` say why.

    `tokens` and `cost` are at most the budget of its agents, which somebody may loosen while it runs.
    """

    process: str
    version: int
    calls: int | None
    tokens: int | None
    cost: str | None
    writes: int | None
    tasks: int | None
    reasons: list[str]
    elements: list[ElementCase]


class _Case(msgspec.Struct, frozen=True):
    element: str
    verb: str
    times: int | None
    calls: int | None = 0
    tokens: int | None = 0
    cost: int | None = 0
    writes: int | None = 0
    tasks: int | None = 0


def worst_case(process: str, version: int, deployed: Deployed, find: Find) -> WorstCase:
    """Of one version, by its graph and what its verbs declare."""
    bounds = execution_bounds(deployed.process)
    cases = [_case(node, bounds.times.get(node.id), deployed, find) for node in _work(deployed.process.body)]
    calls = [f"process {node.process}, which {node.id} calls" for node in _work(deployed.process.body)
             if isinstance(node, m.CallActivity)]  # fmt: skip
    verbs = [verb for each in deployed.bindings.values() if (verb := find(each.verb, each.version)) is not None]
    budget = widest(verbs)
    tokens = _least(_total(each.tokens for each in cases), budget.max_tokens)
    cost = _least(_total(each.cost for each in cases), budget.max_cost)
    return WorstCase(
        process, version, _total(each.calls for each in cases), tokens, _money(cost),
        _total(each.writes for each in cases), _total(each.tasks for each in cases), [*bounds.reasons, *calls],
        [_shown(each) for each in cases],
    )  # fmt: skip


def _work(body: m.Scope) -> Iterable[m.Task | m.CallActivity]:
    for node in body.nodes:
        if isinstance(node, m.SubProcess):
            yield from _work(node.body)
        elif isinstance(node, m.Task | m.CallActivity):
            yield node


def _case(node: m.Task | m.CallActivity, times: int | None, deployed: Deployed, find: Find) -> _Case:
    if isinstance(node, m.CallActivity):
        return _Case(node.id, "", times, None, None, None, None, None)
    if node.kind == "user":
        return _Case(node.id, "", times, tasks=times)
    binding = deployed.bindings.get(node.type)
    if binding is None:
        return _Case(node.id, "", times)
    verb = find(binding.verb, binding.version)
    attempts = _times(times, node.retries or binding.retry.max_attempts)
    writes = 0 if binding.effects == "none" else times if binding.effects == "store" else attempts
    if verb is None or verb.execution.agent is None:
        return _Case(node.id, binding.verb, times, writes=writes)
    contract = verb.execution.agent
    tokens = _times(attempts, contract.attempt.max_tokens)
    cost = _times(attempts, contract.attempt.max_cost)
    if cost is None and tokens is not None:
        cost = _priced(tokens, contract.prices)
    asks = times if contract.confidence is not None else 0
    return _Case(
        node.id, binding.verb, times, _times(attempts, contract.max_requests), tokens, cost, writes, asks
    )  # fmt: skip


def _priced(tokens: int, prices: Prices) -> int | None:
    """What so many tokens cost at most, by the dearest price; None where none is known."""
    rates = [rate for price in prices.values() for rate in (price.input, price.output)]
    return -(-tokens * max(rates) // 1_000_000) if rates else None


def _shown(case: _Case) -> ElementCase:
    return ElementCase(
        case.element, case.verb, case.times, case.calls, case.tokens, _money(case.cost), case.writes, case.tasks
    )  # fmt: skip


def _money(amount: int | None) -> str | None:
    return None if amount is None else money(amount)


def _least(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _total(parts: Iterable[int | None]) -> int | None:
    total = 0
    for each in parts:
        if each is None:
            return None
        total += each
    return total


def _times(one: int | None, other: int | None) -> int | None:
    if one == 0 or other == 0:
        return 0
    return None if one is None or other is None else one * other
