"""Instances are audited, exported and erased as calls are."""

from __future__ import annotations

import pytest

from perdure.bpmn.machine import commands as c
from perdure.kernel.kernel import Prepared
from perdure.kernel.ports import Attachments
from perdure.sources import Id
from perdure.store.audit import document_of, verify, verify_export
from tests.conformance.stores import Raw
from tests.engines.embedded.message_world import ORIGIN, Desk, desks

pytestmark = pytest.mark.both_stores


async def codes(desk: Desk) -> set[str]:
    report = await verify(desk.store, {"instance": desk.machine}, {}, dry=True)
    assert report.aggregates > 0
    return {finding.code for finding in report.findings}


async def filled(desk: Desk) -> Id:
    """An instance that waits for a message and heads of the past, one that ended, kept and dead messages."""
    await desk.begin("one", "case-3")
    await desk.publish("m3", case="case-3", page=3)
    id = await desk.begin("again")
    await desk.publish("m1", page=1)
    await desk.publish("m2", 60, case="case-2", page=2)
    await desk.publish("lost", case="case-9")
    await desk.settle()
    return id


@pytest.mark.req("P7")
async def test_a_store_with_instances_and_messages_verifies(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        await filled(desk)
        assert await codes(desk) == set()


@pytest.mark.parametrize(
    ("tampering", "code"),
    [
        ("UPDATE parked SET kind = 'signal' WHERE aggregate = ?", "AUD020"),
        ("UPDATE parked SET slot = tenant_bytes WHERE aggregate = ?", "AUD020"),
        ("DELETE FROM parked WHERE aggregate = ?", "AUD020"),
        ("DELETE FROM payload WHERE aggregate = ?", "AUD011"),
        ("UPDATE aggregate SET kind = 'runbook' WHERE id = ?", "AUD001"),
    ],
)
async def test_tampering_with_an_instance_is_found(store_url: str, tampering: str, code: str) -> None:
    async with desks(store_url) as (desk,):
        id = await filled(desk)
        with Raw(store_url) as raw:
            empty = "''::bytea" if raw.is_postgres else "x''"
            raw(tampering.replace("tenant_bytes", empty), id)
        assert code in await codes(desk)


async def test_an_instance_is_exported_and_its_document_checked_offline(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        id = await filled(desk)
        machines = {"instance": desk.machine}
        document = await document_of(desk.store, machines, id, {})
        assert verify_export(document) == []
        changed = document.replace(b'"principal":"sender"', b'"principal":"nobody"')
        assert verify_export(changed) != []


async def test_an_erased_instance_has_no_data_and_still_verifies(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        id = await desk.begin("one")
        await desk.publish("m", page=1)
        assert [each for each, _ in await desk.store.ended(10**18, 9, "instance")] == [id]
        await desk.kernel.ask("instance", id, ORIGIN, Prepared(c.Erase(reason="asked for"), Attachments(erases=True)))
        assert await desk.driver.fetch("list_payloads", aggregate=id) == []
        assert await codes(desk) == set()
        assert await desk.store.ended(10**18, 9, "instance") == []
