"""Triggers: what happens to a record, a document or a lifecycle begins instances, each of them once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure.lifecycles.machine.definition_machine import definition_id
from perdure.testing.sandbox import Sandbox

VERBS = """
entities:
  cbu:
    key: id
    fields: {id: {type: string, required: true}, client_type: string, owner: string, secret: string}
documents:
  passport: {data_schema: {properties: {name: {type: string}}}, validity: P1Y}
verbs:
  - name: cbu.create
    input_schema: {required: [id], properties: {id: {type: string}, client_type: {}, owner: {}, secret: {}}}
    execution: {kind: sync, handler: "crud::execute", params: {entity: cbu, operation: create}}
  - name: cbu.update
    input_schema: {required: [id], properties: {id: {type: string}, client_type: {}}}
    execution: {kind: sync, handler: "crud::execute", params: {entity: cbu, operation: update}}
"""
ONBOARDING = """
workflow: kyc_onboarding
trigger:
  event: cbu.created
  conditions:
    - field: client_type
      in: [FUND, TRUST]
states:
  INTAKE: {initial: true}
  APPROVED: {terminal: true}
transitions:
  - {from: INTAKE, to: APPROVED, manual: true}
"""
RENEWAL = """
workflow: renewal
trigger: {event: document.expired, conditions: [{field: document_type, equals: passport}], context: {old: document_id}}
states: {OPEN: , DONE: {terminal: true}}
transitions: [{from: OPEN, to: DONE, manual: true}]
"""
REVIEW = """
workflow: review
trigger: {event: lifecycle.completed, conditions: [{field: lifecycle, equals: kyc_onboarding}]}
states: {OPEN: , DONE: {terminal: true}}
transitions: [{from: OPEN, to: DONE, manual: true}]
"""


@asynccontextmanager
async def office(tmp_path: Path, *texts: str, url: str = "sqlite://") -> AsyncIterator[Sandbox]:
    (tmp_path / "verbs.yaml").write_text(VERBS)
    async with Sandbox.open(url, definitions=tmp_path / "verbs.yaml", lifecycles=[]) as perdure:
        for each in texts:
            await perdure.lifecycles.deploy(each)
        yield perdure


async def begun(perdure: Sandbox, lifecycle: str) -> list[tuple[str, str]]:
    await perdure.run_until_idle()
    return [(each.subject, each.state) for each in await perdure.lifecycles.list(lifecycle)]


@pytest.mark.both_stores
@pytest.mark.req("T1")
async def test_a_record_that_is_made_begins_a_lifecycle_once(tmp_path: Path, store_url: str) -> None:
    async with office(tmp_path, ONBOARDING, url=store_url) as perdure:
        await perdure.call("cbu.create", {"id": "u1", "client_type": "FUND"})
        await perdure.call("cbu.create", {"id": "u2", "client_type": "PERSON"})
        await perdure.call("cbu.update", {"id": "u2", "client_type": "FUND"})
        assert await begun(perdure, "kyc_onboarding") == [("u1", "INTAKE")]
        (item,) = await perdure.lifecycles.list("kyc_onboarding")
        status = await perdure.lifecycles.get(item.id)
        assert (status.started_by, status.history[0].reason) == ("perdure", "cbu.created")
        await perdure.lifecycles.transit(item.id, "APPROVED")
        assert await begun(perdure, "kyc_onboarding") == [("u1", "APPROVED")]


@pytest.mark.req("T11")
async def test_evidence_that_expires_begins_a_renewal_with_the_document_in_its_context(tmp_path: Path) -> None:
    async with office(tmp_path, RENEWAL) as perdure:
        made = await perdure.documents.create("passport", "u1", data={"name": "Ana"})
        await perdure.acting(principal="olga").documents.verify(made.id, 1)
        assert await begun(perdure, "renewal") == []
        await perdure.advance("P366D")
        assert await begun(perdure, "renewal") == [("u1", "OPEN")]
        (item,) = await perdure.lifecycles.list("renewal")
        aggregate = await perdure.runtime.lifecycles.read(item.id, perdure._origin)
        assert (await perdure.runtime.lifecycles.material(aggregate)).context == {"old": made.id}


async def test_a_lifecycle_that_ends_begins_another(tmp_path: Path) -> None:
    async with office(tmp_path, ONBOARDING, REVIEW) as perdure:
        started = await perdure.lifecycles.start("kyc_onboarding", "u1")
        assert await begun(perdure, "review") == []
        await perdure.lifecycles.transit(started.instance.id, "APPROVED")
        assert await begun(perdure, "review") == [("u1", "OPEN")]


async def test_a_field_of_the_event_may_name_the_subject(tmp_path: Path) -> None:
    text = ONBOARDING.replace("  conditions:", "  subject: owner\n  conditions:")
    async with office(tmp_path, text) as perdure:
        await perdure.call("cbu.create", {"id": "u1", "client_type": "FUND", "owner": "group-7"})
        assert await begun(perdure, "kyc_onboarding") == [("group-7", "INTAKE")]
        await perdure.call("cbu.create", {"id": "u2", "client_type": "FUND"})
        assert await begun(perdure, "kyc_onboarding") == [("group-7", "INTAKE")]
        (letter,) = await perdure.dead_letters()
        assert (letter["kind"], letter["key"]) == ("lifecycle_event", "u2")
        assert "a subject has 1 to 200 printable characters" in letter["reason"]


async def test_a_new_version_without_a_trigger_and_a_retired_one_begin_nothing(tmp_path: Path) -> None:
    async with office(tmp_path, ONBOARDING) as perdure:
        await perdure.lifecycles.deploy(ONBOARDING.replace("cbu.created", "cbu.deleted"))
        await perdure.call("cbu.create", {"id": "u1", "client_type": "FUND"})
        assert await begun(perdure, "kyc_onboarding") == []
        await perdure.lifecycles.retire("kyc_onboarding", 2)
        await perdure.call("cbu.create", {"id": "u2", "client_type": "FUND"})
        assert await begun(perdure, "kyc_onboarding") == [("u2", "INTAKE")]
        await perdure.lifecycles.retire("kyc_onboarding", 1)
        await perdure.call("cbu.create", {"id": "u3", "client_type": "FUND"})
        assert await begun(perdure, "kyc_onboarding") == [("u2", "INTAKE")]


async def test_lifecycles_that_begin_one_another_for_ever_are_stopped_and_told(tmp_path: Path) -> None:
    loop = """
