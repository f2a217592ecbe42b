"""Agent usage: values and sums of the tokens, money and time that agents of a runbook or a process used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Literal

import msgspec

MICRO = 1_000_000
MAX_MODEL = 200


class Price(msgspec.Struct, frozen=True):
    """What a million tokens cost, in millionths of the unit money is counted in."""

    input: int
    output: int


Prices = Mapping[str, Price]


class ModelUse(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What was asked of one model. A cost that cannot be told is None, never 0."""

    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0
    cost: int | None = None
    """In millionths of the unit that prices are given in."""
    untold: int = 0
    """Requests whose answer did not say what they used."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Used(msgspec.Struct, frozen=True, gc=False):
    """What one attempt used."""

    uses: tuple[ModelUse, ...] = ()
    duration: int = 0
    """In microseconds."""
    agent: str = ""


class Spent(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The sum over attempts, failed ones included."""

    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0
    cost: int = 0
    """Of those whose cost is known."""
    unknown: int = 0
    """How many attempts there were whose cost, or part of it, is not known: it comes on top."""
    duration: int = 0
    attempts: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Budget(msgspec.Struct, frozen=True, gc=False):
    """What the agents of a runbook, or of a process, may use in all. Cost in millionths."""

    max_tokens: int | None = None
    max_cost: int | None = None


