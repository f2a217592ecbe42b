"""A store that is whole passes its audit; whatever was changed behind its back is found and named."""

from __future__ import annotations

import pytest
from tests.audit.world import fill, open_world


@pytest.mark.req("P7")
async def test_a_store_with_calls_in_every_state_passes_its_audit(store_url: str) -> None:
    async with open_world(store_url) as world:
        await fill(world)
        await world.seal()
        report = await world.verify(require_sealed=True)
        assert report.findings == []
        assert report.aggregates == len(world.calls)
        assert report.unsealed == 0
        assert report.seals == 1
        assert await world.store.quarantined() == []
