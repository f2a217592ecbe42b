"""A store with deployed processes and their instances is verified, exported and checked elsewhere as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.app.auditing import export_calls, verify_store
from perdure.errors import RejectedError
from perdure.sources import id_text
from perdure.store.audit import verify_export
from tests.engine.models import line, message, wait
from tests.engine.world import opened

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
