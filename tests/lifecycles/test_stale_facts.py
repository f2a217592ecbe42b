"""Facts that were read before something else was decided decide nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.errors import RejectedError
from perdure.kernel.kernel import Prepared
from perdure.lifecycles.instances import KIND
from perdure.lifecycles.machine import commands as c
from perdure.testing.sandbox import Sandbox
from tests.lifecycles.onboarding import LIFECYCLE, ME, Handlers, catalogue, lifecycles_of, state_of, written

REVOCABLE = LIFECYCLE.replace("auto: true", "auto: false")


async def test_a_gate_that_closed_again_is_not_passed_by_facts_from_before(store_url: str, tmp_path: Path) -> None:
    file = written(tmp_path, REVOCABLE)
    async with Sandbox.open(
        store_url, definitions=catalogue(), lifecycles=[file], handlers=Handlers().bound()
    ) as sandbox:
        lifecycles = lifecycles_of(sandbox)
        begun = await lifecycles.start("onboarding", "c1", {}, ME)
        id = begun.aggregate.id
        await sandbox.call("client.create", {"id": "c1", "passport": "verified"})
        read = await lifecycles.view(await lifecycles.read(id, ME))
        await sandbox.call("client.update", {"id": "c1", "passport": "revoked"})
        await sandbox.run_until_idle()
        assert (await state_of(sandbox, id)).state == "INTAKE"
        with pytest.raises(RejectedError, match="it went on while its facts were read"):
            await sandbox.runtime.kernel.ask(KIND, id, ME, Prepared(c.Evaluate(view=read)))
        assert (await state_of(sandbox, id)).state == "INTAKE"
