"""Lifecycles are audited and erased as everything else: what waits, holds or was decided cannot be changed unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.store.audit import verify
from perdure.testing.sandbox import Sandbox
from tests.conformance.stores import Raw
from tests.lifecycles.onboarding import ME, Handlers, catalogue, letters_of, lifecycles_of, state_of, written

pytestmark = pytest.mark.both_stores


async def codes(sandbox: Sandbox) -> set[str]:
    report = await verify(sandbox.runtime.store, sandbox.runtime.machines, {}, dry=True)
    assert report.aggregates > 0
    return {finding.code for finding in report.findings}


@pytest.mark.parametrize(
    ("tampering", "code"),
    [
        ("DELETE FROM parked WHERE aggregate = ? AND kind = 'fact'", "AUD020"),
        ("UPDATE parked SET key = 'record/client/c9' WHERE aggregate = ? AND kind = 'fact'", "AUD020"),
        ("DELETE FROM parked WHERE aggregate = ? AND kind = 'lock'", "AUD020"),
        ("DELETE FROM timer WHERE aggregate = ?", "AUD02"),
        ("DELETE FROM payload WHERE aggregate = ?", "AUD011"),
        ("UPDATE aggregate SET status = 'onboarding/APPROVED' WHERE id = ?", "AUD001"),
        ("DELETE FROM index_entry WHERE aggregate = ?", "AUD0"),
    ],
)
async def test_tampering_with_a_waiting_instance_is_found(
    store_url: str, tmp_path: Path, tampering: str, code: str
) -> None:
    handlers, file = Handlers().bound(), written(tmp_path)
    async with Sandbox.open(store_url, definitions=catalogue(), lifecycles=[file], handlers=handlers) as sandbox:
        begun = await lifecycles_of(sandbox).start("onboarding", "c1", {"name": "Ada"}, ME)
        await sandbox.run_until_idle()
        assert await codes(sandbox) == set()
        with Raw(store_url) as raw:
            raw(tampering, begun.aggregate.id)
        assert any(found.startswith(code) for found in await codes(sandbox))


async def test_retention_erases_the_context_and_the_chain_still_verifies(store_url: str, tmp_path: Path) -> None:
    handlers, file = Handlers().bound(), written(tmp_path)
    async with Sandbox.open(store_url, definitions=catalogue(), lifecycles=[file], handlers=handlers) as sandbox:
        lifecycles = lifecycles_of(sandbox)
        begun = await lifecycles.start("onboarding", "c1", {"name": "Ada"}, ME)
        await sandbox.advance("P31D")
        id = begun.aggregate.id
        assert (await lifecycles.material(await lifecycles.read(id, ME))).context["name"] == "Ada"
        assert await sandbox.runtime.upkeep.erase_old(0) > 0
        assert (await state_of(sandbox, id)).is_erased
        assert (await lifecycles.material(await lifecycles.read(letters_of(id), ME))).context == {}
        assert await codes(sandbox) == set()
