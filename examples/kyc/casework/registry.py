"""What shareholder registers, company registers and screening lists say, from files."""

from __future__ import annotations

from typing import Any

from casework.sources import read
from perdure import Call


def query_holdings(call: Call) -> dict[str, Any]:
    """The handler `registry::query_holdings`."""
    wanted = [each["lei"] for each in call.args["entities"]]
    return holdings_of(wanted, is_followed=call.args["follow_owners"])


def holdings_of(wanted: list[str], *, is_followed: bool = True) -> dict[str, Any]:
    """Holdings in the entities and, when followed, in whoever holds them; each entity is looked at once."""
    book = read("registry/holdings.json")
    by_entity: dict[str, list[dict[str, Any]]] = {}
    for each in book["holdings"]:
        by_entity.setdefault(each["entity"], []).append(each)
    waiting, seen, found = list(wanted), set[str](), list[dict[str, Any]]()
    while waiting:
        entity = waiting.pop(0)
        if entity in seen:
            continue
        seen.add(entity)
        found += by_entity.get(entity, [])
        if is_followed:
            holders = (each["holder"] for each in by_entity.get(entity, []))
            waiting += [holder["id"] for holder in holders if holder["kind"] == "entity"]
    termini = [
        {"entity": each["entity"], "reason": each["reason"]} for each in book["termini"] if each["entity"] in seen
    ]
    return {"holdings": found, "termini": termini, **_origin(book)}


def query_officers(call: Call) -> dict[str, Any]:
    """The handler `registry::query_officers`."""
    return officers_of([each["lei"] for each in call.args["entities"]])


def officers_of(wanted: list[str]) -> dict[str, Any]:
    book = read("officers/officers.json")
    found = [{"entity": lei, **officer} for lei in dict.fromkeys(wanted) for officer in book["officers"].get(lei, [])]
    return {"officers": found, **_origin(book)}


def screen(call: Call) -> dict[str, Any]:
    """The handler `registry::screen`."""
    return {"hits": hits_for(call.args["names"])}


def hits_for(names: list[str]) -> list[dict[str, Any]]:
    wanted = {name.casefold() for name in names}
    return [each for each in read("screening/persons.json")["persons"] if each["name"].casefold() in wanted]


def _origin(book: dict[str, Any]) -> dict[str, Any]:
    return {field: book[field] for field in ("source", "confidence", "as_of")}
