"""Attacks on evidence: erased, crowded out, corrected after the decision, taken away by agents, read by a dead link."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.durations import DAY
from perdure.errors import RejectedError
from perdure.testing import Sandbox
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import load_text
from tests.app.task_results.doors import insert
from tests.documents.papers import DEFINITIONS, PDF, opened
from tests.documents.test_checks import Lab, handed_in
from tests.lifecycles.onboarding import written
from tests.surfaces.http.sandbox_server import person, served

LIFECYCLE = """
lifecycle: papers
states:
  OPEN:
    requirements: [{type: document_exists, document_type: form}]
  HELD:
  DONE: {terminal: true}
transitions:
  - {from: OPEN, to: HELD}
  - {from: HELD, to: OPEN, guard: {not: {type: document_exists, document_type: form}}}
  - {from: HELD, to: DONE, manual: true}
"""
ASKING = LIFECYCLE.replace(
    "{type: document_exists, document_type: form}]",
    "{type: document_exists, document_type: form, on_fail: {blocker: {type: MissingDocument, auto: true, expires: P10D,"
    ' resolution: "(document.solicit :subject-entity-id $subject :document-type form)"}}}]',
    1,
)
"""The same, and what is missing is asked for."""


@pytest.mark.both_stores
@pytest.mark.req("T6", "T9", "V36")
async def test_a_document_that_was_erased_is_evidence_of_nothing(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path, lifecycles=[written(tmp_path, LIFECYCLE)]) as perdure:
        id = (await perdure.lifecycles.start("papers", "anna")).instance.id
        made = await perdure.documents.create("form", "anna", data={"title": "unique"})
        await perdure.documents.verify(made.id, 1)
        await perdure.run_until_idle()
        assert (await perdure.lifecycles.get(id)).state == "HELD"
        erased = await perdure.documents.erase(made.id, "the client asked for it")
        assert (erased.status, erased.versions[0].status) == ("expired", "expired")
        await perdure.run_until_idle()
        status = await perdure.lifecycles.get(id)
        assert status.state == "OPEN", "its erasure was told to whoever relied on it"
        assert [each.missing for each in status.blockers] == [["document 'form' is expired, not verified"]]
        later = (await perdure.lifecycles.start("papers", "anna", {})).instance
        assert later.state == "OPEN"
        assert await perdure.documents.find(text="unique") == []
        assert await perdure.documents.find(subject="anna", status="verified") == []
        pending = await perdure.documents.create("form", "anna", data={"title": "other"})
        await perdure.documents.erase(pending.id, "not needed")
        with pytest.raises(RejectedError, match="its data was erased"):
            await perdure.documents.verify(pending.id, 1)


@pytest.mark.both_stores
@pytest.mark.req("T9")
async def test_evidence_is_not_crowded_out_by_what_came_after_it(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path, lifecycles=[written(tmp_path, LIFECYCLE)]) as perdure:
        id = (await perdure.lifecycles.start("papers", "anna")).instance.id
        made = await perdure.documents.create("form", "anna", data={"title": "true"})
        await perdure.documents.verify(made.id, 1)
        await perdure.run_until_idle()
        for number in range(101):
            await perdure.documents.create("form", "anna", data={"title": f"noise {number}"})
        await perdure.run_until_idle()
        await perdure.lifecycles.look(id)
        await perdure.run_until_idle()
        assert (await perdure.lifecycles.get(id)).state == "HELD"


@pytest.mark.req("T10", "V36")
async def test_fields_of_a_version_are_not_corrected_after_somebody_decided_on_it(tmp_path: Path) -> None:
    lab = Lab({"clean": True}, {"fields": {"name": "Anma"}, "confidence": 0.5})
    async with lab.open("sqlite://", tmp_path) as perdure:
        id = await handed_in(perdure)
        await perdure.run_until_idle()
        await perdure.acting(principal="olga").documents.verify(id, 1)
        eve = perdure.acting(principal="eve")
        (task,) = await eve.tasks.list()
        await eve.tasks.complete(task.key, {"fields": {"name": "Eve"}})
        await perdure.run_until_idle()
        assert (await perdure.documents.content(id, 1)).extracted == {"name": "Anma"}, "what olga saw stays"
        assert await perdure.documents.find(text="eve") == []


@pytest.mark.req("T7", "V36")
async def test_an_agent_takes_no_evidence_away_by_putting_another_document_in_its_place(tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path) as perdure:
        first, second = [await perdure.documents.create("form", "anna", data={"title": str(each)}) for each in (1, 2)]
        await perdure.documents.verify(first.id, 1)
        robot = perdure.acting(principal="agent:rob", groups=["compliance"])
        with pytest.raises(RejectedError, match="is an agent"):
            await robot.documents.supersede(first.id, second.id)
        assert (await perdure.documents.supersede(first.id, second.id)).status == "superseded"


@pytest.mark.both_stores
@pytest.mark.req("T4")
async def test_a_row_that_is_too_large_is_parked_without_being_read_whole(store_url: str, tmp_path: Path) -> None:
    async with Sandbox.open(
        store_url, definitions=load_text(DEFINITIONS), lifecycles=[written(tmp_path, LIFECYCLE)]
    ) as perdure:
        result = {"correlation_id": "0" * 26 + ":a:b:1", "status": "failed"}
        for each in ({"error": "e" * 3_000_000}, {"items": "[" + "1," * 3_000_000 + "1]"}, {"verb": "v" * 100_000}):
            insert(store_url, {**result, **each})
        rows = await perdure.runtime.store.task_results.lease(0, 1, 10)
        assert len(rows) == 3
        assert max(len(text) for row in rows for text in row.fields.values() if isinstance(text, str)) < 1_100_000
        await perdure.advance("PT1M")
        letters = await perdure.runtime.store.dead_letters("default", 10)
        reasons = sorted(each.answer for each in letters)
        assert reasons[0].startswith("Expected to") and "there is no such" in reasons[0]
        assert reasons[1:] == ["items has more than 1,048,576 letters", "verb has more than 4,000 letters"]


@pytest.mark.req("T8", "P3")
async def test_a_link_ends_with_the_key_of_whoever_had_it_made(tmp_path: Path) -> None:
    people = [person("olga", "operator", "reviewer")]
    async with served(verbs=DEFINITIONS, people=people, blobs=tmp_path / "blobs") as server:
        ada = server.of("ada")
        key = await ada.post("/api/keys", {"name": "short", "principal": "kim", "roles": ["operator"]}, 201)
        made = await server.of("olga").post("/api/documents", {"type": "letter", "subject": "anna"}, 201)
        await server.of("olga").ask(
            "POST", f"/api/documents/{made['id']}/content", content=PDF, headers={"Content-Type": "application/pdf"}
        )
        headers = {"Authorization": f"Bearer {key['text']}"}
        path = f"/api/documents/{made['id']}/versions/1/link"
        link = (await ada.ask("POST", path, headers=headers)).json()["link"]
        nobody = server.waiting("nothing")
        assert (await nobody._client.get(link)).status_code == 200
        await ada.post(f"/api/keys/{key['id']}/revoke", {"reason": "lost"})
        assert (await nobody._client.get(link)).status_code == 404


@pytest.mark.both_stores
@pytest.mark.req("T11")
async def test_no_expiry_is_missed_while_nothing_runs(store_url: str, tmp_path: Path) -> None:
    clock, file = VirtualSources(seed=3), written(tmp_path, ASKING)

    async def process() -> Sandbox:
        return await Sandbox.start(store_url, definitions=load_text(DEFINITIONS), lifecycles=[file], clock=clock)

    perdure = await process()
    id = (await perdure.lifecycles.start("papers", "anna")).instance.id
    made = await perdure.documents.create("form", "anna", data={"title": "x"}, valid_to="2026-06-01")
    await perdure.documents.verify(made.id, 1)
    other = (await perdure.lifecycles.start("papers", "bert")).instance.id
    await perdure.run_until_idle()
    assert (await perdure.lifecycles.get(id)).state == "HELD"
    await perdure.runtime.stop()

    clock.move_to(clock.now() + 400 * DAY)
    perdure = await process()
    await perdure.advance("PT1S")
    assert (await perdure.documents.get(made.id)).status == "expired"
    assert (await perdure.lifecycles.get(id)).state == "OPEN", "evidence that expired meanwhile opens its case again"
    tasks = (await perdure.lifecycles.get(other)).tasks
    assert [each.status for each in tasks] == ["expired", "pending"], "what was asked for expired, and is asked again"
    await perdure.runtime.stop()
