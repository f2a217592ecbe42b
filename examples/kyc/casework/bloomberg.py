"""What Bloomberg says about subsidiaries, from a file."""

from __future__ import annotations

from typing import Any

from casework.sources import read
from perdure import Call


def query_subsidiaries(call: Call) -> dict[str, Any]:
    """The handler `bloomberg::query_subsidiaries`. An unknown company has no subsidiaries that anyone knows of."""
    book, wanted = read("bloomberg/subsidiaries.json"), call.args["entity_identifier"]
    company = next((each for each in book["companies"] if wanted in each["identifiers"]), None)
    found = {"is_known": False, "subsidiaries": []} if company is None else _told(company, call)
    return {**found, **{field: book[field] for field in ("source", "confidence", "as_of")}}


def _told(company: dict[str, Any], call: Call) -> dict[str, Any]:
    hidden = () if call.args["include_voting_shares"] else ("voting_share",)
    shown = [{key: value for key, value in each.items() if key not in hidden} for each in company["subsidiaries"]]
    return {"is_known": True, "name": company["name"], "subsidiaries": shown}
