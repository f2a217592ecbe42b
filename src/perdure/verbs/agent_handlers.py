"""Agents as handlers: the contract of `execution.agent`, the mark of an agent, and the kinds of agents."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, get_args

import msgspec
from msgspec import UNSET, UnsetType

from perdure.agent_usage import Budget, Price, micros
from perdure.human_tasks import TaskContract
from perdure.verb_contract import ConsequenceTier
from perdure.verbs.handlers import MARK, Call, VerbMark
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.task_section_reader import read_task

MAX_TOKENS = 1_000_000_000
MAX_AMOUNT = Decimal(1_000_000_000)
DEFAULT_REQUESTS = 50
MAX_REQUESTS = 1000
MAX_CALLS = 20
"""The attempts that a circuit breaker looks at."""
TIERS: tuple[ConsequenceTier, ...] = get_args(ConsequenceTier)


class BreakerRule(msgspec.Struct, frozen=True):
    """When nobody asks an agent any more: of the latest attempts, at least `calls`, this share has failed."""

    failures: float = 0.5
    calls: int = 5
    open_seconds: float = 60.0
    successes: int = 1
    """How many trials must end well before it is closed again."""
    trial_seconds: float = 300.0
    """After how long somebody else may try, when who tries is not heard of."""


class AgentContract(msgspec.Struct, frozen=True):
    """What the agent of a verb may use and do. The budget is that of the whole runbook, or process, it works for."""

    max_tokens: int | None = None
    max_cost: int | None = None
    max_requests: int = DEFAULT_REQUESTS
    timeout_seconds: float | None = None
    confidence: float | None = None
    """Below it, or when it says nothing of it, what the agent says is a proposal that a person decides upon."""
    ask: str = ""
    """The group that is asked then."""
    allow: tuple[str, ...] = ()
    """Patterns of the verbs it may add; any when there are none."""
    tier: ConsequenceTier = "reviewable"
    """Steps above it are proposed, never added."""
    prices: dict[str, Price] = {}
    questions: TaskContract | UnsetType = UNSET
    """For whom its questions are; the group `ask` where nothing else is said. Absent from the hash where not said."""

    breaker: BreakerRule | UnsetType = UNSET
    attempt_tokens: int | UnsetType = UNSET
    """What one attempt may use at most, and reserves before it begins; all that is left where nothing is said."""
    attempt_cost: int | UnsetType = UNSET

    @property
    def attempt(self) -> Budget:
        """What one attempt may use at most."""
        return Budget(self.attempt_tokens or None, self.attempt_cost or None)

    @property
    def budget(self) -> Budget:
        return Budget(self.max_tokens, self.max_cost)


class Agent(ABC):
    """An agent of your own: subclass it, and write `decide`. Whatever it asks of a model it tells with `call.used`.

    `call.context` says how far the runbook has come, when the verb is a decision.
    """

    name: str = ""

    @abstractmethod
    async def decide(self, call: Call) -> Any:
        """A `Decide`, or the result of the verb."""


class MarkedAgent:
    """An agent with what is said about it, marked for a verb."""

    def __init__(
        self,
        inner: Any,
        *,
        name: str = "",
        prices: Mapping[str, Price] | None = None,
        prompt: Callable[[Call], Any] | None = None,
        output: Callable[[Any], Any] | None = None,
    ) -> None:
        self.inner = inner
        self.name = name
        self.prices: Mapping[str, Price] = prices or {}
        self.prompt = prompt
        self.output = output


def agent(
    verb: str,
    inner: Any,
    *,
    version: int | None = None,
    name: str = "",
    prices: Mapping[str, tuple[str, str]] | None = None,
    prompt: Callable[[Call], Any] | None = None,
    output: Callable[[Any], Any] | None = None,
) -> MarkedAgent:
    """Marks an agent as the handler of a verb: a LangGraph graph, a pydantic-ai agent, or an `Agent` of your own.

    `prices` gives, for a model, what a million tokens in and out cost. `prompt` makes of a call what the agent is
    given (a text, or the state a graph begins with); `output` makes the verb's result of what it gave back.
    """
    table = {model: Price(*(micros(amount_of(each)) for each in pair)) for model, pair in (prices or {}).items()}
    marked = MarkedAgent(inner, name=name, prices=table, prompt=prompt, output=output)
    setattr(marked, MARK, (VerbMark(verb, version),))
    return marked


def is_agent(candidate: Any) -> bool:
    """Whether something can be asked as an agent; told by what it can do, not by where it comes from."""
    if isinstance(candidate, type) or inspect.isroutine(candidate):
        return False
    if isinstance(candidate, MarkedAgent | Agent):
        return True
    return (
        is_graph(candidate) or is_runner(candidate) or inspect.iscoroutinefunction(getattr(candidate, "decide", None))
    )


def is_graph(candidate: Any) -> bool:
    """Whether it is a compiled graph (or anything else that is invoked with a state)."""
    return all(callable(getattr(candidate, name, None)) for name in ("ainvoke", "invoke", "get_graph"))


def is_runner(candidate: Any) -> bool:
    """Whether it is run with a prompt and gives back an output and its usage."""
    return all(callable(getattr(candidate, name, None)) for name in ("run", "run_sync", "iter"))


def amount_of(text: str | int | Decimal) -> Decimal:
    """An amount as it is written, exactly; ValueError when it is none."""
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"'{str(text)[:40]}' is not an amount") from None
    if not amount.is_finite() or not 0 <= amount <= MAX_AMOUNT:
        raise ValueError(f"'{str(text)[:40]}' is not an amount from 0 to {MAX_AMOUNT:,}")
    if amount != amount.quantize(Decimal("0.000001")):
        raise ValueError(f"'{str(text)[:40]}' has more than six decimals")
    return amount


def read_agent(fields: Fields) -> AgentContract:
    """The contract as declared; whatever is wrong is in the report."""
    questions, breaker = fields.child("questions", "task"), fields.child("breaker", "breaker")
    contract = AgentContract(
        max_tokens=fields.integer("max_tokens", 0, 1, MAX_TOKENS) if "max_tokens" in fields else None,
        max_cost=_amount(fields, "max_cost"),
        max_requests=fields.integer("max_requests", DEFAULT_REQUESTS, 1, MAX_REQUESTS),
        timeout_seconds=fields.duration("timeout"),
        confidence=fields.fraction("confidence", 0.0) if "confidence" in fields else None,
        ask=fields.text("ask"),
        allow=fields.texts("allow"),
        tier=fields.word("tier", TIERS, "reviewable"),
        prices={model: _price(fields, node) for model, node in fields.mapping("prices").items()},
        questions=read_task(questions) if questions is not None else UNSET,
        attempt_tokens=fields.integer("attempt_tokens", 0, 1, MAX_TOKENS) if "attempt_tokens" in fields else UNSET,
        attempt_cost=_set(_amount(fields, "attempt_cost")),
        breaker=_breaker(breaker, fields.duration("timeout")) if breaker is not None else UNSET,
    )
    if contract.confidence is not None and not contract.ask:
        reason = "nothing says who is asked when the agent is not confident enough"
        fields.wrong(fields.get("confidence"), "agent", reason, "Add ask: with the name of a group.")
    return contract


def _set(amount: int | None) -> int | UnsetType:
    return UNSET if amount is None else amount


def _breaker(fields: Fields, timeout: float | None) -> BreakerRule:
    rule = BreakerRule()
    return BreakerRule(
        fields.fraction("failures", rule.failures), fields.integer("calls", rule.calls, 1, MAX_CALLS),
        fields.duration("open") or rule.open_seconds, fields.integer("successes", rule.successes, 1, MAX_CALLS),
        timeout or rule.trial_seconds,
    )  # fmt: skip


def _price(owner: Fields, node: Any) -> Price:
    fields = Fields(node, "price", owner.file, owner.report)
    for key in ("input", "output"):
        if key not in fields:
            fields.missing(key)
    return Price(_amount(fields, "input") or 0, _amount(fields, "output") or 0)


def _amount(fields: Fields, key: str) -> int | None:
    node = fields.get(key)
    if node is None:
        return None
    if isinstance(node.value, float):
        fields.wrong(node, "amount", f"'{key}' is a binary fraction", f'Write it as a text: "{node.value}".')
        return None
    try:
        return micros(amount_of(node.value if isinstance(node.value, int) else str(node.value)))
    except ValueError as error:
        fields.wrong(node, "amount", str(error))
        return None
