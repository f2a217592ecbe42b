"""Reviews by compliance officers."""

from __future__ import annotations

from typing import Any

from perdure import Call, Result, verb

OFFICERS = ("chen", "dora")
SENIORS = "senior-compliance"


@verb("compliance.open-review")
async def open_review(call: Call) -> None:
    review = {"case_id": call.args["case_id"], "status": "open", "reminders": 0}
    await call.entities.create("compliance_review", review)


@verb("compliance.assign-officer")
async def assign_officer(call: Call) -> Result:
    load = {name: len(await call.entities.list("compliance_review", {"officer": name})) for name in OFFICERS}
    return await _given_to(call, min(OFFICERS, key=lambda name: load[name]))


@verb("compliance.record-decision")
async def record_decision(call: Call) -> Result:
    decision, reason = call.args["decision"], call.args.get("reason")
    await call.entities.update("compliance_review", call.args["case_id"], {"status": decision, "reason": reason})
    told: dict[str, Any] = {"decision": decision}
    return Result(told if reason is None else {**told, "reason": reason}, flags={"orch_decision": decision})


@verb("compliance.send-reminder")
async def send_reminder(call: Call) -> None:
    review = await call.entities.read("compliance_review", call.args["case_id"])
    change = {"reminders": review["reminders"] + 1}
    await call.entities.update("compliance_review", call.args["case_id"], change)


@verb("compliance.escalate")
async def escalate(call: Call) -> Result:
    return await _given_to(call, SENIORS)


async def _given_to(call: Call, officer: str) -> Result:
    await call.entities.update("compliance_review", call.args["case_id"], {"officer": officer})
    return Result({"officer": officer}, flags={"orch_officer": officer})
