"""Cases: their record, the documents they ask for, and who reviews them."""

from __future__ import annotations

from typing import Any

from perdure import BusinessError, Call, Result, verb

DOCUMENTS = {
    "new-client": ["passport", "proof-of-address", "register-extract"],
    "periodic-review": ["register-extract"],
    "event-driven": ["register-extract", "source-of-funds"],
}
REVIEWERS = ("rita", "omar")
SENIORS = "senior-compliance"
CASES_PER_REVIEWER = 50


@verb("kyc.create-case-record")
async def create_case_record(call: Call) -> Result:
    risk = "high" if call.args["case_type"] == "event-driven" else "low"
    fields = {**call.args, "risk": risk, "status": "open", "reminders": 0}
    case = await call.entities.create("kyc_case", fields)
    return Result({"case_id": case["case_id"], "risk": risk}, flags={"orch_case_id": case["case_id"]})


@verb("kyc.request-documents")
async def request_documents(call: Call) -> Result:
    case_id, wanted = call.args["case_id"], DOCUMENTS[call.args["case_type"]]
    for document in wanted:
        request = {"case_id": case_id, "document": document, "status": "asked", "reminders": 0}
        await call.entities.create("document_request", request)
    await call.entities.update("kyc_case", case_id, {"status": "collecting"})
    return Result({"requested_documents": wanted}, flags={"orch_docs_requested": bool(wanted)})


@verb("kyc.cancel-document-request")
async def cancel_document_request(call: Call) -> dict[str, Any]:
    withdrawn = []
    for request in await call.entities.list("document_request", {"case_id": call.args["case_id"]}):
        if request["status"] != "withdrawn":
            await call.entities.update("document_request", _key(request), {"status": "withdrawn"})
            withdrawn.append(request["document"])
    return {"withdrawn_documents": withdrawn}


@verb("kyc.receive-documents")
async def receive_documents(call: Call) -> dict[str, Any]:
    case_id = call.args["case_id"]
    asked = {each["document"]: each for each in await call.entities.list("document_request", {"case_id": case_id})}
    received = []
    for arrived in call.args.get("documents", []):
        if (request := asked.get(arrived["document"])) is not None:
            change = {"status": "received", "reference": arrived["reference"]}
            await call.entities.update("document_request", _key(request), change)
            received.append(arrived["document"])
    return {"received_documents": received}


@verb("kyc.send-reminder")
async def send_reminder(call: Call) -> None:
    case = await call.entities.read("kyc_case", call.args["case_id"])
    await call.entities.update("kyc_case", case["case_id"], {"reminders": case["reminders"] + 1})


@verb("kyc.assign-reviewer")
async def assign_reviewer(call: Call) -> Result:
    open_cases = {name: await _cases_of(call, name) for name in REVIEWERS}
    reviewer = min(REVIEWERS, key=lambda name: open_cases[name])
    if open_cases[reviewer] >= CASES_PER_REVIEWER:
        raise BusinessError("NO_REVIEWER", f"each reviewer has {CASES_PER_REVIEWER} open cases")
    await call.entities.update("kyc_case", call.args["case_id"], {"status": "in-review", "reviewer": reviewer})
    return Result({"reviewer": reviewer}, flags={"orch_reviewer": reviewer})


@verb("kyc.record-review-decision")
async def record_review_decision(call: Call) -> Result:
    outcome = call.args["outcome"]
    await call.entities.update("kyc_case", call.args["case_id"], {"status": outcome, "reason": call.args.get("reason")})
    return Result({"review_decision": outcome}, flags={"orch_review_outcome": outcome})


@verb("kyc.escalate-if-required")
async def escalate_if_required(call: Call) -> Result:
    """A senior decides what nobody decided in time, and signs what is approved at high risk."""
    case = await call.entities.read("kyc_case", call.args["case_id"])
    decision = call.args.get("review_decision")
    is_required = decision is None or (decision == "approved" and case["risk"] == "high")
    if is_required:
        await call.entities.update("kyc_case", case["case_id"], {"status": "in-review", "reviewer": SENIORS})
    return Result({"escalated": is_required}, flags={"orch_escalation_required": is_required})


async def _cases_of(call: Call, reviewer: str) -> int:
    return len(await call.entities.list("kyc_case", {"reviewer": reviewer, "status": "in-review"}))


def _key(request: dict[str, Any]) -> list[str]:
    return [request["case_id"], request["document"]]
