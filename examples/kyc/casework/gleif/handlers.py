"""What the `gleif.*` verbs and `research_gleif_hierarchy` do."""

from __future__ import annotations

from typing import Any

import msgspec

from casework.gleif.client import gleif_at
from casework.gleif.records import LeiRecord
from casework.gleif.tree import chain, discover
from casework.sources import gleif_place
from perdure import Call, verb


async def discover_hierarchy(call: Call) -> dict[str, Any]:
    """The handler `gleif::discover_hierarchy`."""
    async with gleif_at(gleif_place()) as gleif:
        return (await discover(gleif, call.args["lei"], call.args["max_depth"])).told()


@verb("gleif.lookup")
async def lookup(call: Call) -> dict[str, Any]:
    async with gleif_at(gleif_place()) as gleif:
        return _told(await gleif.record(call.args["lei"]))


@verb("gleif.search")
async def search(call: Call) -> dict[str, Any]:
    async with gleif_at(gleif_place()) as gleif:
        found = await gleif.search(call.args["name"])
    return {"entities": [_told(record) for record in found[: call.args["limit"]]], "total": len(found)}


@verb("gleif.enrich")
async def enrich(call: Call) -> dict[str, Any]:
    async with gleif_at(gleif_place()) as gleif:
        record = await gleif.record(call.args["lei"])
        parents: dict[str, Any] = {}
        for level in ("direct", "ultimate"):
            parent = await gleif.parent(record.id, level)
            why = None if parent else await gleif.exception(record.id, level)
            parents[f"{level}_parent"] = {"lei": parent.id, "name": parent.name} if parent else None
            parents[f"{level}_exception"] = why.attributes.reason if why else ""
        return {**_told(record), **parents, "children": len(await gleif.children(record.id))}


@verb("gleif.import-tree")
async def import_tree(call: Call) -> dict[str, Any]:
    """The group with a run of its own, so that what came with it can be found and taken back together."""
    async with gleif_at(gleif_place()) as gleif:
        group = await discover(gleif, call.args["lei"], call.args["max_depth"], has_funds=call.args["funds"])
    return {**group.told(), "run": call.idempotency_key, "source": "gleif"}


@verb("gleif.import-managed-funds")
async def import_managed_funds(call: Call) -> dict[str, Any]:
    async with gleif_at(gleif_place()) as gleif:
        manager = await gleif.record(call.args["lei"])
        return {"manager": manager.id, "funds": [_told(fund) for fund in await gleif.managed_funds(manager.id)]}


@verb("gleif.resolve-successor")
async def resolve_successor(call: Call) -> dict[str, Any]:
    async with gleif_at(gleif_place()) as gleif:
        line = await gleif.successor(call.args["lei"])
    last = line[-1]
    return {"lei": last.id, "name": last.name, "is_active": last.is_active, "chain": [each.id for each in line]}


@verb("gleif.trace-ownership")
async def trace_ownership(call: Call) -> dict[str, Any]:
    async with gleif_at(gleif_place()) as gleif:
        line, cycles, is_whole = await chain(gleif, call.args["lei"], call.args["max_depth"])
    ends = "cycle" if cycles else line[-1].exception or ("top" if is_whole else "limit")
    return {
        "chain": [msgspec.to_builtins(node) for node in line],
        "cycles": [list(each) for each in cycles],
        "ends": ends,
    }


def _told(record: LeiRecord) -> dict[str, Any]:
    entity = record.attributes.entity
    return {
        "lei": record.id,
        "name": record.name,
        "status": entity.status or "",
        "country": entity.jurisdiction or entity.legal_address.country,
        "category": entity.category or "",
        "registration": record.attributes.registration.status,
    }
