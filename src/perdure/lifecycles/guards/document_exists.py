"""Holds when the subject has a document of the type in the status, valid today and not too old."""

from __future__ import annotations

from typing import Any

from perdure.durations import DAY
from perdure.journal.facts import fact_key
from perdure.lifecycles.guards.guard_kind import Facts, GuardKind, Judgement, Parameter, Params, closed
from perdure.moments import day_start, parse_date_time

STATUSES = ("pending", "verified", "rejected", "expired", "superseded", "received")
"""`received` is a document that is pending or verified."""

STATUS = Parameter(
    "status",
    "text",
    "The status it must have; `received` is pending or verified",
    default="verified",
    choices=STATUSES,
)
SUBJECT = Parameter("subject", "text", "The subject of the document", default="$subject")
MAX_AGE = Parameter("max_age_days", "integer", "How old it may be, since it was verified or else made", minimum=1)


def _facts(params: Params) -> tuple[str, ...]:
    return (fact_key("document", str(params["subject"]), params["document_type"]),)


def _judge(params: Params, facts: Facts, now: int) -> Judgement:
    return judge_type(params["document_type"], params, facts, now)


def judge_type(type: str, params: Params, facts: Facts, now: int) -> Judgement:
    """Whether one type of document is there as the parameters want it."""
    found = documents_of(type, params, facts)
    if not found:
        return closed(f"no document '{type}'")
    best = Judgement(False)
    for document in found:
        judged = judge_document(type, document, params, now)
        if judged.holds:
            later = judged.changes_at > best.changes_at or not judged.changes_at
            best = judged if not best.holds or later else best
            if not best.changes_at:
                return best
        elif not best.holds and not best.missing:
            best = judged
    return best


def documents_of(type: str, params: Params, facts: Facts) -> list[dict[str, Any]]:
    fact = facts.get(fact_key("document", str(params["subject"]), type))
    return list(fact["documents"]) if fact else []


def judge_document(type: str, document: dict[str, Any], params: Params, now: int) -> Judgement:
    """One document: its status, its validity and its age."""
    wanted, status = params["status"], document["status"]
    if status != wanted and not (wanted == "received" and status in ("pending", "verified")):
        reason = f" ({document['rejection']})" if document.get("rejection") else ""
        return closed(f"document '{type}' is {status}{reason}, not {wanted}", holds_off=_holds_off(type, document))
    begins, ends = _day(document.get("valid_from")), _day(document.get("valid_to"))
    if begins > now:
        return closed(f"document '{type}' is valid only from {document['valid_from']}", changes_at=begins)
    if ends and ends + DAY <= now:
        return closed(f"document '{type}' was valid until {document['valid_to']}")
    limits = [ends + DAY] if ends else []
    if (days := params.get("max_age_days")) is not None:
        since = parse_date_time(document.get("verified_at") or document["created_at"])
        if since + days * DAY <= now:
            return closed(f"document '{type}' is older than {days} days")
        limits.append(since + days * DAY)
    return Judgement(True, (), min(limits, default=0))


def _holds_off(type: str, document: dict[str, Any]) -> str:
    """Why the subject is not asked again: people look at what came, or it was rejected for good."""
    if document["status"] == "pending" and document["version"]:
        return f"document '{type}' came and waits for a decision"
    if document["status"] == "rejected" and document.get("may_ask_again") is False:
        return f"document '{type}' was rejected for {document['rejection']}, for which nobody is asked again"
    return ""


def _day(text: str | None) -> int:
    return day_start(text) if text else 0


KIND = GuardKind(
    "document_exists",
    __doc__,
    (Parameter("document_type", "text", "The type of the document", is_required=True), STATUS, SUBJECT, MAX_AGE),
    _facts,
    _judge,
    lambda params: str(params.get("document_type", "document")),
    "MissingDocument",
    aliases=("requirement_satisfied",),
    example="{type: document_exists, document_type: passport, status: verified, subject: $entity_id}",
)
