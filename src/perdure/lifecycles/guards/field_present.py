"""Holds when a field of the context, or of a record, has a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perdure.journal.facts import fact_key
from perdure.lifecycles.guards.guard_kind import HOLDS, Facts, GuardKind, Judgement, Parameter, Params, closed

FIELD = Parameter("field", "text", "The field, or a dotted path to it", is_required=True)
RECORD = Parameter("record", "text", "The entity whose record holds the field; without it the context does")
ID = Parameter("id", "text", "The key of the record", default="$subject")
CONTEXT = "context"
"""The key under which a guard finds the context among its facts."""


def field_facts(params: Params) -> tuple[str, ...]:
    return (fact_key("record", params["record"], str(params["id"])),) if params.get("record") else (CONTEXT,)


def field_of(params: Params, facts: Facts) -> Any:
    """The value of the field; None when there is none."""
    if params.get("record"):
        fact = facts.get(fact_key("record", params["record"], str(params["id"])))
        found: Any = fact["fields"] if fact else None
    else:
        found = facts.get(CONTEXT)
    if isinstance(found, Mapping) and params["field"] in found:
        return found[params["field"]]
    for word in params["field"].split("."):
        found = found.get(word) if isinstance(found, Mapping) else None
    return found


def place_of(params: Params) -> str:
    return f"record '{params['record']}/{params['id']}'" if params.get("record") else "the context"


def _judge(params: Params, facts: Facts, now: int) -> Judgement:
    if field_of(params, facts) in (None, "", [], {}):
        return closed(f"field '{params['field']}' of {place_of(params)} has no value")
    return HOLDS


KIND = GuardKind(
    "field_present",
    __doc__,
    (FIELD, RECORD, ID),
    field_facts,
    _judge,
    lambda params: str(params.get("field", "field")),
    "MissingField",
    example="{type: field_present, field: risk_rating, record: client}",
)
