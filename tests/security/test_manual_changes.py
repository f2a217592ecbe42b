"""Moves by hand towards something grave: tokens, flags, data and variables are confirmed as the start was."""

from __future__ import annotations

from typing import Any

import pytest

from tests.security.test_grave_starts import GRAVE, MILD, PEOPLE, WAITS, deployed, emptied, model, process, task
from tests.surfaces.http.sandbox_server import Server, served

VERBS = """
- name: vault.empty
  consequence: requires_authorisation
  input_schema: {properties: {account: {type: string}}}
  execution: {kind: sync, effects: none}
- name: note.keep
  consequence: benign
  execution: {kind: sync, effects: none}
- name: note.break
  consequence: benign
  output_schema: {properties: {account: {type: string}}, required: [account]}
  execution: {kind: sync, effects: none}
"""
BREAKS = task("note.break", "b") + '<sequenceFlow id="g" sourceRef="b" targetRef="t"/>' + task()
pytestmark = [pytest.mark.req("V36"), pytest.mark.both_stores]


async def begun(server: Server, body: str = WAITS + task(), first: str = "w") -> str:
    """An instance that Ada began, and confirmed, with the account that is to be emptied."""
    ada = server.of("ada")
    await deployed(server, model(process("p", body, first=first)))
    start = {"process": "p", "flags": {"orch_k": "7"} if first == "w" else {}, "data": {"account": "A-1"}}
    answer = await ada.ask("POST", "/api/instances", json=start)
    if answer.status_code == 423:
        told = answer.json()
        answer = await ada.ask(
            "POST", "/api/instances", json={**start, "confirm": told["plan_hash"], "phrase": told["phrase"]}
        )
    assert answer.status_code == 201, answer.text
    await server.idle()
    return str(answer.json()["id"])


def serving(url: str) -> Any:
    return served(url, VERBS, people=PEOPLE, handlers={"note.break": lambda call: {}})


@pytest.mark.parametrize(
    ("method", "path", "change"),
    [
        ("POST", "modify", {"start": ["p-t"], "reason": "at once"}),
        ("POST", "modify", {"data": {"account": "A-666"}, "reason": "mine"}),
        ("POST", "modify", {"flags": {"orch_k": "8"}, "reason": "mine"}),
        ("PUT", "variables/account", {"value": "A-666", "reason": "mine"}),
    ],
    ids=["token", "data", "flag", "variable"],
)
async def test_nobody_moves_an_instance_by_hand_towards_something_grave_unconfirmed(
    store_url: str, method: str, path: str, change: dict[str, Any]
) -> None:
    async with serving(store_url) as server:
        id = await begun(server)
        where = f"/api/instances/{id}/{path}"
        for who in ("agent:ann", "robot", "olga"):
            answer = await server.of(who).ask(method, where, json=change)
            assert answer.status_code == 423, answer.text
        asked = answer.json()
        agreed = {**change, "confirm": asked["plan_hash"], "phrase": asked["phrase"]}
        for who in ("agent:ann", "robot"):
            assert (await server.of(who).ask(method, where, json=agreed)).status_code == 423
        assert not await emptied(server)
        shown = await server.of("ada").get(f"/api/instances/{id}")
        assert (shown["data"], shown["state"]) == ({"account": "A-1"}, "active")
        answer = await server.of("olga").ask(method, where, json=agreed)
        assert answer.status_code in (200, 422), answer.text
        again = await server.of("olga").ask(method, where, json=agreed)
        assert answer.status_code == 422 or again.status_code == 423, "it counts once"
        if "start" in change:
            assert await emptied(server)


async def test_no_agent_ends_a_stuck_job_with_data_of_its_own_before_something_grave(store_url: str) -> None:
    async with serving(store_url) as server:
        id = await begun(server, BREAKS, first="b")
        path = f"/api/instances/{id}/resolve"
        for who in ("agent:ann", "robot"):
            await server.of(who).post(path, {"data": {"account": "A-666"}, "reason": "mine"}, 423)
        assert not await emptied(server)
        change = {"data": {"account": "A-2"}, "reason": "by telephone"}
        asked = await server.of("olga").post(path, change, 423)
        await server.of("olga").post(path, {**change, "confirm": asked["plan_hash"], "phrase": asked["phrase"]})
        assert await emptied(server)


async def test_tokens_are_taken_away_and_harmless_work_is_moved_unasked(store_url: str) -> None:
    async with serving(store_url) as server:
        id = await begun(server)
        ann = server.of("agent:ann")
        (token,) = (await ann.get(f"/api/instances/{id}"))["tokens"]
        await ann.post(f"/api/instances/{id}/modify", {"cancel": [token["number"]], "reason": "no longer wanted"})
        harmless = await begun(server, WAITS + task(MILD))
        await ann.post(f"/api/instances/{harmless}/modify", {"start": ["p-t"], "reason": "at once"})
        await server.idle()
        assert server.handlers.runs[MILD] == 1
        assert server.handlers.runs[GRAVE] == 0
