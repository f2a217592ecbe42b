"""What an instance, its facts and its calls hold is erased; the history stays and verifies."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.errors import RejectedError
from perdure.identifiers import id_text, parse_id
from perdure.lifecycles.recovery import call_id
from perdure.moments import parse_date_time
from perdure.testing.sandbox import Sandbox
from tests.crash.audit import assert_audit_passes
from tests.lifecycles.onboarding import Handlers, catalogue, written


@pytest.mark.both_stores
@pytest.mark.req("T1")
async def test_an_ended_instance_is_erased_with_its_facts_and_calls(tmp_path: Path, store_url: str) -> None:
    async with Sandbox.open(
        store_url, definitions=catalogue(), lifecycles=[written(tmp_path)], handlers=Handlers().bound()
    ) as perdure:
        begun = await perdure.lifecycles.start("onboarding", "c1", {"born": "1970-01-01 in Oslo"})
        id = begun.instance.id
        await perdure.run_until_idle()
        task = begun.instance.tasks[0]
        call = id_text(call_id(task.correlation_id, parse_date_time(task.created_at), "default"))
        assert (await perdure.status(call)).args is not None
        with pytest.raises(RejectedError, match="it is active"):
            await perdure.lifecycles.erase(id, "the client asked for it")
        await perdure.lifecycles.cancel(id, reason="gave up")
        await perdure.run_until_idle()

        erased = await perdure.lifecycles.erase(id, "the client asked for it")
        assert (erased.status, erased.state) == ("cancelled", "INTAKE")
        assert (await perdure.status(call)).args is None
        state = (await perdure.runtime.kernel.read(parse_id(id), perdure._origin)).state
        assert (state.context, state.facts, state.is_erased) == (b"", b"", True)
        entries = await perdure.lifecycles.history(id)
        assert entries[-1].entry == "DataErased"
        assert [each.data["facts"] for each in entries if each.entry == "FactsJudged"] == [[]]
        assert (await perdure.lifecycles.erase(id, "again")).id == id
    await assert_audit_passes(store_url)
