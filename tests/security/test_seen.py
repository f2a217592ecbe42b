"""A decision holds for what was seen: it is refused, or asked for anew, once that has changed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure import BusinessError, Perdure
from perdure.verbs import load_text
from tests.engines.embedded.process_models import END, START, flow, fork, model, user
from tests.security.office import Office

pytestmark = [pytest.mark.req("V36"), pytest.mark.both_stores]
VERBS = """
- name: desk.review
  consequence: benign
  args: [{name: case, type: string}]
  execution: {kind: durable, task: {title: "Review it", groups: [compliance]}}
- name: desk.pay
  consequence: benign
  execution: {kind: sync, effects: none}
- name: desk.refused
  consequence: benign
  execution: {kind: sync, effects: none}
"""
COMPLIANCE = {"groups": ["compliance"]}


@asynccontextmanager
async def office(url: str) -> AsyncIterator[Office]:
    def refuse(call: Any) -> Any:
        raise BusinessError("refused", "The bank said no.")

    handlers = {"desk.pay": lambda call: {"paid": True}, "desk.refused": refuse}
    async with Perdure.open(url, definitions=load_text(VERBS), handlers=handlers) as perdure:
        await perdure.runtime.recovered.wait()
        yield Office(perdure)


async def entries(desk: Office, id: str, kind: str) -> list[dict[str, Any]]:
    return [each.data async for each in desk.perdure.runbooks.events(id) if each.entry == kind]


async def test_an_answer_to_another_payload_than_the_one_seen_is_refused(store_url: str) -> None:
    async with office(store_url) as desk:
        nodes = (START, fork("split"), user("first"), user("second"), fork("join"), END)
        pairs = [("start", "split"), ("split", "first"), ("split", "second"), ("first", "join"), ("second", "join")]
        flows = tuple(flow(one, other) for one, other in [*pairs, ("join", "end")])
        await desk.perdure.processes.deploy(model("both", nodes, flows), profile="open")
        ada = await desk.key("ada")
        begun = await desk.post(ada, "/api/instances", process="both", until="rest", data={"amount": 10})
        tasks = (await desk.get(ada, "/api/tasks")).json()["items"]
        first, second = (next(each for each in tasks if each["element"] == name) for name in ("first", "second"))
        path = f"/api/tasks/{second['key']}/complete"
        changed = await desk.post(ada, f"/api/tasks/{first['key']}/complete", data={"limit": 99}, seen=first["seen"])
        assert changed.status_code == 200, changed.text
        stale = await desk.post(ada, path, data={"fine": True}, seen=second["seen"])
        assert (stale.status_code, "payload (limit)" in stale.text) == (409, True), stale.text
        fresh = (await desk.get(ada, f"/api/tasks/{second['key']}")).json()["seen"]
        assert (await desk.post(ada, path, data={"fine": True}, seen=fresh)).status_code == 200
        done = await desk.perdure.instances.wait(begun.json()["id"], until="end", timeout_seconds=10)
        assert (done.state, done.data) == ("completed", {"amount": 10, "limit": 99, "fine": True})


async def test_an_answer_to_other_arguments_than_those_seen_is_refused(store_url: str) -> None:
    async with office(store_url) as desk:
        ada, otto, rita = await desk.key("ada"), await desk.key("otto"), await desk.key("rita", **COMPLIANCE)
        made = (await desk.post(ada, "/api/verbs/desk.review/calls", args={"case": "7"})).json()
        key = f"{made['id']}:1"
        seen = (await desk.get(rita, f"/api/tasks/{key}")).json()["seen"]
        await desk.post(otto, f"/api/calls/{made['id']}/amend", data={"case": "8"}, reason="a slip")
        assert (await desk.post(rita, f"/api/calls/{made['id']}/approve", amendment=1)).status_code == 200
        stale = await desk.post(rita, f"/api/tasks/{key}/complete", seen=seen)
        assert (stale.status_code, "arguments" in stale.text) == (409, True), stale.text
        fresh = (await desk.get(rita, f"/api/tasks/{key}")).json()["seen"]
        assert (await desk.post(rita, f"/api/tasks/{key}/complete", seen=fresh)).status_code == 200


async def test_a_gate_of_two_groups_asks_the_first_again_when_the_plan_grew_between_them(store_url: str) -> None:
    async with office(store_url) as desk:
        ada, sam, tom = (
            await desk.key("ada"),
            await desk.key("sam", **COMPLIANCE),
            await desk.key("tom", groups=["risk"]),
        )
        body = {"program": '(desk.pay :as @p :gate "compliance + risk")', "sealed": False}
        id = (await desk.post(ada, "/api/runbooks", **body)).json()["id"]
        path = f"/api/runbooks/{id}/steps/p/answer"
        before = (await desk.get(tom, f"/api/tasks/{id}:1")).json()["seen"]
        assert (await desk.post(sam, path, agree=True)).status_code == 200
        grown = await desk.post(ada, f"/api/runbooks/{id}/extend", program="(desk.pay :as @more :after [@p])")
        assert grown.status_code == 200, grown.text
        stale = await desk.post(tom, path, agree=True, seen=before)
        assert (stale.status_code, "plan" in stale.text) == (409, True), stale.text
        seen = (await desk.get(tom, f"/api/tasks/{id}:1")).json()["seen"]
        assert (await desk.post(tom, path, agree=True, seen=seen)).json()["steps"][0]["state"] == "parked"
        (reopened,) = await entries(desk, id, "GateReopened")
        assert reopened["changed"] == ["plan"]
        again = await desk.post(sam, path, agree=True)
        assert again.status_code == 200, again.text
        view = await desk.perdure.runbooks.rest(id, 10)
        assert [each.state for each in view.steps] == ["completed", "completed"]


async def test_a_step_that_is_retried_under_another_plan_is_asked_for_anew(store_url: str) -> None:
    async with office(store_url) as desk:
        ada, sam = await desk.key("ada"), await desk.key("sam", **COMPLIANCE)
        program = '(desk.refused :as @f :gate "compliance" :on-failure continue)'
        id = (await desk.post(ada, "/api/runbooks", program=program, sealed=False)).json()["id"]
        assert (await desk.post(sam, f"/api/runbooks/{id}/steps/f/answer", agree=True)).status_code == 200
        assert (await desk.perdure.runbooks.rest(id, 10)).steps[0].state == "failed"
        assert (await desk.post(ada, f"/api/runbooks/{id}/extend", program="(desk.pay :as @more)")).status_code == 200
        await desk.perdure.runbooks.rest(id, 10)
        retried = await desk.post(ada, f"/api/runbooks/{id}/steps/f/retry")
        assert (retried.status_code, retried.json()["steps"][0]["state"]) == (200, "parked"), retried.text
        (reopened,) = await entries(desk, id, "GateReopened")
        assert reopened["changed"] == ["plan"]
