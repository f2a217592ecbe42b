"""Damaged lifecycles and documents are seen in their lists and hide none of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure import CallView
from perdure.sources import parse_id
from tests.acceptance.commands import Shell
from tests.conformance.stores import Raw
from tests.documents.test_solicit import house
from tests.surfaces.http.sandbox_server import Server

pytestmark = pytest.mark.req("P7")


async def begin(server: Server, count: int) -> list[str]:
    """So many lifecycles, oldest first."""
    bodies = [{"lifecycle": "onboarding", "subject": f"client {each}"} for each in range(count)]
    return [(await server.of("olga").post("/api/lifecycles", body, 201))["instance"]["id"] for body in bodies]


def damage(url: str, id: str) -> None:
    with Raw(url) as raw:
        ((state,),) = raw("SELECT state FROM aggregate WHERE id = ?", parse_id(id))
        turned = bytes([*bytes(state)[:-1], bytes(state)[-1] ^ 1])
        raw("UPDATE aggregate SET state = ? WHERE id = ?", turned, parse_id(id))


@pytest.mark.both_stores
async def test_a_damaged_lifecycle_is_listed_as_quarantined_and_hides_none_behind_it(
    store_url: str, tmp_path: Path
) -> None:
    async with house(store_url, tmp_path) as server:
        ids, vera = await begin(server, 5), server.of("vera")
        damage(store_url, ids[3])
        found: dict[str, str] = {}
        after = None
        for _ in range(5):
            page = await vera.get("/api/lifecycles", limit=2, **({"after": after} if after else {}))
            found |= {each["id"]: each["status"] for each in page["items"]}
            after = page["next"]
            if after is None:
                break
        assert found == {id: "quarantined" if id == ids[3] else "active" for id in ids}
        named = await vera.get("/api/lifecycles", lifecycle="onboarding", subject="client 3")
        assert [each["status"] for each in named["items"]] == ["quarantined"]
        await vera.get(f"/api/lifecycles/{ids[3]}", 409)
        assert [each["id"] for each in (await vera.get("/api/incidents"))["items"]] == [ids[3]]
        # A key that does not reach every verb is told of nothing whose verbs nobody knows.
        assert (await server.of("narrow").get("/api/lifecycles"))["items"] == []


@pytest.mark.both_stores
async def test_a_damaged_document_is_listed_as_quarantined(store_url: str, tmp_path: Path) -> None:
    async with house(store_url, tmp_path) as server:
        olga = server.of("olga")
        made = {"type": "form", "data": {"title": "A"}}
        one, other = [(await olga.post("/api/documents", made, 201))["id"] for _ in range(2)]
        damage(store_url, one)
        await olga.get(f"/api/documents/{one}", 409)
        listed = (await olga.get("/api/documents"))["items"]
        assert {each["id"]: each["status"] for each in listed} == {one: "quarantined", other: "pending"}


@pytest.mark.both_stores
async def test_incidents_name_damaged_lifecycles_and_documents_and_what_differs(store_url: str, tmp_path: Path) -> None:
    async with house(store_url, tmp_path) as server:
        olga, (id,) = server.of("olga"), await begin(server, 1)
        document = (await olga.post("/api/documents", {"type": "form", "data": {"title": "A"}}, 201))["id"]
        for each, place in ((id, "lifecycles"), (document, "documents")):
            damage(store_url, each)
            await olga.get(f"/api/{place}/{each}", 409)
        found = await server.sandbox.incidents()
        assert {each.id for each in found} == {id, document}
        for each in found:
            assert isinstance(each, CallView) and each.state == "quarantined" and each.error is not None
            assert "bytes no longer match their checksum" in each.error.message
        shown = {each["id"]: each["text"] for each in (await olga.get("/api/incidents"))["items"]}
        assert all("bytes no longer match their checksum" in text for text in shown.values())


def test_the_command_that_lists_incidents_says_what_differs(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.run("init")
    id = shell.json("call", "kyc.check-name", "name=Zed")["id"]
    with Raw(f"sqlite:///{tmp_path / 'perdure.db'}") as raw:
        raw("DELETE FROM payload WHERE aggregate = ?", parse_id(id))
    shell.run("status", id, code=9)
    told = " ".join(shell.run("incidents", "list").out.split())
    assert "payload.damaged" in told and "the payload differs" in told
