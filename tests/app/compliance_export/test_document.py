"""A compliance document says what happened to the data, how the process was followed and who had a hand in it."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from typing import Any

import pytest

from perdure.app.compliance_export import check_document
from perdure.errors import RejectedError
from perdure.payload import canonical
from perdure.sources import Id, id_text, parse_id
from perdure.verbs import load_text
from tests.app.compliance_export.exported_store import EVIL, VERBS, Exporting, exporting, members


async def told(world: Exporting, id: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await world.export(id))
    return found


@pytest.mark.req("V30")
async def test_a_carried_call_is_told_with_its_process_its_people_and_what_was_stuck(store_url: str) -> None:
    async with exporting(store_url) as world:
        call = await world.carried()
        assert call.state == "completed" and call.carrier is not None
        document = await told(world, call.id)
        assert (document["format"], document["id"]) == ("perdure.compliance/2", call.id)
        assert document["summary"]["sentences"] == [f"Carry 7 for {EVIL}"]
        assert (document["summary"]["principal"], document["summary"]["state"]) == ("ada", "completed")
        assert members(document, "steps", "verb", "version", "state", "carrier") == [
            ("t.carried", 1, "completed", call.carrier.instance)
        ]
        outer, inner = document["processes"]
        assert [visit["element"] for visit in outer["path"]] == ["start", "a", "f", "review", "answer", "c", "b", "end"]
        assert [visit["how"] for visit in inner["path"]] == ["passed", "completed", "passed"]
        assert inner["parent"].startswith(f"node:{outer['id']}:")
        assert outer["picture"].startswith("<svg") and "taken" in outer["picture"]
        assert members(document, "people", "what", "who", "where") == [
            ("TaskOpened", "", "review"), ("TaskClaimed", "bob", "review"), ("TaskCompleted", "bob", "review"),
            ("IncidentResolved", "eve", "check"),
        ]  # fmt: skip
        assert members(document, "messages", "name", "key", "message_id", "principal") == [
            ("m", "k", "letter-1", "mail")
        ]
        assert members(document, "incidents", "where", "code", "how", "by") == [
            ("check", "job.contract", "retried", "eve")
        ]
        flaky = [each for each in document["frames"] if each["verb"] == "t.flaky"]
        assert [(each["attempt"], each["outcome"]) for each in flaky] == [
            (1, "failed"),
            (2, "failed"),
            (3, "completed"),
        ]


@pytest.mark.req("V30")
async def test_the_data_is_followed_from_hash_to_hash_with_what_changed(store_url: str) -> None:
    async with exporting(store_url) as world:
        call = await world.carried()
        document = await told(world, call.id)
        own = [each for each in document["data"] if each["of"] == document["processes"][0]["id"]]
        assert [each["after"] for each in own[:-1]] == [each["before"] for each in own[1:]]
        changes = [(each["where"], [(change["path"], change["after"]) for change in each["changes"]]) for each in own]
        assert changes == [
            ("", [("/given", 7), ("/who", EVIL)]), ("a", [("/t_one", 1)]), ("f", [("/attempt", 3)]),
            ("review", [("/verdict", "yes")]), ("answer", [("/page", 1)]), ("c", [("/ok", True)]),
            ("b", [("/t_two", 1)]),
        ]  # fmt: skip
        trail = [each for each in document["trail"] if each["of"] == own[0]["of"]]
        assert [each["verb"] for each in trail] == ["t.one", "t.flaky", "review", "answer", "c", "t.two"]
        assert [each["hash_out"] for each in trail[:-1]] == [each["hash_in"] for each in trail[1:]]


@pytest.mark.req("V30")
async def test_every_definition_stands_under_the_hash_it_was_pinned_by(store_url: str) -> None:
    async with exporting(store_url) as world:
        call = await world.carried()
        document = await told(world, call.id)
        catalogue = load_text(VERBS)
        names = ["t.carried", "t.contract", "t.flaky", "t.one", "t.two"]
        assert members(document, "verbs", "hash") == [(catalogue.get(name).content_hash,) for name in names]
        assert all("file" not in each["definition"] for each in document["verbs"])
        for each in document["definitions"]:
            assert f"sha256:{sha256(each['definition'].encode()).hexdigest()}" == each["hash"]
            assert each["xml"].startswith("<?xml")
        assert {each["definition"] for each in document["processes"]} == {
            each["hash"] for each in document["definitions"]
        }
        assert document["steps"][0]["definition"] == catalogue.get("t.carried").content_hash


@pytest.mark.req("V30")
async def test_the_chain_of_records_can_be_recomputed_from_the_bytes(store_url: str) -> None:
    async with exporting(store_url) as world:
        call = await world.carried()
        raw = await world.export(call.id)
        document = json.loads(raw)
        assert canonical(document) == raw
        for chain in document["chains"]:
            stored = await world.sandbox.runtime.store.records(parse_id(chain["id"]))
            assert [base64.b64decode(each["body"]) for each in chain["records"]] == [each.body for each in stored]
            beginning = b"perdure\0%s\0%s\0" % (chain["tenant"].encode(), chain["kind"].encode())
            previous = sha256(beginning + parse_id(chain["id"])).digest()
            for each in chain["records"]:
                previous = sha256(previous + base64.b64decode(each["body"])).digest()
                assert each["hash"] == f"sha256:{previous.hex()}"


@pytest.mark.req("V30")
async def test_an_escalation_belongs_to_the_call_it_was_for(store_url: str) -> None:
    async with exporting(store_url) as world:
        call = await world.escalated()
        document = await told(world, call.id)
        assert call.state == "completed"
        assert members(document, "steps", "verb", "sentence", "state") == [
            ("t.asked", "Ask about C-7", "completed"), ("t.senior", "t.senior", "completed"),
        ]  # fmt: skip
        assert members(document, "messages", "message_id", "name") == [("answer-1", "t.senior")]
        assert len(document["chains"]) == 2


@pytest.mark.req("V30")
async def test_an_amendment_names_who_proposed_and_who_approved_it(store_url: str) -> None:
    async with exporting(store_url) as world:
        call = await world.amended()
        document = await told(world, call.id)
        assert members(document, "people", "what", "who") == [
            ("AmendmentProposed", "ana"),
            ("AmendmentApproved", "bob"),
        ]
        given, amended = document["data"]
        assert (amended["before"], amended["by"]) == (given["after"], "bob")
        assert amended["changes"] == [{"path": "/case", "kind": "changed", "before": "C-8", "after": "C-9"}]


@pytest.mark.req("V30")
async def test_erased_data_leaves_tombstones(store_url: str) -> None:
    async with exporting(store_url) as world:
        call = await world.erased()
        raw = await world.export(call.id)
        document = json.loads(raw)
        assert check_document(raw).findings == []
        assert [chain["payloads"] for chain in document["chains"]] == [[]]
        assert {(each["hash"], each["reason"], each["by"]) for each in document["tombstones"]} == {
            (each["after"], "the client asked for it", "local") for each in document["data"]
        }
        assert [(each["is_erased"], each["changes"]) for each in document["data"]] == [(True, [])] * 2


@pytest.mark.req("V30")
@pytest.mark.parametrize("until", ["task", "incident"])
async def test_a_call_that_still_runs_is_told_as_far_as_it_has_come(store_url: str, until: str) -> None:
    async with exporting(store_url) as world:
        call = await world.carried(until)
        raw = await world.export(call.id)
        document = json.loads(raw)
        assert check_document(raw).findings == []
        assert document["summary"]["ended_at"] is None
        assert any(visit["left_at"] is None for visit in document["processes"][0]["path"])
        if until == "incident":
            assert members(document, "incidents", "how", "resolved_at") == [("", None)]


@pytest.mark.req("V30")
async def test_an_instance_that_carries_no_call_has_a_document_of_its_own(store_url: str) -> None:
    async with exporting(store_url) as world:
        call = await world.carried()
        assert call.carrier is not None
        raw = await world.export(call.carrier.instance)
        assert check_document(raw).findings == []
        assert [chain["kind"] for chain in json.loads(raw)["chains"]] == ["instance", "instance"]


@pytest.mark.req("V30", "V31")
async def test_what_belongs_to_another_tenant_is_not_found(store_url: str) -> None:
    async with exporting(store_url) as world:
        call = await world.erased()
        stranger = world.sandbox.acting(tenant="stranger")
        with pytest.raises(RejectedError, match="no such call"):
            await Exporting(stranger, world.handlers).export(call.id)
        with pytest.raises(RejectedError, match="no such call"):
            await world.export(id_text(b"\x01" * 16))


async def test_a_deployed_process_is_no_call(store_url: str) -> None:
    async with exporting(store_url) as world:
        await world.carried("task")
        rows = await world.sandbox.runtime.driver.fetch("scan_ids", after=b"", most=100)
        kinds = {}
        for (id,) in rows:
            aggregate = await world.sandbox.runtime.kernel.read(Id(bytes(id)), world.sandbox._origin)
            kinds[aggregate.kind] = id_text(aggregate.id)
        with pytest.raises(RejectedError, match="the id of a process"):
            await world.export(kinds["process"])


@pytest.mark.parametrize("limit", ["MAX_CHAINS", "MAX_RECORDS", "MAX_BYTES"])
async def test_what_would_be_too_large_is_refused_and_says_so(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with exporting() as world:
        call = await world.carried()
        monkeypatch.setattr(f"perdure.app.compliance_export.evidence_collection.{limit}", 2)
        with pytest.raises(RejectedError, match="more than 2"):
            await world.export(call.id)


async def test_the_same_call_gives_the_same_document() -> None:
    async with exporting() as world:
        call = await world.carried()
        await world.seal()
        assert await world.export(call.id) == await world.export(call.id)
