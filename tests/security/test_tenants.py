"""Tenant escape by id and by correlation key: what is another tenant's is exactly as unknown as what never was."""

from __future__ import annotations

import re
from typing import Any

import pytest

from perdure.bpmn.xml import write_model
from perdure.surfaces.http.routes import ENDPOINTS
from tests.engines.embedded.process_models import line, message, service, user, wait
from tests.surfaces.http.sandbox_server import Server, served

BODIES: dict[str, Any] = {
    "erase_instance": {"reason": "x"}, "set_variable": {"value": 1}, "resolve_instance": {},
    "modify_instance": {"start": ["review"]}, "move_instance": {"engine": "embedded", "dry_run": True},
    "delegate_task": {"to": "eve"}, "reassign_task": {"to": "eve"}, "discard_letter": {"reason": "x"},
    "discard_named_letter": {"reason": "x", "message_id": "MESSAGE"},
    "replay_named_letter": {"message_id": "MESSAGE"}, "make_token_by_key": {"key": "WAIT"},
}  # fmt: skip
ROOMS = ("instances", "keys", "dead-letters", "parked", "processes", "tasks")
PLACES = {
    "id": "INSTANCE", "key": "TASK", "message_id": "MESSAGE", "process": "PROCESS", "version": "1", "name": "colour",
}  # fmt: skip


def asked() -> list[tuple[str, str, str, Any]]:
    """Every route that names something: what it is called, its method, its path, a body."""
    found = []
    for endpoint in ENDPOINTS:
        path, name = endpoint.paths[0], endpoint.id
        room = path.removeprefix("/api").split("/")[1]
        if (room not in ROOMS and name != "export_call") or ("{" not in path and name not in BODIES):
            continue
        place = {"keys": "KEY", "calls": "CALL", "parked": "WAIT"}.get(room, "")
        made = path
        for each in re.findall(r"\{(\w+)", path):
            made = re.sub(rf"\{{{each}(:\w+)?\}}", place or PLACES[each], made)
        found.append((name, endpoint.method, made, BODIES.get(name, {})))
    return found


async def everything(server: Server) -> dict[str, str]:
    """One thing of each kind of our own."""
    ada = server.of("ada")
    await ada.post("/api/processes", {"xml": write_model(line("ours", user("review"))), "profile": "open"}, 201)
    instance = await ada.post("/api/instances", {"process": "ours"}, 201)
    token = (await ada.get(f"/api/instances/{instance['id']}"))["tokens"][0]["number"]
    call = await ada.post("/api/verbs/w.ask/calls", {"args": {"case": "ours-1"}}, 201)
    await ada.post("/api/completions", {"key": "nowhere", "message_id": "ours-2", "result": {}}, 404)
    key = await ada.post("/api/keys", {"name": "k", "principal": "k", "roles": ["viewer"]}, 201)
    return {
        "INSTANCE": instance["id"], "TASK": f"{instance['id']}:{token}", "CALL": call["id"], "KEY": key["id"],
        "MESSAGE": "ours-2", "PROCESS": "ours", "WAIT": "ours-1",
    }  # fmt: skip


def placed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: placed(each, names) for key, each in value.items()}
    for place, name in names.items():
        value = value.replace(place, name) if isinstance(value, str) else value
    return value


@pytest.mark.req("P3", "V31")
async def test_a_foreign_id_is_answered_letter_by_letter_like_an_unknown_one(store_url: str) -> None:
    async with served(store_url) as server:
        eve, ours = server.of("eve"), await everything(server)
        unknown = {
            "INSTANCE": "0" * 25 + "1", "TASK": "0" * 25 + "1:" + ours["TASK"].split(":")[1], "CALL": "0" * 25 + "2",
            "KEY": "0" * 25 + "3", "MESSAGE": "nones-2", "PROCESS": "nosuch", "WAIT": "nones-1",
        }  # fmt: skip
        routes = asked()
        assert len(routes) > 25
        before = await server.of("ada").get(f"/api/instances/{ours['INSTANCE']}")
        for name, method, path, body in routes:
            answers = []
            for names in (ours, unknown):
                more = {"json": placed(body, names)} if method == "POST" else {}
                answer = await eve.ask(method, placed(path, names), **more)
                assert answer.status_code == 404, f"{name}: {answer.status_code} {answer.text[:300]}"
                told = {key: each for key, each in answer.json().items() if key not in ("instance", "request_id")}
                text = str(told)
                for place in sorted(names, key=lambda each: -len(names[each])):
                    text = text.replace(names[place], place)
                answers.append(text)
            assert answers[0] == answers[1], name
        assert await server.of("ada").get(f"/api/instances/{ours['INSTANCE']}") == before


@pytest.mark.req("P3", "V31")
async def test_a_correlation_key_reaches_no_other_tenant(store_url: str) -> None:
    async with served(store_url) as server:
        ada, eve = server.of("ada"), server.of("eve")
        model = write_model(line("p", wait("asked", "m"), service("a", "t.one"), messages=(message("m", key="k"),)))
        await ada.post("/api/processes", {"xml": model, "profile": "open"}, 201)
        begun = await ada.post("/api/instances", {"process": "p", "business_key": "b-1"}, 201)
        call = await ada.post("/api/verbs/w.ask/calls", {"args": {"case": "c-1"}}, 201)
        assert (await eve.post("/api/messages/correlate", {"name": "m", "key": "k"}, 404))["status"] == 404
        assert (await eve.post("/api/messages", {"name": "m", "key": "k"}, 202))["outcome"] == "no_subscription"
        assert (await eve.post("/api/messages", {"name": "m", "key": "k", "ttl_seconds": 60}, 202))[
            "outcome"
        ] == "buffered"
        await eve.post("/api/signals", {"name": "m"})
        await eve.post("/api/completions", {"key": "c-1", "result": {"answer": "x"}}, 404)
        await eve.post("/api/incidents/retry", {"ids": [begun["id"]]})
        await server.idle()
        assert (await ada.get(f"/api/instances/{begun['id']}"))["tokens"][0]["element"] == "asked"
        assert (await ada.get(f"/api/calls/{call['id']}"))["state"] == "parked"
        again = await ada.post("/api/instances", {"process": "p"}, 201)
        await server.idle()
        assert (await ada.get(f"/api/instances/{again['id']}"))["state"] == "active", (
            "what they sent is not kept for us"
        )
