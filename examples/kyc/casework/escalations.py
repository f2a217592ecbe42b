"""Escalations: what compliance does about a client who does not answer."""

from __future__ import annotations

from typing import Any

from perdure import Call, Result, verb


@verb("escalation.open")
async def open_escalation(call: Call) -> None:
    case_id = call.args["case_id"]
    fields = {"verb": call.args.get("verb"), "status": "open", "reminders": 0}
    if await call.entities.list("escalation", {"case_id": case_id}):
        await call.entities.update("escalation", case_id, fields)
    else:
        await call.entities.create("escalation", {"case_id": case_id, **fields})


@verb("escalation.record-resolution")
async def record_resolution(call: Call) -> Result:
    resolution = call.args["resolution"]
    change = {"status": resolution, "reason": call.args.get("reason")}
    await call.entities.update("escalation", call.args["case_id"], change)
    told: dict[str, Any] = {"documents_status": "escalated" if resolution == "given-up" else "received"}
    if "documents" in call.args:
        told["received_documents"] = call.args["documents"]
    return Result(told, flags={"orch_resolution": resolution})


@verb("escalation.remind")
async def remind(call: Call) -> None:
    found = await call.entities.read("escalation", call.args["case_id"])
    await call.entities.update("escalation", found["case_id"], {"reminders": found["reminders"] + 1})


@verb("escalation.give-up")
async def give_up(call: Call) -> Result:
    await call.entities.update("escalation", call.args["case_id"], {"status": "given-up"})
    return Result({"documents_status": "escalated"}, flags={"orch_resolution": "given-up"})
