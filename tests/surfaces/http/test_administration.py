"""Keys, packs and audit documents over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.app.compliance_export import check_document
from perdure.app.packs import PackOperations
from perdure.bpmn.xml import write_model
from tests.engines.embedded.process_models import line, service
from tests.surfaces.http.sandbox_server import Server, served

PACKS = Path(__file__).resolve().parents[3] / "examples" / "kyc" / "packs"


@pytest.mark.req("P2", "P3")
async def test_a_key_is_shown_once_works_and_ends_when_it_is_revoked(store_url: str) -> None:
    async with served(store_url) as server:
        ada = server.of("ada")
        body = {"name": "robot", "principal": "robot", "roles": ["operator"], "verbs": ["w.*"]}
        body["operations"] = ["completion.send"]
        made = await ada.post("/api/keys", body, 201, headers={"Idempotency-Key": "once"})
        assert made["text"].startswith("perdure_") and made["view"]["verbs"] == ["w.*"]
        again = await ada.post("/api/keys", body, 409, headers={"Idempotency-Key": "once"})
        assert again["code"] == "key.exists" and made["text"] not in str(again)
        listed = await ada.get("/api/keys")
        assert made["text"] not in str(listed)
        assert [each["name"] for each in listed["items"] if each["id"] == made["id"]] == ["robot"]
        robot = {"Authorization": f"Bearer {made['text']}"}
        assert (await ada.ask("GET", "/api/verbs", headers=robot)).status_code == 403
        sent = {"key": "k", "verb": "w.ask", "result": {}}
        lost = await ada.ask("POST", "/api/completions", headers=robot, json=sent)
        assert lost.status_code == 404
        revoked = await ada.post(f"/api/keys/{made['id']}/revoke", {"reason": "seen elsewhere"})
        assert (revoked["state"], revoked["revoked_by"], revoked["reason"]) == ("revoked", "ada", "seen elsewhere")
        assert (await ada.ask("POST", "/api/completions", headers=robot, json={"key": "k"})).status_code == 401


@pytest.mark.req("P3", "V31")
async def test_keys_are_for_administrators_of_the_tenant_alone(store_url: str) -> None:
    async with served(store_url) as server:
        body = {"name": "mine", "principal": "rico", "roles": ["admin"]}
        for who in ("rico", "sue", "vera", "olga"):
            await server.of(who).post("/api/keys", body, 403)
            await server.of(who).get("/api/keys", 403)
        made = await server.of("ada").post("/api/keys", body, 201)
        foreign = await server.of("eve").post(f"/api/keys/{made['id']}/revoke", {}, 404)
        assert foreign["code"] == "command.not_found"
        assert made["id"] not in str(await server.of("eve").get("/api/keys"))
        unfit = await server.of("ada").post("/api/keys", {**body, "name": "x", "roles": ["emperor"]}, 422)
        assert unfit["code"] == "request.invalid"


@pytest.mark.req("P2")
async def test_packs_are_listed_and_shown_without_saying_where_they_are() -> None:
    async with served() as server:
        server.sandbox.runtime.packs = PackOperations([PACKS])
        vera = server.of("vera")
        rows = (await vera.get("/api/packs"))["items"]
        assert {each["id"] for each in rows} >= {"kyc-case", "book-setup"}
        shown = await vera.get("/api/packs/kyc-case")
        assert shown["questions"] and shown["templates"][0]["hash"].startswith("sha256:")
        assert str(PACKS) not in str(shown)
        assert (await vera.get("/api/packs/nothing", 404))["code"] == "command.not_found"


@pytest.mark.req("P2", "V30")
async def test_an_audit_document_is_exported_and_holds(store_url: str) -> None:
    async with served(store_url) as server:
        id = await _instance(server)
        vera = server.of("vera")
        answer = await vera.ask("GET", f"/api/instances/{id}/export")
        assert answer.headers["content-disposition"] == f'attachment; filename="{id}.json"'
        assert check_document(answer.content, {}).findings == []
        page = await vera.ask("GET", f"/api/instances/{id}/export", params={"format": "html"})
        assert page.headers["content-type"].startswith("text/html")
        assert "sandbox" in page.headers["content-security-policy"]
        assert (await vera.get(f"/api/instances/{id}/export", 422, format="pdf"))["code"] == "request.invalid"
        await server.of("eve").get(f"/api/instances/{id}/export", 404)
        await server.of("narrow").get(f"/api/instances/{id}/export", 403)


async def _instance(server: Server) -> str:
    ada = server.of("ada")
    xml = write_model(line("carried", service("a", "t.one")))
    await ada.post("/api/processes", {"xml": xml, "profile": "open"}, 201)
    view = await ada.post("/api/instances", {"process": "carried", "data": {"given": 1}}, 201)
    await server.idle()
    return str(view["id"])
