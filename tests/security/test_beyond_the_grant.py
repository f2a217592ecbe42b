"""Acting beyond a grant: by another name for a step, by many at once, by another route, by an answer that decides."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surfaces.http.sandbox_server import Server, person, served

VERBS = """
- name: note.write
  consequence: benign
  execution: {kind: sync, effects: none}
- name: note.fail
  consequence: benign
  execution: {kind: sync, effects: none}
- name: desk.wait
  consequence: benign
  execution: {kind: durable, policy: {timeout: P1D}}
- name: desk.decide
  consequence: benign
  execution: {kind: durable, decision: true, policy: {timeout: P1D}}
- name: vault.decide
  consequence: requires_confirmation
  execution: {kind: durable, decision: true, policy: {timeout: P1D}}
- name: vault.open
  consequence: requires_confirmation
  execution: {kind: sync, effects: none}
- name: vault.move
  consequence: requires_confirmation
  execution: {kind: durable, process: move}
"""
MODEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x">
<process id="move" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="e"/>
<endEvent id="e"/></process></definitions>"""
PEOPLE = [
    person("writer", "operator", "author", "reviewer", verbs=("note.*", "desk.decide")),
    person("stopper", "operator", operations=("runbook.cancel",)),
    person("agent:ann", "operator", "author", "reviewer", kind="agent"),
    person("looker", "viewer", verbs=("vault.*",)),
]
pytestmark = pytest.mark.req("P3")


def serving(url: str = "sqlite://") -> Any:
    return served(url, VERBS, people=PEOPLE)


async def begun(server: Server, *verbs: str, by: str = "olga", **more: Any) -> str:
    calls = [{"verb": verb, "name": f"s{at}"} for at, verb in enumerate(verbs, 1)]
    view = await server.of(by).post("/api/runbooks", {"calls": calls, **more}, 201)
    await server.idle()
    return str(view["id"])


async def steps(server: Server, id: str) -> list[tuple[str, str]]:
    await server.idle()
    return [(each["verb"], each["state"]) for each in (await server.of("ada").get(f"/api/runbooks/{id}"))["steps"]]


async def test_a_step_is_out_of_reach_however_it_is_named() -> None:
    async with serving() as server:
        id = await begun(server, "note.write", "desk.wait")
        for step in ("2", "s2", "02", "002", "\uff12", "\u0662"):
            for act, body in (("retry", {}), ("skip", {"reason": "why"}), ("cancel", {}), ("answer", {"agree": True})):
                told = await server.of("writer").post(f"/api/runbooks/{id}/steps/{step}/{act}", body, 403)
                assert "'desk.wait'" in told["detail"]
        assert (await steps(server, id))[1] == ("desk.wait", "parked")


async def test_acting_on_a_whole_takes_reach_of_every_verb_in_it() -> None:
    async with serving() as server:
        only_ours = await begun(server, "desk.decide", case="c-1")
        id = await begun(server, "note.write", "desk.wait", case="c-1")
        for path in (f"runbooks/{id}", f"calls/{id}", "cases/c-1"):
            await server.of("writer").post(f"/api/{path}/cancel", status=403)
        for act in ("seal", "compensate"):
            await server.of("writer").post(f"/api/runbooks/{id}/{act}", status=403)
        await server.of("writer").post(f"/api/calls/{id}/retry", status=403)
        assert await steps(server, id) == [("note.write", "completed"), ("desk.wait", "parked")]
        assert await steps(server, only_ours) == [("desk.decide", "parked")], "of many that are refused none is stopped"


async def test_a_case_whose_every_verb_is_reached_is_stopped() -> None:
    async with serving() as server:
        id = await begun(server, "desk.decide", case="c-1")
        assert [each["id"] for each in (await server.of("writer").post("/api/cases/c-1/cancel"))["items"]] == [id]


async def test_a_case_that_no_store_could_hold_is_refused(store_url: str) -> None:
    async with serving(store_url) as server:
        await server.of("olga").post("/api/cases/%00/cancel", status=422)


async def test_a_key_for_stopping_takes_nothing_back() -> None:
    async with serving() as server:
        id = await begun(server, "desk.wait")
        told = await server.of("stopper").post(f"/api/runbooks/{id}/cancel", {"compensate": True}, 403)
        assert "runbook.compensate" in told["detail"]
        await server.of("stopper").post(f"/api/runbooks/{id}/cancel")