class Reservation(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one attempt of the step, or job, at a place may use at most; None where nothing bounds it."""

    place: int
    tokens: int | None
    cost: int | None


class Ledger(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What attempts under way have reserved, the bounds somebody set in place of those of verbs, and who waits."""

    reserved: tuple[Reservation, ...] = ()
    max_tokens: int | None = None
    max_cost: int | None = None
    waiting: tuple[int, ...] = ()
    """Places that wait until there is room."""


NOTHING = Spent()
UNUSED = Ledger()
OVER_BUDGET = "agent.budget"
RESERVED = "agent.reserved"
"""Others have reserved what is left: there is room when they end."""
RESERVED_SECONDS = 30.0
"""After how long a place that waits for others looks again by itself."""


class Meter:
    """What one attempt has used so far, as it is told."""

    __slots__ = ("_uses", "agent")

    def __init__(self) -> None:
        self._uses: list[ModelUse] = []
        self.agent = ""

    def add(self, use: ModelUse) -> None:
        self._uses.append(use)

    @property
    def uses(self) -> tuple[ModelUse, ...]:
        return summed(self._uses)

    @property
    def tokens(self) -> int:
        return sum(use.tokens for use in self._uses)

    @property
    def requests(self) -> int:
        return sum(use.requests for use in self._uses)

    @property
    def is_told(self) -> bool:
        """Whether every model said what it used."""
        return not any(use.untold for use in self._uses)


def priced(use: ModelUse, prices: Prices) -> ModelUse:
    """The use with its cost: by its price, else as it was told; unknown when a model did not say what it used."""
    price = prices.get(use.model)
    if price is None and use.cost is not None:
        return use
    if price is None or use.untold:
        return msgspec.structs.replace(use, cost=None)
    exact = use.input_tokens * price.input + use.output_tokens * price.output
    return msgspec.structs.replace(use, cost=-(-exact // MICRO))


def cost_of(uses: Iterable[ModelUse]) -> int | None:
    """What all of it cost; None when a part is unknown."""
    total = 0
    for use in uses:
        if use.cost is None:
            return None
        total += use.cost
    return total


def summed(uses: Iterable[ModelUse]) -> tuple[ModelUse, ...]:
    """One line for each model."""
    found: dict[str, ModelUse] = {}
    for use in uses:
        before = found.get(use.model)
        found[use.model] = use if before is None else _added(before, use)
    return tuple(found.values())


def _added(one: ModelUse, other: ModelUse) -> ModelUse:
    cost = None if one.cost is None or other.cost is None else one.cost + other.cost
    return ModelUse(
        one.model, one.input_tokens + other.input_tokens, one.output_tokens + other.output_tokens,
        one.requests + other.requests, cost, one.untold + other.untold,
    )  # fmt: skip


def after(spent: Spent | None, uses: tuple[ModelUse, ...], duration: int, is_cut: bool = False) -> Spent:
    """The sum with one more attempt; `is_cut` when a run of it was cut off and nobody knows what that used."""
    spent = spent or NOTHING
    known = [use.cost for use in uses if use.cost is not None]
    is_unknown = is_cut or len(known) < len(uses)
    return Spent(
        spent.input_tokens + sum(use.input_tokens for use in uses),
        spent.output_tokens + sum(use.output_tokens for use in uses),
        spent.requests + sum(use.requests for use in uses), spent.cost + sum(known), spent.unknown + is_unknown,
        spent.duration + duration, spent.attempts + 1,
    )  # fmt: skip


def excess(budget: Budget, spent: Spent | None, uses: tuple[ModelUse, ...]) -> str:
    """Why an answer cannot count: what was used is not told, or is more than the budget. Empty when it can."""
    spent = spent or NOTHING
    if budget.max_tokens is not None:
        tokens = spent.tokens + sum(use.tokens for use in uses)
        if any(use.untold for use in uses):
            return "The model did not say how many tokens it used, so max_tokens cannot be kept."
        if tokens > budget.max_tokens:
            return (
                f"The agents may use {budget.max_tokens:,} tokens in all and have used {tokens:,} with this attempt. "
                "What it said was not taken."
            )
    if budget.max_cost is None:
        return ""
    cost = cost_of(uses)
    if cost is None:
        models = ", ".join(sorted({use.model or "a model without a name" for use in uses if use.cost is None}))
        return f"What {models} cost is not known, so max_cost cannot be kept. Add its price to the verb or the agent."
    if spent.cost + cost > budget.max_cost:
        return (
            f"The agents may cost {money(budget.max_cost)} in all and have cost {money(spent.cost + cost)} with this "
            "attempt. What it said was not taken."
        )
    return ""


def is_exhausted(budget: Budget, spent: Spent | None, uses: tuple[ModelUse, ...]) -> bool:
    """Whether what was used is known, and nothing is left of a bound."""
    total = after(spent, uses, 0)
    if budget.max_tokens is not None and total.tokens >= budget.max_tokens:
        return not any(use.untold for use in uses)
    return budget.max_cost is not None and total.cost >= budget.max_cost and cost_of(uses) is not None


def is_used_up(reserved: Reservation | None, uses: tuple[ModelUse, ...]) -> bool:
    """Whether an attempt certainly used all that it had reserved of a bound.

    Only after such a one may another begin at once: each leaves less, so that they come to an end.
    """
    return reserved is not None and is_exhausted(Budget(reserved.tokens, reserved.cost), None, uses)


def bounds(ledger: Ledger | None, declared: Budget) -> Budget:
    """The bounds that hold: those somebody set, else those of the verb."""
    if ledger is None:
        return declared
    tokens = ledger.max_tokens if ledger.max_tokens is not None else declared.max_tokens
    return Budget(tokens, ledger.max_cost if ledger.max_cost is not None else declared.max_cost)


def reserve(
    ledger: Ledger | None, declared: Budget, spent: Spent | None, place: int, tokens: int | None, cost: int | None
) -> Reservation | tuple[str, str]:
    """What an attempt may use: what it says it needs at most, else all that is left. A code and words without room."""
    budget, spent, others = bounds(ledger, declared), spent or NOTHING, _others(ledger, place)
    free_tokens = _free(budget.max_tokens, spent.tokens, [each.tokens for each in others])
    free_cost = _free(budget.max_cost, spent.cost, [each.cost for each in others])
    if _fits(free_tokens, tokens) and _fits(free_cost, cost):
        return Reservation(place, free_tokens if tokens is None else tokens, free_cost if cost is None else cost)
    alone = _fits(_free(budget.max_tokens, spent.tokens, []), tokens) and _fits(
        _free(budget.max_cost, spent.cost, []), cost
    )
    told = [_told(budget.max_tokens, spent.tokens, free_tokens, "use", "used", lambda each: f"{each:,} tokens")]
    told.append(_told(budget.max_cost, spent.cost, free_cost, "cost", "cost", money))
    words = " ".join(filter(None, told))
    if alone:
        return RESERVED, f"{words} It goes on when a step that has reserved the rest ends."
    return OVER_BUDGET, f"{words} It goes on when the budget is loosened."


def reservation_at(ledger: Ledger | None, place: int) -> Reservation | None:
    return next((each for each in ledger.reserved if each.place == place), None) if ledger is not None else None


def with_reservation(ledger: Ledger | None, made: Reservation) -> Ledger:
    ledger = ledger or UNUSED
    return msgspec.structs.replace(ledger, reserved=(*_others(ledger, made.place), made))


def released(ledger: Ledger | None, place: int) -> Ledger | None:
    """The ledger without what the attempt at a place had reserved."""
    if reservation_at(ledger, place) is None or ledger is None:
        return ledger
    return msgspec.structs.replace(ledger, reserved=_others(ledger, place))


def with_waiting(ledger: Ledger | None, place: int) -> Ledger:
    ledger = ledger or UNUSED
    return msgspec.structs.replace(ledger, waiting=(*(each for each in ledger.waiting if each != place), place))


def without_waiting(ledger: Ledger | None, place: int) -> Ledger | None:
    if ledger is None or place not in ledger.waiting:
        return ledger
    return msgspec.structs.replace(ledger, waiting=tuple(each for each in ledger.waiting if each != place))


def looser(before: Budget, after: Budget) -> tuple[str, ...]:
    """The bounds that would be wider than before."""
    pairs = (("max_tokens", before.max_tokens, after.max_tokens), ("max_cost", before.max_cost, after.max_cost))
    return tuple(name for name, old, new in pairs if new is not None and old is not None and new > old)


def refused_budget(
    before: Budget, after: Budget, loosens: bool, reason: str
) -> tuple[Literal["invalid", "forbidden"], str, str, str] | None:
    """Why a budget cannot be set so: the code of a rejection, what was to be done, the fact and a hint."""
    do = f"{'loosen' if loosens else 'tighten'} the budget of"
    if after == Budget():
        return "invalid", do, "neither tokens nor cost are given", "Say max_tokens, max_cost or both."
    if loosens and not reason.strip():
        return "invalid", do, "no reason was given", "Say why: it stays in the journal."
    if not loosens and (wider := looser(before, after)):
        hint = "To loosen it is a decision: `perdure budgets loosen`, with a reason."
        return "forbidden", do, f"{' and '.join(wider)} would be wider than now", hint
    return None


def _others(ledger: Ledger | None, place: int) -> tuple[Reservation, ...]:
    return tuple(each for each in ledger.reserved if each.place != place) if ledger is not None else ()


def _free(bound: int | None, spent: int, reserved: Iterable[int | None]) -> int | None:
    return None if bound is None else bound - spent - sum(each or 0 for each in reserved)


def _fits(free: int | None, wanted: int | None) -> bool:
    return free is None or (free > 0 and (wanted is None or wanted <= free))


def _told(bound: int | None, spent: int, free: int | None, may: str, have: str, shown: Callable[[int], str]) -> str:
    if bound is None or free is None:
        return ""
    held = bound - spent - free
    more = f" and {shown(held)} are reserved" if held else ""
    return f"The agents may {may} {shown(bound)} in all; {shown(spent)} are {have}{more}."


def micros(amount: Decimal) -> int:
    """An amount of money in millionths."""
    return int((amount * MICRO).to_integral_value())


def money(amount: int) -> str:
    """Millionths as people write them: at least two decimals, no more than are needed."""
    whole, part = divmod(amount, MICRO)
    decimals = f"{part:06d}".rstrip("0").ljust(2, "0")
    return f"{whole}.{decimals}"
