"""The graph of entities on record: imports that can be taken back, and that supersede each other."""

from __future__ import annotations

from typing import Any

from perdure import Call, verb

MAX_EDGES = 900


@verb("graph.record-import")
async def record_import(call: Call) -> dict[str, Any]:
    tree = call.args["tree"]
    await _supersede(call, tree["entity"])
    for node in tree["hierarchy"]:
        await _ensure(call, {field: node.get(field) for field in ("lei", "name", "country", "category", "status")})
    edges = [node for node in tree["hierarchy"] if node.get("parent")]
    for node in edges:
        await call.entities.create("ownership_edge", {
            "run": tree["run"], "owner": node["parent"], "owned": node["lei"], "source": tree["source"],
            "confidence": "medium", "status": "active",
        })  # fmt: skip
    run = {"run": tree["run"], "entity": tree["entity"], "source": tree["source"], "status": "active"}
    await call.entities.create("import_run", run)
    return {"run": tree["run"], "entities": len(tree["hierarchy"]), "edges": len(edges)}


@verb("graph.roll-back-import")
async def roll_back_import(call: Call) -> dict[str, Any]:
    run = call.args["run"]
    await call.entities.update("import_run", run, {"status": "rolled-back"})
    return {"run": run, "ended": await _end(call, run)}


async def _supersede(call: Call, entity: str) -> None:
    for earlier in await call.entities.list("import_run", {"entity": entity, "status": "active"}):
        await call.entities.update("import_run", earlier["run"], {"status": "superseded"})
        await _end(call, earlier["run"])


async def _end(call: Call, run: str) -> int:
    edges = await call.entities.list("ownership_edge", {"run": run, "status": "active"}, limit=MAX_EDGES)
    for edge in edges:
        await call.entities.update("ownership_edge", [run, edge["owner"], edge["owned"]], {"status": "ended"})
    return len(edges)


async def _ensure(call: Call, fields: dict[str, Any]) -> None:
    if await call.entities.list("legal_entity", {"lei": fields["lei"]}):
        await call.entities.update("legal_entity", fields["lei"], fields)
    else:
        await call.entities.create("legal_entity", fields)
