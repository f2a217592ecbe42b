"""Holds when a sync verb of the project answers `holds: true`; each text of its `missing` is named."""

from __future__ import annotations

import msgspec

from perdure.journal.facts import fact_key
from perdure.lifecycles.guards.guard_kind import (
    HOLDS,
    Facts,
    GuardKind,
    Judgement,
    Parameter,
    Params,
    closed,
    undecided,
)

MAX_MISSING = 20


def _facts(params: Params) -> tuple[str, ...]:
    return (verb_key(params["verb"], params["args"]),)


def verb_key(verb: str, args: object) -> str:
    """The key of the answer of a verb to arguments. Nothing announces a change of it."""
    return fact_key("verb", verb, msgspec.json.encode(args, order="sorted").decode())


def _judge(params: Params, facts: Facts, now: int) -> Judgement:
    fact = facts.get(_facts(params)[0])
    if not isinstance(fact, dict) or fact.get("failure"):
        reason = f": {str(fact['failure'])[:200]}" if isinstance(fact, dict) else ""
        return undecided(f"verb '{params['verb']}' gave no answer{reason}")
    if fact.get("holds") is True:
        return HOLDS
    missing = fact.get("missing")
    texts = [str(each)[:200] for each in missing[:MAX_MISSING]] if isinstance(missing, list) else []
    return closed(*(texts or [f"verb '{params['verb']}' says no"]))


KIND = GuardKind(
    "custom",
    __doc__,
    (
        Parameter("verb", "text", "A sync verb with `effects: none`", is_required=True),
        Parameter("args", "mapping", "Its arguments", default={}),
    ),
    _facts,
    _judge,
    lambda params: str(params.get("verb", "custom")),
    "Custom",
    aliases=("verb",),
    example="{type: custom, verb: kyc.no-open-alerts, args: {entity: $subject}}",
)
