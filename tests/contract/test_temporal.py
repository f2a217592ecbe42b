"""The same models inside Temporal: the same data, keys and ends as on our own engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure import Call, Perdure
from perdure.testing.service_availability import ServiceUnavailable
from perdure.testing.temporal_server import TemporalServer, real_server
from tests.conftest import unavailable
from tests.contract.contract_world import MODELS, verbs_of

pytestmark = pytest.mark.deep
FILES = ("linear.bpmn", "request-and-wait.bpmn", "gate.bpmn", "loop.bpmn", "parallel.bpmn", "subprocess.bpmn")


@pytest.fixture
def server() -> Iterator[TemporalServer]:
    try:
        made = real_server()
    except ServiceUnavailable as error:
        unavailable(str(error))
    try:
        made.start()
        yield made
    finally:
        made.remove()


@pytest.mark.req("B8")
@pytest.mark.timeout(300)
async def test_models_of_the_profile_end_alike_on_both_engines(server: TemporalServer, tmp_path: Path) -> None:
    ours = await played(f"sqlite:///{tmp_path / 'a.db'}", "embedded")
    theirs = await played(f"sqlite:///{tmp_path / 'b.db'}", server.url)
    assert ours == theirs
    assert {state for state, _, _ in ours.values()} == {"completed"}


async def played(url: str, engine: str) -> dict[str, tuple[str, object, list[str]]]:
    """Every model run to its end: its state, its data, and the keys its work was counted by."""
    keys: dict[str, list[str]] = {}

    def run(call: Call) -> dict[str, object]:
        keys.setdefault(call.call_id, []).append(call.idempotency_key.replace(call.call_id, "INSTANCE"))
        rounds = call.args.get("rounds") or 0
        return {
            "reservation": "r", "parcel": "p", "weight": 1, "job": "j-1", "url": "u", "amount": 5, "payment": "done",
            "text": "t", "rounds": rounds + 1, "limit": 3, "free": 2, "valid": True, "confirmation": "c", "goods": [1],
            "invoice": "i",
        }  # fmt: skip

    catalogue = verbs_of(*FILES)
    handlers = {verb.name: run for verb in catalogue}
    async with Perdure.open(url, definitions=catalogue, handlers=handlers, engine=engine) as perdure:
        for file in FILES:
            await perdure.processes.deploy(MODELS / file, profile="contract")

        async def begun(process: str, **data: object) -> str:
            made = await perdure.instances.start(process, data, until="rest", timeout_seconds=60)
            return made.id

        async def decided(id: str, decision: str) -> None:
            key = next(each.key for each in await perdure.tasks.list() if each.instance == id)
            await perdure.complete(key, {"decision": decision})
            await perdure.instances.wait(id, "rest", 60)

        ids = {
            "ship_order": await begun("ship_order", order={"id": "o", "quantity": 1}, customer="c"),
            "render_film": await begun("render_film", film="f"),
            "approve_claim": await begun("approve_claim", claim={"id": "c"}),
            "write_article": await begun("write_article", topic="t"),
            "check_order": await begun("check_order", order="o", customer="c"),
            "fulfil_order": await begun("fulfil_order", order="o"),
        }
        await perdure.publish("RenderingCompleted", "j-1", {"frames": 2, "location": "l"}, message_id="m")
        await decided(ids["approve_claim"], "approved")
        await decided(ids["write_article"], "again")
        await decided(ids["write_article"], "good")
        found = {name: await perdure.instances.wait(id, "end", 60) for name, id in ids.items()}
        return {name: (each.state, each.data, sorted(keys[each.id])) for name, each in found.items()}
