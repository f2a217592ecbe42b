"""A job that is refused is seen: only of an instance that is not there nothing is left to do."""

from __future__ import annotations

import pytest

from perdure.errors import RejectedError, Rejection
from perdure.sources import Id
from perdure.testing.virtual_clock import VirtualSources
from perdure.work.ports import JobFound
from tests.conformance.stores import Raw
from tests.engines.embedded.engine_world import ORIGIN, Handlers, opened
from tests.engines.embedded.process_models import line, pause, service


@pytest.mark.req("V25", "P7")
async def test_a_job_whose_data_is_gone_becomes_an_incident_and_is_not_held_for_ever(store_url: str) -> None:
    clock, handlers = VirtualSources(), Handlers()
    async with opened(store_url, handlers, clock=clock) as world:
        await world.deploy(line("p", pause("sleep", "P1D"), service("a", "t.one")))
        begun = await world.start("p", data={"given": 1})
    with Raw(store_url) as raw:
        kept = raw("SELECT aggregate, hash, stored FROM payload WHERE aggregate = ?", begun.id)
        raw("DELETE FROM payload WHERE aggregate = ?", begun.id)
    async with opened(store_url, handlers, clock=clock) as world:
        await world.sandbox.advance("P2D")
        stuck = await world.now(begun)
        node = stuck.state.nodes[world.node(stuck, "a")]
        assert node.incident is not None and node.incident.code == "payload.damaged"
        assert "DamagedPayloadError" in node.incident.text
        assert handlers.runs == {}
        with Raw(store_url) as raw:
            for row in kept:
                raw("INSERT INTO payload (aggregate, hash, stored) VALUES (?, ?, ?)", *row)
        await world.engine.retry_incident(begun.id, node.number, ORIGIN)
        assert (await world.now(begun)).state.status == "completed"


@pytest.mark.req("V25")
async def test_a_job_of_an_instance_that_is_not_there_is_left_alone() -> None:
    async with opened() as world:
        nowhere = JobFound(Id(b"n" * 16), 2, ORIGIN.tenant, 0, 0)
        assert not await world.engine.workshop.lease(nowhere)


@pytest.mark.req("V25")
async def test_a_job_that_cannot_be_leased_otherwise_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with opened() as world:
        await world.deploy(line("p", pause("sleep", "P1D"), service("a", "t.one")))
        begun = await world.start("p")
        refused = RejectedError(Rejection("blocked", "lease", "instance", "x", "something new"))

        async def ask(*_: object, **__: object) -> None:
            raise refused

        found = JobFound(begun.id, 2, ORIGIN.tenant, 0, 0)
        monkeypatch.setattr(world.engine.instances, "read_or_recall", ask)
        with pytest.raises(RejectedError, match="something new"):
            await world.engine.workshop.lease(found)
