"""Documents asked of a client outside a case's own process."""

from __future__ import annotations

from typing import Any

from perdure import BusinessError, Call, Result, verb


@verb("docs.send-request")
async def send_request(call: Call) -> Result:
    case_id = call.args["case_id"]
    asked = {each["document"] for each in await call.entities.list("document_request", {"case_id": case_id})}
    for document in call.args["document_types"]:
        request = {"status": "asked", "reminders": 0}
        if document in asked:
            await call.entities.update("document_request", [case_id, document], request)
        else:
            fields = {"case_id": case_id, "document": document, **request}
            await call.entities.create("document_request", fields)
    return Result({}, flags={"orch_case_id": case_id})


@verb("docs.record-upload")
async def record_upload(call: Call) -> dict[str, Any]:
    case_id, received = call.args["case_id"], []
    asked = {each["document"] for each in await call.entities.list("document_request", {"case_id": case_id})}
    for upload in call.args["documents"]:
        if upload["document"] in asked:
            change = {"status": "received", "reference": upload["reference"]}
            await call.entities.update("document_request", [case_id, upload["document"]], change)
            received.append(upload["document"])
    return {"received_documents": received}


@verb("docs.send-reminder")
async def send_reminder(call: Call) -> None:
    for document in call.args["document_types"]:
        request = await call.entities.read("document_request", [call.args["case_id"], document])
        if request["status"] == "asked":
            change = {"reminders": request["reminders"] + 1}
            await call.entities.update("document_request", [call.args["case_id"], document], change)


@verb("docs.validate")
def validate(call: Call) -> dict[str, Any]:
    missing = sorted(set(call.args["document_types"]) - set(call.args["received_documents"]))
    if missing:
        raise BusinessError("DOCUMENTS_INVALID", f"missing: {', '.join(missing)}")
    return {"documents_status": "received"}


@verb("docs.escalate")
def escalate(call: Call) -> dict[str, Any]:
    return {"documents_status": "escalated"}
