"""The invocation of an agent: within its budget and time, metered in every outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.agent_usage import Meter, ModelUse, Price, Reservation, Spent
from perdure.errors import Transient
from perdure.human_tasks import AGENT
from perdure.verbs.agent_handlers import AgentContract, MarkedAgent, is_graph, is_runner
from perdure.verbs.compiled_verb import Verb
from perdure.verbs.handlers import Call, Decide, Result
from perdure.work.agents.answers import answer_of
from perdure.work.agents.budgets import Left, all_priced, check_after, left
from perdure.work.agents.graph_runner import Kept, invoke
from perdure.work.agents.prompt_runner import run
from perdure.work.agents.questions import Question

DEFAULT = AgentContract()


class Answered(msgspec.Struct, frozen=True):
    """What an agent said. With a `doubt`, why it is a proposal and no more."""

    decision: Decide
    doubt: str = ""
    flags: dict[str, Any] = {}


def is_decided(call: Call) -> bool:
    """Whether a person has said what the result is, so that no agent is asked."""
    return call._answer is not None and call._answer.is_result


def named(verb: Verb, function: Any) -> str:
    """Who an agent is."""
    inner = function.inner if isinstance(function, MarkedAgent) else function
    given = function.name if isinstance(function, MarkedAgent) else ""
    name = given or getattr(inner, "name", None)
    return f"{AGENT}{name if isinstance(name, str) and name else verb.name}"[:200]


def prices_of(verb: Verb, function: Any) -> Mapping[str, Price]:
    """What models cost: as the verb says, else as whoever made the agent says."""
    contract = verb.execution.agent or DEFAULT
    own = function.prices if isinstance(function, MarkedAgent) else {}
    return {**own, **contract.prices}


def uses_of(verb: Verb, function: Any, meter: Meter) -> tuple[ModelUse, ...]:
    """What was used, with what it cost."""
    return all_priced(meter, prices_of(verb, function))


async def ask(
    function: Any,
    verb: Verb,
    call: Call,
    meter: Meter,
    spent: Spent,
    kept: Kept | None = None,
    reserved: Reservation | None = None,
) -> Answered | Question:
    """One attempt. What it used is in the meter, also when this raises."""
    if (decided := call._answer) is not None and decided.is_result:
        return Answered(Decide(decided.value), flags=decided.flags)
    contract = verb.execution.agent or DEFAULT
    marked = function if isinstance(function, MarkedAgent) else MarkedAgent(function)
    meter.agent = named(verb, function)
    prices = prices_of(verb, function)
    budget = left(contract, spent, prices, reserved)
    try:
        async with asyncio.timeout(contract.timeout_seconds) as limit:
            output = await _output(marked, verb, call, meter, budget, kept)
    except TimeoutError:
        if not limit.expired():
            raise
        if meter.is_told:
            meter.add(ModelUse("", untold=1))  # whatever it waited for may have cost something
        raise Transient(f"The agent did not answer within {contract.timeout_seconds:g} seconds.") from None
    check_after(contract, spent, all_priced(meter, prices), reserved)
    if isinstance(output, Question):
        return output
    said = marked.output(output) if marked.output is not None else output
    flags = said.flags if isinstance(said, Result) else {}
    decision = answer_of(verb, said.data if isinstance(said, Result) else said)
    return Answered(decision, _doubt(contract, decision), flags)


async def _output(marked: MarkedAgent, verb: Verb, call: Call, meter: Meter, budget: Left, kept: Kept | None) -> Any:
    inner = marked.inner
    if is_graph(inner):
        return await invoke(marked, verb, call, meter, budget, kept)
    if is_runner(inner):
        return await run(marked, verb, call, meter, budget)
    return await inner.decide(call)


def _doubt(contract: AgentContract, decision: Decide) -> str:
    if contract.confidence is None:
        return ""
    if decision.confidence is None:
        return f"the agent does not say how sure it is, and {contract.confidence:g} is asked for"
    if decision.confidence < contract.confidence:
        return f"the agent is {decision.confidence:g} sure, and {contract.confidence:g} is asked for"
    return ""
