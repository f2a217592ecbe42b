"""The handlers of the benchmark's verbs; they do nothing, so that only the platform is measured."""

from __future__ import annotations

from typing import Any

from perdure.verbs import Call, verb


@verb("bench.step")
async def step(call: Call) -> dict[str, Any]:
    return {"payload": call.args["payload"]}
