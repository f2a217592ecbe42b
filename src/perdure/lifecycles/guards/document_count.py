"""Holds when the subject has so many documents of the type in the status."""

from __future__ import annotations

from perdure.journal.facts import fact_key
from perdure.lifecycles.guards.document_exists import MAX_AGE, STATUS, SUBJECT, documents_of, judge_document
from perdure.lifecycles.guards.guard_kind import Facts, GuardKind, Judgement, Parameter, Params


def _facts(params: Params) -> tuple[str, ...]:
    return (fact_key("document", str(params["subject"]), params["document_type"]),)


def _judge(params: Params, facts: Facts, now: int) -> Judgement:
    type, wanted = params["document_type"], params["at_least"]
    judged = [judge_document(type, each, params, now) for each in documents_of(type, params, facts)]
    count = sum(each.holds for each in judged)
    times = min((each.changes_at for each in judged if each.changes_at), default=0)
    if count >= wanted:
        return Judgement(True, (), times)
    waiting = sum(not each.holds and bool(each.holds_off) for each in judged)
    holds_off = f"{waiting} documents '{type}' came and wait for a decision" if count + waiting >= wanted else ""
    missing = f"{count} of {wanted} documents '{type}' are {params['status']}"
    return Judgement(False, (missing,), times, holds_off=holds_off)


KIND = GuardKind(
    "document_count",
    __doc__,
    (
        Parameter("document_type", "text", "The type of the documents", is_required=True),
        Parameter("at_least", "integer", "How many", is_required=True, minimum=1),
        STATUS,
        SUBJECT,
        MAX_AGE,
    ),
    _facts,
    _judge,
    lambda params: str(params.get("document_type", "documents")),
    "MissingDocument",
    example="{type: document_count, document_type: bank_statement, at_least: 3}",
)
