"""A store with deployed processes and their instances is verified, exported and checked elsewhere as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.app.audit.store_audit import export_calls, verify_store
from perdure.errors import QuarantinedError, RejectedError
from perdure.kernel.kernel import Aggregate
from perdure.payload import delta_of
from perdure.sources import id_text
from perdure.store.audit import verify_export
from tests.conformance.stores import Raw
from tests.engines.embedded.engine_world import ORIGIN, World, opened
from tests.engines.embedded.process_models import line, message, service, user, wait

pytestmark = pytest.mark.both_stores

STEPS = line(
    "steps", service("a", "t.one"), service("b", "t.two"), service("c", "t.three"), user("asked"),
    service("d", "t.four"),
)  # fmt: skip
MODEL = line("waiting", wait("asked", "m"), messages=(message("m", key="k-1"),))


@pytest.mark.req("V30")
async def test_processes_and_instances_verify_and_are_exported(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url) as world:
        await world.deploy(MODEL)
        waiting, done = await world.start("waiting", data={"given": 1}), await world.start("waiting")
        await world.sandbox.publish("m", "k-1", message_id="news")
        await world.sandbox.replay("news", instance=id_text(done.id))
        await world.sandbox.publish("m", "k-2", message_id="kept", ttl_seconds=60)
        report = await verify_store(world.sandbox, {})
        assert (report.findings, report.aggregates) == ([], 3)
        assert await export_calls(world.sandbox, [id_text(waiting.id)], tmp_path / "one", {}) == 1
        assert await export_calls(world.sandbox, [], tmp_path / "all", {}) == 3
        documents = [*(tmp_path / "one").iterdir(), *(tmp_path / "all").iterdir()]
        assert [verify_export(each.read_bytes()) for each in documents] == [[]] * 4
        with pytest.raises(RejectedError, match="no such"):
            await export_calls(world.sandbox.acting(tenant="stranger"), [id_text(waiting.id)], tmp_path, {})


def exported(folder: Path) -> bytes:
    (document,) = folder.iterdir()
    return document.read_bytes()


async def stored(world: World, aggregate: Aggregate) -> dict[bytes, bytes]:
    rows = await world.sandbox.runtime.driver.fetch("list_payloads", aggregate=aggregate.id)
    return {bytes(hash): bytes(data) for hash, data in rows}


@pytest.mark.req("V8")
async def test_what_is_stored_as_changes_is_read_exported_and_verified_whole(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url) as world:
        await world.deploy(STEPS)
        waiting = await world.start("steps", data={"given": 1})
        kept = await stored(world, waiting)
        assert [delta_of(data) is not None for data in kept.values()].count(True) == 3
    async with opened(store_url) as world:
        assert await world.data(waiting) == {"given": 1, "t_one": 1, "t_two": 1, "t_three": 1}
        assert (await verify_store(world.sandbox, {})).findings == []
        await export_calls(world.sandbox, [id_text(waiting.id)], tmp_path / "documents", {})
        assert verify_export(exported(tmp_path / "documents")) == []
        await world.engine.complete_task(waiting.id, world.node(waiting, "asked"), ORIGIN)
        done = await world.now(waiting)
        assert done.state.status == "completed"
        assert (await world.data(done))["t_four"] == 1


@pytest.mark.req("V8")
@pytest.mark.parametrize("is_gone", [False, True])
async def test_of_damage_that_spreads_only_where_it_began_is_told(store_url: str, is_gone: bool) -> None:
    async with opened(store_url) as world:
        await world.deploy(STEPS)
        waiting, other = await world.start("steps"), await world.start("steps")
        kept = await stored(world, waiting)
        bases = {hash: change.base for hash, data in kept.items() if (change := delta_of(data)) is not None}
        (middle,) = [hash for hash, base in bases.items() if base in bases and hash in bases.values()]
    with Raw(store_url) as raw:
        if is_gone:
            raw("DELETE FROM payload WHERE hash = ?", middle)
        else:
            raw("UPDATE payload SET stored = ? WHERE hash = ?", kept[middle][:-1] + b"?", middle)
    async with opened(store_url) as world:
        found = (await verify_store(world.sandbox, {})).findings
        assert [(each.code, middle.hex() in each.sentence) for each in found] == [("AUD010", True)]
        with pytest.raises(QuarantinedError, match=middle.hex()):
            await world.data(waiting)
        assert await world.data(other) == {"t_one": 2, "t_two": 2, "t_three": 2}
