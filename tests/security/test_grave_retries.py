"""Grave steps tried again: a person confirms the retry as the first call was confirmed, by whatever road."""

from __future__ import annotations

from typing import Any

import pytest

from perdure import Call
from perdure.errors import BusinessError
from tests.surfaces.http.sandbox_server import Server, person, served

VERBS = """
- name: vault.empty
  consequence: requires_authorisation
  execution: {kind: sync, effects: none}
- name: note.keep
  consequence: benign
  execution: {kind: sync, effects: none}
"""
ROBOT = person("robot", "operator", "author", kind="service")
pytestmark = pytest.mark.req("V36", "P3")


class Vault:
    """A handler that fails until it is mended."""

    def __init__(self) -> None:
        self.runs, self.is_broken = 0, True

    async def __call__(self, call: Call) -> dict[str, Any]:
        self.runs += 1
        if self.is_broken:
            raise BusinessError("JAMMED", "the door is jammed")
        return {}


def serving(vault: Vault, url: str = "sqlite://") -> Any:
    return served(url, VERBS, people=[ROBOT], handlers={"vault.empty": vault, "note.keep": vault})


async def failed(server: Server, vault: Vault, program: str) -> str:
    """A runbook, confirmed by a person where that is asked for, whose step has failed."""
    ada, body = server.of("ada"), {"program": program, "wait": True}
    answer = await ada.ask("POST", "/api/runbooks", json=body)
    if answer.status_code == 423:
        told = answer.json()
        body |= {"confirm": told["plan_hash"], "phrase": told["phrase"]}
        answer = await ada.ask("POST", "/api/runbooks", json=body)
    assert answer.status_code == 201, answer.text
    assert vault.runs == 1
    vault.is_broken = False
    return str(answer.json()["id"])


ASKS = "(vault.empty :on-failure ask)"
ROADS = {
    "step": ("(vault.empty)", "/api/runbooks/{}/steps/1/retry", {}),
    "call": ("(vault.empty)", "/api/calls/{}/retry", {}),
    "answer": (ASKS, "/api/tasks/{}:1/complete", {"data": {"answer": "retry"}}),
}


@pytest.mark.both_stores(one_in=3)
@pytest.mark.parametrize("road", ROADS)
async def test_a_grave_step_is_retried_by_a_person_who_confirms_it(store_url: str, road: str) -> None:
    program, path, body = ROADS[road]
    vault = Vault()
    async with serving(vault, store_url) as server:
        id = await failed(server, vault, program)
        ada, path = server.of("ada"), path.format(id)
        if road != "answer":
            await server.of("robot").post(path, body, 423)
        told = await ada.post(path, body, 423)
        assert told["tier"] == "requires_authorisation"
        agreed = {"confirm": told["plan_hash"], "phrase": told["phrase"]}
        await ada.post(path, {**body, **agreed, "phrase": ""}, 423)
        await server.idle()
        assert vault.runs == 1
        await ada.post(path, {**body, **agreed}, 200)
        await server.idle()
        assert vault.runs == 2
        assert (await ada.get(f"/api/runbooks/{id}"))["state"] == "completed"


async def test_a_bulk_retry_leaves_a_grave_step_to_who_confirms_it() -> None:
    vault = Vault()
    async with serving(vault) as server:
        id = await failed(server, vault, "(vault.empty)")
        for named in (id, f"{id}:1"):
            told = await server.of("ada").post("/api/incidents/retry", {"ids": [named]})
            assert told["items"][0]["status"] != 200
        await server.idle()
        assert vault.runs == 1


async def test_a_mild_step_is_retried_without_being_confirmed() -> None:
    vault = Vault()
    async with serving(vault) as server:
        id = await failed(server, vault, "(note.keep)")
        await server.of("robot").post(f"/api/runbooks/{id}/steps/1/retry", {}, 200)
        await server.idle()
        assert vault.runs == 2
