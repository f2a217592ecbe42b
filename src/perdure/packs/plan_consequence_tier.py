"""The consequence tier of a plan: that of its gravest step, raised by rules, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from perdure.packs.conditions import is_met
from perdure.packs.definition import Escalation, RiskPolicy, is_like
from perdure.verb_contract import ConsequenceTier, is_grave, tier_rank
from perdure.verbs.catalogue import Catalogue
from perdure.verbs.consequence_tier import Consequence, consequence_of


class Called(NamedTuple):
    """A step as far as its gravity goes."""

    name: str
    verb: str
    args: Mapping[str, Any]


class Fired(msgspec.Struct, frozen=True):
    """A rule that raised a step's tier."""

    rule: str
    step: str
    tier: ConsequenceTier
    reason: str


class Composed(msgspec.Struct, frozen=True):
    """The tier of the whole, why, and every rule that fired."""

    tier: ConsequenceTier
    reason: str
    fired: tuple[Fired, ...] = ()


def composed_tier(calls: Iterable[Called], catalogue: Catalogue, policy: RiskPolicy | None = None) -> Composed:
    """The gravest step decides; rules may only raise, and so does a plan longer than the policy lets pass."""
    policy = policy or RiskPolicy(max_steps_without_confirm=10_000)
    calls = list(calls)
    whole = Composed("benign", "there is nothing to run")
    for place, call in enumerate(calls):
        one = _of_call(call, catalogue, policy.escalations)
        fired = (*whole.fired, *one.fired)
        graver = place == 0 or tier_rank(one.tier) > tier_rank(whole.tier)
        whole = msgspec.structs.replace(one if graver else whole, fired=fired)
    limit = policy.max_steps_without_confirm
    if len(calls) > limit and tier_rank(whole.tier) < tier_rank("requires_confirmation"):
        reason = f"it has {len(calls)} steps and the pack lets {limit} pass without asking"
        return Composed("requires_confirmation", reason, whole.fired)
    return whole


def _of_call(call: Called, catalogue: Catalogue, rules: Sequence[Escalation]) -> Composed:
    verb = catalogue.find(call.verb)
    found = consequence_of(catalogue, verb) if verb is not None else Consequence("requires_confirmation")
    tier = found.tier
    reason = f"'{call.verb}' is {tier.replace('_', ' ')}" if not is_grave(tier) else _requires(call, found)
    fired = tuple(
        Fired(rule.name, call.name, rule.tier, rule.reason)
        for rule in rules
        if is_like(call.verb, rule.verbs) and is_met(rule.when.condition, {"args": call.args})
    )
    for each in fired:
        if tier_rank(each.tier) > tier_rank(tier):
            tier, reason = each.tier, f"'{call.verb}': {each.reason}"
    return Composed(tier, reason, fired)


def _requires(call: Called, found: Consequence) -> str:
    reached = f" because it reaches '{found.due_to}'" if found.due_to not in ("", call.verb) else ""
    return f"'{call.verb}' requires {found.tier.removeprefix('requires_')}{reached}"
