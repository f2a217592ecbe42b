"""Agents at the newer tools, by the real protocol: documents, lifecycles, outcomes and the results of tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from perdure.channels.webhook_settings import HookIn, Hooks, Secret
from perdure.channels.webhook_signatures import sign
from tests.security.test_lifecycle_roads import PEOPLE, VERBS, begun, file
from tests.surfaces.http.sandbox_server import Server, served
from tests.surfaces.mcp.protocol_agent import Refused
from tests.surfaces.mcp.tool_office import Office, principal

SECRET = "the bank's secret, sixteen bytes and more"
CLOSED = ("command.forbidden", "command.not_found", "access.forbidden")
pytestmark = [pytest.mark.req("V36", "P5"), pytest.mark.both_stores]


def serving(url: str, **more: Any) -> Any:
    handlers = {"vault.empty": lambda call: {}, "vault.peep": lambda call: {}, "pub.ask": lambda call: {}}
    return served(url, VERBS, people=PEOPLE, handlers={**handlers, "sec.clear": lambda call: {"holds": False}}, **more)


async def test_a_narrow_or_foreign_agent_learns_and_moves_nothing_by_the_newer_tools(
    store_url: str, tmp_path: Path
) -> None:
    async with serving(store_url, blobs=tmp_path / "blobs") as server:
        ada = server.of("ada")
        id = await begun(server, file(verb="sec.change"))
        document = await ada.post("/api/documents", {"type": "form", "subject": "c1", "data": {"title": "sesame"}}, 201)
        call = await ada.post("/api/verbs/sec.client/calls", {"args": {"id": "sesame", "iban": "DE1"}}, 201)
        asked = {
            "lifecycle_status": {"id": id}, "resolve_blocker": {"id": id, "key": "it"},
            "do_lifecycle_action": {"id": id, "action": "any"}, "start_lifecycle": {"lifecycle": "l", "subject": "c1"},
            "document_status": {"id": document["id"]}, "read_document": {"id": document["id"], "version": 1},
            "outcome_events": {"id": call["id"]},
        }  # fmt: skip
        office = Office(server.sandbox, [], [])
        for who in (principal(verbs=("pub.*",)), principal("agent:spy", tenant="other")):
            async with office.agent(who) as agent:
                for tool, words in asked.items():
                    with pytest.raises(Refused) as refused:
                        told = await agent(tool, **words)
                        raise AssertionError((who.name, tool, told))
                    assert refused.value.code in CLOSED, (tool, refused.value.code)
                    assert "sesame" not in str(refused.value)
                assert (await agent("list_lifecycles"))["items"] == []
                if who.tenant == "default":
                    told = await agent("workflow_status", id=call["id"])
                    assert "sesame" not in str(told) and "DE1" not in str(told), (
                        "how it stands, and nothing of its data"
                    )
                try:
                    assert (await agent("find_documents", text="sesame"))["items"] == []
                except Refused as refused_search:
                    assert refused_search.code in CLOSED
        assert (await ada.get(f"/api/lifecycles/{id}"))["tasks"] == [], "nobody asked for anything"


async def test_a_signed_hook_brings_no_result_of_a_task_that_people_decide_nor_of_another_tenant(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BANK", SECRET)
    hooks = [
        HookIn("bank", Secret(("BANK",)), verbs=("desk.*",), brings_results=True),
        HookIn("papers", Secret(("BANK",)), verbs=("pub.*",), brings_results=True),
        HookIn("south", Secret(("BANK",)), tenant="other", verbs=("desk.*",), brings_results=True),
        HookIn("waits", Secret(("BANK",)), verbs=("desk.*",)),
    ]
    async with serving(store_url) as server:
        ada = server.of("ada")
        server.sandbox.runtime.hooks = Hooks(tuple(hooks))
        id = await begun(server, file(verb="desk.approve"))
        (asked,) = (await ada.post(f"/api/lifecycles/{id}/resolve", {"key": "it"}))["tasks"]
        await server.idle()
        (task,) = (await server.of("rico").get("/api/tasks"))["items"]
        result = {"correlation_id": asked["correlation_id"], "status": "completed"}
        sent: list[tuple[str, dict[str, Any]]] = [(name, result) for name in ("bank", "papers", "south")]
        sent += [("waits", {"key": task["key"], "result": {"cargo_ref": "document://default/d1"}})]
        for name, body in sent:
            text = json.dumps(body).encode()
            headers = sign(SECRET.encode(), f"m-{name}", server.sandbox.runtime.sources.now(), text)
            answer = await server._client.post(f"/hooks/{name}", content=text, headers=headers)
            assert answer.status_code in (403, 404) and "unknown_path" not in answer.text, (name, answer.text)
        await server.idle()
        assert (await ada.get(f"/api/lifecycles/{id}"))["state"] == "OPEN"


async def test_a_form_of_the_dashboard_brings_no_more_than_a_key_does(store_url: str) -> None:
    """A session is its key: what the key may not do, the page that holds its cookie may not either."""
    async with serving(store_url) as server:
        id = await begun(server, file(verb="sec.change"))
        await server.of("pub").get(f"/api/lifecycles/{id}", 403)
        client, key = server._client, server._keys["pub"]
        signed_in = await client.post("/api/session", json={"key": key})
        csrf = {"X-CSRF-Token": signed_in.json()["csrf"]}
        for path, body in ((f"/api/lifecycles/{id}/resolve", {"key": "it"}), ("/api/lifecycles", start_of("l"))):
            assert (await client.post(path, data={"key": "it"}, headers=csrf)).status_code == 415, "no form is read"
            assert (await client.post(path, json=body)).status_code == 403
            assert (await client.post(path, json=body, headers=csrf)).status_code == 403
        assert (await client.get(f"/api/lifecycles/{id}")).status_code == 403
        await _nothing_asked(server, id)
        client.cookies.clear()


def start_of(lifecycle: str) -> dict[str, str]:
    return {"lifecycle": lifecycle, "subject": "c1"}


async def _nothing_asked(server: Server, id: str) -> None:
    server._client.cookies.clear()
    assert (await server.of("ada").get(f"/api/lifecycles/{id}"))["tasks"] == []