workflow: again
trigger: {event: lifecycle.completed, conditions: [{field: lifecycle, equals: again}]}
states: {OPEN: , DONE: {terminal: true}}
transitions: [{from: OPEN, to: DONE}]
"""
    async with office(tmp_path, loop) as perdure:
        await perdure.lifecycles.start("again", "u1")
        assert len(await begun(perdure, "again")) == 21
        (letter,) = await perdure.dead_letters()
        assert letter["reason"] == "20 lifecycles began one another with nobody in between"


async def test_the_inbox_holds_no_data_of_the_record_that_began_something(tmp_path: Path) -> None:
    async with office(tmp_path, ONBOARDING) as perdure:
        written: list[bytes] = []
        perdure.runtime.kernel.notice(lambda _, notices: written.extend(str(each.route).encode() for each in notices))
        await perdure.call("cbu.create", {"id": "u1", "client_type": "FUND", "secret": "hush"})
        assert any(b"cbu.created" in each for each in written)
        assert not any(b"hush" in each or b"FUND" in each for each in written)


async def test_the_same_event_delivered_again_begins_nothing(tmp_path: Path) -> None:
    async with office(tmp_path, ONBOARDING) as perdure:
        seen: list[tuple[str, Any]] = []
        perdure.runtime.kernel.notice(lambda _, notices: seen.extend((each.message_id, each.route) for each in notices))
        await perdure.call("cbu.create", {"id": "u1", "client_type": "FUND"})
        await perdure.run_until_idle()
        (item,) = await perdure.lifecycles.list("kyc_onboarding")
        await perdure.lifecycles.transit(item.id, "APPROVED")
        triggers = perdure.runtime.lifecycle_upkeep._triggers
        message_id, route = next(each for each in seen if getattr(each[1], "events", ()))
        await triggers.begin("default", message_id, route.events)
        assert await begun(perdure, "kyc_onboarding") == [("u1", "APPROVED")]
        assert await perdure.dead_letters() == []
        assert (await perdure.runtime.kernel.read(definition_id("default", "kyc_onboarding"), perdure._origin)).version
