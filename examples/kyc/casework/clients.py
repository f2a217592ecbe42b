"""Clients and their papers: asked for as often as their lifecycles say, and screened."""

from __future__ import annotations

from typing import Any

from casework.registry import hits_for
from perdure import Call, verb


@verb("client.ask-for-paper")
async def ask_for_paper(call: Call) -> None:
    await call.entities.create(
        "paper_request",
        {
            "correlation_id": call.args.get("correlation_id", call.idempotency_key),
            "client": call.args["client"],
            "document_type": call.args["document_type"],
        },
    )


@verb("client.no-hits")
async def no_hits(call: Call) -> dict[str, Any]:
    client = await call.entities.read("client", call.args["client"])
    hits = [each["note"] for each in hits_for([client["name"]])]
    return {"holds": not hits, "missing": hits}
