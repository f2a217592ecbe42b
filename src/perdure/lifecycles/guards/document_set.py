"""Holds when the subject has a document of every type in the list; each one missing is named."""

from __future__ import annotations

from perdure.journal.facts import fact_key
from perdure.lifecycles.guards.document_exists import MAX_AGE, STATUS, SUBJECT, judge_type
from perdure.lifecycles.guards.guard_kind import Facts, GuardKind, Judgement, Parameter, Params, all_hold_off


def _facts(params: Params) -> tuple[str, ...]:
    return tuple(fact_key("document", str(params["subject"]), each) for each in params["document_types"])


def _judge(params: Params, facts: Facts, now: int) -> Judgement:
    judged = [judge_type(each, params, facts, now) for each in params["document_types"]]
    missing = tuple(text for each in judged for text in each.missing)
    times = [each.changes_at for each in judged if each.changes_at]
    holds = all(each.holds for each in judged)
    return Judgement(holds, missing, min(times, default=0), holds_off=all_hold_off(judged))


KIND = GuardKind(
    "document_set",
    __doc__,
    (Parameter("document_types", "texts", "The types, all of them", is_required=True), STATUS, SUBJECT, MAX_AGE),
    _facts,
    _judge,
    lambda params: "documents",
    "MissingDocument",
    example="{type: document_set, document_types: [passport, proof_of_address]}",
)
