"""What people do with calls: find, amend, erase; and what happens when a verb is gone."""

from __future__ import annotations

import pytest

from perdure.errors import RejectedError, SchemaViolationError
from perdure.testing.sandbox import Sandbox
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import load_text
from tests.crash.audit import assert_audit_passes
from tests.runbooks.sample_verbs import DEFINITIONS, Handlers, catalogue
from tests.runbooks.test_calls import opened


async def test_calls_are_found_by_the_declared_index_of_input_and_output(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        first = await sandbox.call("kyc.documents", {"entity": "Allianz"})
        second = await sandbox.call("kyc.documents", {"entity": "Allianz"})
        await sandbox.call("kyc.documents", {"entity": "Nordlys"})
        await sandbox.complete(f"{second.id}:1", {"case_id": "c9"})
        assert {each.id for each in await sandbox.find("kyc.documents", entity="Allianz")} == {first.id, second.id}
        assert [each.id for each in await sandbox.find("kyc.documents", case_id="c9", entity="Allianz")] == [second.id]
        with pytest.raises(RejectedError, match=r"'note' is not in its index.*entity, case_id"):
            await sandbox.find("kyc.documents", note="x")


async def test_an_amendment_needs_a_reason_and_a_second_person(store_url: str) -> None:
    async with opened(store_url, principal="ana") as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "Alianz"})
        with pytest.raises(RejectedError, match="no reason"):
            await sandbox.amend(view.id, {"entity": "Allianz"})
        with pytest.raises(SchemaViolationError):
            await sandbox.amend(view.id, {"entity": 7}, reason="typo")
        proposed = await sandbox.amend(view.id, {"entity": "Allianz"}, reason="typo")
        assert proposed.args == {"entity": "Alianz"} and proposed.amendments[0].by == "ana"
        with pytest.raises(RejectedError, match="second person") as caught:
            await sandbox.amend(view.id, approve=1)
        assert caught.value.rejection.code == "forbidden"
        approved = await sandbox.acting(principal="ben").amend(view.id, approve=1)
        assert approved.args == {"entity": "Allianz"} and approved.amendments[0].approved_by == "ben"
        assert [each.id for each in await sandbox.find("kyc.documents", entity="Allianz")] == [view.id]
        assert await sandbox.find("kyc.documents", entity="Alianz") == []
        with pytest.raises(RejectedError, match="no amendment 2"):
            await sandbox.amend(view.id, approve=2)
    await assert_audit_passes(store_url)


async def test_erased_data_is_gone_and_the_history_still_verifies(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "Allianz"})
        with pytest.raises(RejectedError, match="it is parked"):
            await sandbox.erase(view.id, "by right")
        await sandbox.complete(f"{view.id}:1", {"case_id": "c"})
        erased = await sandbox.erase(view.id, "by right")
        assert (erased.state, erased.args, erased.result) == ("completed", None, None)
        assert erased.erased_at is not None
        assert await sandbox.find("kyc.documents", entity="Allianz") == []
        names = [event.entry async for event in sandbox.events(view.id)]
        assert names[-1] == "PayloadErased"
        rows = await sandbox.runtime.driver.fetch(
            "list_payloads", aggregate=(await sandbox.runtime.store.ended(10**18, 9) or [(b"", "")])[0][0]
        )
        assert rows == []
    await assert_audit_passes(store_url)


async def test_retention_erases_only_what_ended_long_enough_ago(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        sandbox.runtime._keep_seconds = 86_400.0 * 30
        old = await sandbox.call("kyc.score", {"entity": "old"})
        waiting = await sandbox.call("kyc.documents", {"entity": "waiting"})
        await sandbox.advance("P10D")
        young = await sandbox.call("kyc.score", {"entity": "young"})
        await sandbox.complete(f"{waiting.id}:1", {"case_id": "c"})
        await sandbox.advance("P21D")
        assert await sandbox.runtime.retain() == 1
        assert (await sandbox.status(old.id)).args is None
        assert (await sandbox.status(young.id)).args == {"entity": "young", "depth": 2}
        assert (await sandbox.status(waiting.id)).result == {"case_id": "c"}
    await assert_audit_passes(store_url)


async def test_a_parked_call_whose_definition_vanished_is_an_incident_and_heals_when_it_is_back(store_url: str) -> None:
    clock = VirtualSources()
    async with opened(store_url, clock=clock) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "A"})
    fewer = load_text("- {name: kyc.other, execution: {kind: durable}}")
    async with Sandbox.open(store_url, definitions=fewer, clock=clock) as sandbox:
        await sandbox.advance("PT1M")
        stuck = await sandbox.status(view.id)
        assert stuck.waiting_for is not None and stuck.waiting_for.code == "definition.missing"
        assert [each.id for each in await sandbox.incidents()] == [view.id]
        receipt = await sandbox.complete(f"{view.id}:1", {"case_id": "c"}, message_id="m1")
        assert receipt.answer == "dead_letter"
    async with opened(store_url, clock=clock) as sandbox:
        await sandbox.advance("PT1M")
        healed = await sandbox.status(view.id)
        assert healed.waiting_for is not None and healed.waiting_for.kind == "completion"
        assert (await sandbox.replay("m1")).answer == "applied"
        assert (await sandbox.status(view.id)).state == "completed"


async def test_a_running_job_whose_handler_vanished_is_an_incident(store_url: str) -> None:
    clock = VirtualSources()
    handlers = Handlers()
    async with opened(store_url, handlers, clock=clock) as sandbox:
        view = await sandbox.call("kyc.flaky")
    async with Sandbox.open(store_url, definitions=catalogue(), clock=clock) as sandbox:
        await sandbox.advance("PT1M")
        stuck = await sandbox.status(view.id)
        assert stuck.state == "parked" and stuck.waiting_for is not None
        assert stuck.waiting_for.code == "definition.missing"


async def test_a_second_version_serves_new_calls_while_old_ones_keep_theirs(store_url: str) -> None:
    two = (
        DEFINITIONS
        + """
- name: kyc.documents
  version: 2
  description: Asks more
  input_schema: {required: [entity], properties: {entity: {type: string}}}
  output_schema: {required: [pages], properties: {pages: {type: integer}}}
  execution: {kind: durable}
"""
    )
    clock = VirtualSources()
    async with opened(store_url, clock=clock) as sandbox:
        old = await sandbox.call("kyc.documents", {"entity": "A"})
    async with Sandbox.open(store_url, definitions=load_text(two), handlers=Handlers().bound(), clock=clock) as sandbox:
        await sandbox.advance("PT1M")
        new = await sandbox.call("kyc.documents", {"entity": "A"})
        assert (old.version, new.version) == (1, 2)
        assert (await sandbox.complete(f"{old.id}:1", {"case_id": "c"})).answer == "applied"
        with pytest.raises(SchemaViolationError):
            await sandbox.complete(f"{new.id}:1", {"case_id": "c"})
        assert (await sandbox.complete(f"{new.id}:1", {"pages": 3})).answer == "applied"
