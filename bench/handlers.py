"""The handlers of the benchmark's verbs; they do nothing, so that only the platform is measured."""

from __future__ import annotations

from typing import Any

from perdure.verbs import Call, Result, verb


@verb("bench.step")
async def step(call: Call) -> dict[str, Any]:
    return {"payload": call.args["payload"]}


@verb("bench.assess")
async def assess(call: Call) -> Result:
    return Result({"assessed": True}, flags={"orch_small": True})


@verb("bench.prepare")
async def prepare(call: Call) -> dict[str, Any]:
    return {"prepared": True}


@verb("bench.pack")
async def pack(call: Call) -> dict[str, Any]:
    return {"packed": True}


@verb("bench.bill")
async def bill(call: Call) -> dict[str, Any]:
    return {"billed": True}


@verb("bench.round")
async def go_round(call: Call) -> Result:
    round = call.args["round"] + 1
    return Result({"round": round}, flags={"orch_more": round < call.args["rounds"]})


@verb("bench.find")
async def find(call: Call) -> dict[str, Any]:
    return {"id": call.args["name"]}


@verb("bench.research")
async def research(call: Call) -> dict[str, Any]:
    return {"found": call.args["entity"]}