async def test_no_route_exports_what_another_refuses_to() -> None:
    async with serving() as server:
        id = (await server.of("olga").post("/api/verbs/note.write/calls", {}, 201))["id"]
        for path in ("calls", "runbooks", "instances"):
            await server.of("looker").get(f"/api/{path}/{id}/export", 403)
        for path in ("calls", "runbooks"):
            page = await server.of("olga").ask("GET", f"/api/{path}/{id}/export", params={"format": "html"})
            assert "sandbox" in page.headers["content-security-policy"]


async def test_a_dead_letter_for_another_verb_is_not_thrown_away() -> None:
    async with serving() as server:
        body = {"key": "nobody", "verb": "desk.wait", "message_id": "m-1", "result": {}}
        await server.of("olga").post("/api/completions", body, 404)
        for path, more in (("m-1/discard", {}), ("discard", {"message_id": "m-1"})):
            await server.of("writer").post(f"/api/dead-letters/{path}", {"reason": "gone", **more}, 403)
        assert len((await server.of("olga").get("/api/dead-letters"))["items"]) == 1


async def test_an_agent_adds_nothing_grave_by_an_answer_that_decides() -> None:
    alternative = {"verb": "note.write", "on_failure": "decide", "alternative": "vault.decide"}
    async with serving() as server:
        agent, id = server.of("agent:ann"), await begun(server, "desk.decide")
        for added in ([{"verb": "vault.open"}], [alternative], "(vault.open)", {"verb": "vault.open"}, 5):
            await agent.post("/api/completions", {"key": f"{id}:1", "result": {"add": added}}, 423)
        assert await steps(server, id) == [("desk.decide", "parked")]
        await agent.post("/api/completions", {"key": f"{id}:1", "result": {"add": [{"verb": "note.write"}]}}, 202)
        assert await steps(server, id) == [("desk.decide", "completed"), ("note.write", "completed")]


async def test_who_reaches_some_verbs_adds_only_those_by_an_answer_that_decides() -> None:
    async with serving() as server:
        id = await begun(server, "desk.decide")
        body = {"key": f"{id}:1", "result": {"add": [{"verb": "desk.wait"}]}}
        await server.of("writer").post("/api/completions", body, 403)
        assert await steps(server, id) == [("desk.decide", "parked")]


async def test_the_token_of_a_wait_answers_a_decision_and_adds_nothing() -> None:
    async with serving() as server:
        id = await begun(server, "desk.decide")
        token = (await server.of("olga").post(f"/api/parked/{id}:1/token"))["token"]
        body = {"key": f"{id}:1", "result": {"add": [{"verb": "note.write"}]}}
        await server.waiting(token).post("/api/completions", body, 403)
        assert await steps(server, id) == [("desk.decide", "parked")]
        await server.waiting(token).post("/api/completions", {**body, "result": {"fine": True}}, 202)


async def test_the_verb_that_is_asked_when_a_step_fails_counts_as_grave() -> None:
    async with serving() as server:
        call = {"verb": "note.fail", "on_failure": "decide", "alternative": "vault.decide"}
        agent = server.of("agent:ann")
        assert (await agent.post("/api/runbooks", {"calls": [call]}, 423))["tier"] == "requires_confirmation"
        id = await begun(server, "desk.wait", by="agent:ann")
        await agent.post(f"/api/runbooks/{id}/extend", {"calls": [call]}, 423)
        assert await steps(server, id) == [("desk.wait", "parked")]


async def test_a_process_that_carries_a_grave_verb_begins_only_as_the_verb_does() -> None:
    async with serving() as server:
        await server.of("ada").post("/api/processes", {"xml": MODEL}, 201)
        body = {"process": "move", "data": {"to": "attic"}}
        asked = await server.of("agent:ann").post("/api/instances", body, 423)
        hash = asked["plan_hash"]
        await server.of("agent:ann").post("/api/instances", {**body, "confirm": hash}, 423)
        await server.of("olga").post("/api/instances", body, 423)
        await server.of("olga").post("/api/instances", {"process": "move", "data": {}, "confirm": hash}, 423)
        assert (await server.of("ada").get("/api/instances"))["items"] == []
        await server.of("olga").post("/api/instances", {**body, "confirm": hash}, 201)
