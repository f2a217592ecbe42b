"""Beneficial owners: sources brought together, the decision whether they are enough, and the report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from casework.gleif.client import Gleif, gleif_at
from casework.gleif.records import LEI, LeiRecord
from casework.gleif.tree import discover as discover_group
from casework.ownership import Claim, Officer, Ownership, trace
from casework.ownership.evidence import bloomberg_claims, hierarchy_claims, parties_of, register_claims
from casework.ownership.reports import gaps_told, report, summary, told, warnings
from casework.registry import hits_for, holdings_of, officers_of
from casework.sources import gleif_place, read
from perdure import BusinessError, Call, Decide, verb

DEPTH = 5
MAX_ASKED = 100


async def discover(call: Call) -> dict[str, Any]:
    """The handler `ubo::discover`."""
    async with gleif_at(gleif_place()) as gleif:
        start = await _entity(gleif, call.args["entity"])
        group = (await discover_group(gleif, start.id, DEPTH)).told()
    shares = holdings_of([start.id, *(node["lei"] for node in group["hierarchy"] if node["depth"] < 0)])
    bought = bloomberg_claims(read("bloomberg/subsidiaries.json"))
    day = call.args.get("as_of") or shares["as_of"]
    found = _traced(group, shares, officers_of([start.id])["officers"], day, bought)
    return {
        "lei": start.id,
        "complete": found.is_complete,
        "report": told(found),
        "gaps": gaps_told(found.gaps),
        "warnings": warnings(found),
        "peps": _peps(found),
    }


def assess(call: Call) -> Decide:
    """The handler `ubo::assess`: what the owners mean for a case, and who is to be looked at closely."""
    owners = call.args["owners"]
    is_grave = bool(owners["peps"]) or not owners["complete"]
    return _decided(call, {"risk": "high" if is_grave else "low", "peps": owners["peps"]})


def evaluate(call: Call) -> Decide:
    """The handler `ubo::evaluate`."""
    args = call.args
    found = _traced(args["hierarchy"], args["shares"], args["officers"]["officers"], args["shares"]["as_of"])
    gaps = gaps_told(found.gaps)
    if args["client_docs"]["documents_status"] != "received":
        text = f"the client did not send the documents of {found.target.name}"
        missing = {"id": f"*>{found.target.id}:documents_missing", "type": "documents_missing", "text": text}
        gaps.append({**missing, "entity": found.target.id, "is_blocking": True})
    peps = _peps(found)
    received = args["client_docs"].get("received_documents", [])
    decision = {
        "complete": not any(gap["is_blocking"] for gap in gaps),
        "compiled_data": told(found),
        "review_package": {"summary": summary(found, peps), "documents": received},
        "gaps": gaps,
        "peps": peps,
    }
    return _decided(call, decision)


def _decided(call: Call, data: dict[str, Any]) -> Decide:
    """The runbook grows by a close look at whoever is politically exposed; a call by itself has nothing to grow."""
    if not data["peps"] or call.context is None:
        return Decide(data)
    reason = f"{' and '.join(data['peps'])} is politically exposed"
    look = {"verb": "kyc.enhanced-due-diligence", "name": "enhanced_due_diligence"}
    return Decide(data, add=[{**look, "args": {"persons": data["peps"], "reason": reason}}], reason=reason)


async def compile_report(call: Call) -> dict[str, Any]:
    """The handler `ubo::compile_report`."""
    case_id, data = call.args["case_id"], call.args["data"]
    text = report(data)
    fields = {"entity": data["entity"]["lei"], "as_of": data["as_of"], "status": "current", "text": text, "data": data}
    if await call.entities.list("ubo_report", {"case_id": case_id}):
        await call.entities.update("ubo_report", case_id, fields)
    else:
        await call.entities.create("ubo_report", {"case_id": case_id, **fields})
    named = [owner["name"] for owner in data["owners"] if owner["is_beneficial"]]
    official = data.get("official")
    return {"case_id": case_id, "text": text, "owners": named or ([official["name"]] if official else [])}


@verb("kyc.withdraw-ubo-report")
async def withdraw_report(call: Call) -> None:
    await call.entities.update("ubo_report", call.args["case_id"], {"status": "withdrawn"})


@verb("kyc.request_additional_information")
async def request_information(call: Call) -> None:
    """Asks for what the gaps need, bundled; then the verb waits for the answers."""
    case_id = call.args["case_id"]
    asked = {each["document"] for each in await call.entities.list("document_request", {"case_id": case_id})}
    for gap in call.args["gaps"][:MAX_ASKED]:
        if gap["id"] not in asked:
            request = {"case_id": case_id, "document": gap["id"], "status": "asked", "reminders": 0}
            await call.entities.create("document_request", request)


def _traced(
    group: dict[str, Any], shares: dict[str, Any], officers: list[dict[str, Any]], day: str, more: Iterable[Claim] = ()
) -> Ownership:
    claims = [*register_claims(shares), *hierarchy_claims(group), *more]
    mine = [Officer(each["name"], each["role"]) for each in officers if each["entity"] == group["entity"]]
    return trace(group["entity"], claims, parties_of(group, shares), as_of=day, officers=mine)


async def _entity(gleif: Gleif, wanted: str) -> LeiRecord:
    """By LEI, or by a name that only one active entity has."""
    if LEI.fullmatch(wanted):
        return (await gleif.successor(wanted))[-1]
    found = [record for record in await gleif.search(wanted) if record.is_active]
    exact = [record for record in found if record.name.casefold() == wanted.casefold()]
    chosen = exact or found
    if len(chosen) > 1:
        names = ", ".join(f"{record.name} ({record.id})" for record in chosen)
        raise BusinessError("ENTITY_AMBIGUOUS", f"'{wanted}' may be any of {names}")
    if not chosen:
        raise BusinessError("ENTITY_NOT_FOUND", f"GLEIF knows no active entity called '{wanted}'")
    return chosen[0]


def _peps(found: Ownership) -> list[str]:
    names = [owner.party.name for owner in found.beneficial]
    return [hit["name"] for hit in hits_for(names) if hit["kind"] == "pep"]
