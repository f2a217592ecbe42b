"""Attacks while Temporal carries: known values, grave starts, narrow keys and tenants, and moves to and fro."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure.testing.service_availability import ServiceUnavailable
from perdure.testing.temporal_server import real_server
from tests.conftest import unavailable
from tests.security.attacked_house import AttackedHouse, Caller
from tests.security.test_attacks import GRAVE, around, open_task

pytestmark = [pytest.mark.deep, pytest.mark.both_stores, pytest.mark.timeout(300)]


LOOKS = 1200


def carried_task(caller: Caller) -> dict[str, Any]:
    """The task of the process, as soon as its workflow has come so far on the server."""
    for _ in range(LOOKS):
        if caller.get("/tasks")["items"]:
            break
        time.sleep(0.05)
    return open_task(caller)


@pytest.fixture
def carried_house(tmp_path: Path, store_url: str) -> Iterator[AttackedHouse]:
    """The house, whose instances a real Temporal server carries."""
    try:
        temporal = real_server()
    except ServiceUnavailable as error:
        unavailable(str(error))
    try:
        temporal.start()
        house = AttackedHouse(tmp_path, store_url, f'engine: "{temporal.url}"\n')
        try:
            yield house
        finally:
            house.close()
    finally:
        temporal.remove()


@pytest.mark.req("V36", "V37")
def test_nothing_gets_past_while_temporal_carries(carried_house: AttackedHouse) -> None:
    house, olga, bot = carried_house, carried_house.caller("olga"), carried_house.caller("agent:bot")
    call = olga.post("/verbs/case.review/calls", {"args": {"case_id": "C-1"}}, 201)["id"]
    olga.get(f"/calls/{call}", until="rest")
    task = carried_task(house.caller("rita"))
    key, instance = task["key"], task["key"].partition(":")[0]
    assert task["known"] == {"case_id": "C-1"}
    # What the process knows wins over an answer, whoever brings it.
    stolen = {"case_id": "C-2", "decision": "yes"}
    house.caller("rita").post(f"/tasks/{key}/complete", {"data": stolen}, 422)
    token = olga.post("/parked/token", {"key": key})["token"]
    house.holder(token).post("/completions", {"key": key, "result": stolen}, 403)
    bot.post(f"/tasks/{key}/complete", {"data": {"decision": "yes"}}, 403)
    # A narrow key and another tenant see and touch nothing of it, nor move it to another engine.
    for name, status in (("pub", 403), ("eve", 404)):
        caller = house.caller(name)
        assert caller.get("/instances")["items"] == caller.get("/tasks")["items"] == []
        for path, body in (("modify", {"cancel": [1]}), ("move", {"engine": "embedded"}), ("cancel", {})):
            caller.post(f"/instances/{instance}/{path}", body, status)
        caller.get(f"/tasks/{key}", status)
    # A task of a group stands as it did on the other engine, and on the way back.
    for engine in ("embedded", "temporal"):
        olga.post(f"/instances/{instance}/move", {"engine": engine, "reason": "to get around it"})
        house.caller("rita").post(f"/tasks/{key}/complete", {"data": stolen}, 422)
        house.caller("otto").post(f"/tasks/{key}/complete", {"data": {"decision": "yes"}}, 403)
    assert house.done("case.decide") == []
    house.caller("rita").post(f"/tasks/{key}/complete", {"data": {"decision": "yes"}})
    assert olga.get(f"/calls/{call}", until="end")["state"] == "completed"
    assert [each["args"] for each in house.done("case.decide")] == [{"case_id": "C-1", "decision": "yes"}]


@pytest.mark.req("V36")
def test_no_agent_begins_something_grave_that_temporal_would_carry(carried_house: AttackedHouse) -> None:
    house, bot, olga = carried_house, carried_house.caller("agent:bot"), carried_house.caller("olga")
    house.caller("anne").post("/processes", {"xml": around(), "profile": "open"}, 201)
    asked = bot.post("/instances", {"process": "harmless"}, 423)
    agreed = {"confirm": asked["plan_hash"], "phrase": asked["phrase"]}
    for path, body in (
        ("/instances", {"process": "harmless", **agreed}), ("/verbs/vault.move/calls", {}),
        ("/runbooks", {"calls": [{"verb": "vault.move"}]}),
    ):  # fmt: skip
        bot.post(path, body, 423)
    assert house.done(GRAVE) == []
    olga.post("/instances", {"process": "harmless", **agreed, "until": "end"}, 201)
    assert len(house.done(GRAVE)) == 1
