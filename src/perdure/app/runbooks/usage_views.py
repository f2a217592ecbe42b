"""Usage views: tokens, money and time that agents used."""

from __future__ import annotations

import msgspec

from perdure.agent_usage import Spent, money


class UsageView(msgspec.Struct, frozen=True):
    """What agents used, failed attempts included. `cost` is None when nothing of it is known.

    `unknown_costs` counts the attempts whose cost, or part of it, is not known: it comes on top of `cost`.
    """

    input_tokens: int
    output_tokens: int
    requests: int
    cost: str | None
    unknown_costs: int
    duration_ms: int
    attempts: int

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


def usage_view(spent: Spent | None) -> UsageView | None:
    if spent is None:
        return None
    is_unknown = spent.unknown > 0 and not spent.cost
    return UsageView(
        spent.input_tokens, spent.output_tokens, spent.requests, None if is_unknown else money(spent.cost),
        spent.unknown, spent.duration // 1000, spent.attempts,
    )  # fmt: skip


def usage_text(view: UsageView) -> str:
    """`1,234 tokens, 0.05, 2 attempts`."""
    cost = "cost unknown" if view.cost is None else view.cost
    more = " or more" if view.unknown_costs and view.cost is not None else ""
    attempts = f"{view.attempts} {'attempt' if view.attempts == 1 else 'attempts'}"
    return f"{view.tokens:,} tokens, {cost}{more}, {attempts}"
