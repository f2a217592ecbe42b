"""Verbs, calls, runbooks, steps and drafts through the server, on both stores."""

from __future__ import annotations

import pytest

from tests.surfaces.http.in_process_server import served

pytestmark = pytest.mark.req("P2")
CALLS = [
    {"verb": "desk.note", "args": {"text": {"$": "what"}}, "name": "noted"},
    {"verb": "desk.wait", "args": {"who": {"@": "noted.noted"}}, "name": "waiting"},
]
BODY = {"calls": CALLS, "variables": {"what": "tea"}, "case": "C-7"}


async def test_a_verb_is_found_shown_and_called(store_url: str) -> None:
    async with served(store_url, authentication=()) as found, found.client() as client:
        names = [each["name"] for each in (await client.get("/api/verbs?q=note")).json()["items"]]
        assert names == ["desk.note"]
        shown = (await client.get("/api/verbs/desk.note")).json()
        assert shown["input_schema"]["required"] == ["text"] and shown["sentences"]["step"] == ["Note {text}"]
        assert (await client.get("/api/verbs/desk.nothing")).status_code == 404
        made = await client.post("/api/verbs/desk.note/calls", json={"args": {"text": "tea"}})
        assert made.status_code == 201 and made.json()["result"] == {"noted": "tea"}
        listed = (await client.get("/api/calls", params={"verb": "desk.note", "where": "text:tea"})).json()["items"]
        assert [each["id"] for each in listed] == [made.json()["id"]]
        wrong = await client.post("/api/verbs/desk.note/calls", json={"args": {"text": 7}})
        assert wrong.status_code == 422 and wrong.json()["errors"][0]["path"]
        unindexed = await client.get("/api/calls", params={"verb": "desk.note", "where": "nothing:1 OR 1=1"})
        assert unindexed.status_code == 422


@pytest.mark.both_stores
async def test_a_runbook_is_planned_run_watched_and_steered(store_url: str) -> None:
    async with served(store_url, authentication=()) as found, found.client() as client:
        plan = (await client.post("/api/runbooks/plan", json={key: BODY[key] for key in ("calls", "variables")})).json()
        assert plan["steps"][0]["sentence"] == "Note tea"
        made = await client.post("/api/runbooks", json={**BODY, "wait": True, "confirm": plan["plan_hash"]})
        assert made.status_code == 201, made.text
        path, id = made.headers["location"], made.json()["id"]
        assert made.json()["state"] == "parked" and made.json()["plan_hash"] == plan["plan_hash"]
        assert [each["id"] for each in (await client.get("/api/runbooks?case=C-7")).json()["items"]] == [id]
        assert "1 of 2" in (await client.get(f"{path}/progress")).json()["text"]
        assert "Note tea" in (await client.get(f"{path}/progress?detailed=true")).json()["text"]
        assert (await client.get(f"{path}?at=1")).json()["sequence"] == 1
        assert (await client.get(f"{path}?at=999")).status_code == 404
        assert (await client.get(f"{path}/diff?at=1")).json()["changed"]["noted"][1] == "completed"
        times = (await client.get(f"{path}/timeline")).json()
        waiting = times["steps"][1]["spans"][-1]
        assert waiting["state"] == "parked" and waiting["until"] is None and times["steps"][1]["due_at"]
        skipped = await client.post(f"{path}/steps/waiting/skip", json={"reason": "nobody answers"})
        assert skipped.json()["state"] == "completed", skipped.text
        assert (await client.post(f"{path}/steps/nothing/skip", json={"reason": "x"})).status_code == 404


async def test_a_runbook_is_exported_as_data_and_as_a_page() -> None:
    async with served(authentication=()) as found, found.client() as client:
        path = (await client.post("/api/runbooks", json={**BODY, "wait": True})).headers["location"]
        data = await client.get(f"{path}/export")
        page = await client.get(f"{path}/export?format=html")
        assert data.headers["content-type"] == "application/json" and data.json()["format"]
        assert page.headers["content-type"].startswith("text/html") and "<html" in page.text.lower()
        assert page.headers["content-disposition"].startswith("attachment;")


async def test_an_open_runbook_grows_until_it_is_sealed() -> None:
    async with served(authentication=()) as found, found.client() as client:
        made = await client.post(
            "/api/runbooks", json={"calls": CALLS[:1], "variables": {"what": "x"}, "sealed": False}
        )
        path = made.headers["location"]
        more = {"calls": [{"verb": "desk.note", "args": {"text": {"@": "noted.noted"}}, "name": "again"}]}
        grown = await client.post(f"{path}/extend", json=more)
        assert [each["name"] for each in grown.json()["steps"]] == ["noted", "again"]
        assert (await client.post(f"{path}/seal")).json()["is_sealed"]


async def test_a_case_is_cancelled_as_a_whole() -> None:
    async with served(authentication=()) as found, found.client() as client:
        for _ in range(2):
            await client.post("/api/runbooks", json={**BODY, "wait": True})
        cancelled = (await client.post("/api/cases/C-7/cancel", json={"reason": "over"})).json()["items"]
        assert [each["state"] for each in cancelled] == ["cancelled"] * 2


async def test_a_draft_is_written_undone_and_started(store_url: str) -> None:
    async with served(store_url, authentication=()) as found, found.client() as client:
        made = await client.post("/api/drafts", json={"calls": [{"verb": "desk.note"}], "case": "C-8"})
        path = made.headers["location"]
        assert made.json()["plan"] is None and made.json()["problems"][0]["step"] == 1
        assert (await client.post(f"{path}/start")).status_code == 422
        better = {"program": '(desk.note :text "tea" :as @noted)', "change": "said what"}
        written = (await client.put(path, json=better)).json()
        assert written["problems"] == [] and written["plan"]["steps"][0]["sentence"] == "Note tea"
        assert (await client.post(f"{path}/undo")).json()["revision"] == 1
        assert (await client.post(f"{path}/redo")).json()["revision"] == 2
        started = await client.post(f"{path}/start", json={"wait": True})
        assert started.json()["state"] == "completed" and started.json()["case"] == "C-8", started.text
        assert (await client.post(f"{path}/start")).json()["sequence"] == started.json()["sequence"]
        assert (await client.put(path, json=better)).status_code == 409


async def test_what_is_stuck_is_mended_by_hand() -> None:
    async with served(authentication=()) as found, found.client() as client:
        made = await client.post("/api/verbs/desk.stuck/calls", json={})
        path = made.headers["location"]
        assert made.json()["waiting_for"]["kind"] == "incident"
        assert (await client.post(f"{path}/retry")).json()["waiting_for"]["kind"] == "incident"
        wrong = await client.post(f"{path}/resolve", json={"result": {"mended": "no"}})
        assert wrong.status_code == 422
        done = await client.post(f"{path}/resolve", json={"result": {"mended": True}, "reason": "by hand"})
        assert done.json()["result"] == {"mended": True}
        assert (await client.post(f"{path}/erase", json={"reason": "asked for"})).json()["erased_at"]


async def test_a_correction_needs_somebody_else() -> None:
    async with served() as found:
        ana, ben = await found.key("admin", name="ana"), await found.key("admin", name="ben")
        async with found.client(ana) as first, found.client(ben) as second:
            path = (await first.post("/api/verbs/desk.note/calls", json={"args": {"text": "x"}})).headers["location"]
            proposed = await first.post(f"{path}/amend", json={"data": {"text": "y"}, "reason": "typo"})
            assert proposed.status_code == 200, proposed.text
            shown = (await second.get(f"{path}/amendments")).json()["items"]
            assert (shown[0]["data"], shown[0]["amendment"]["by"]) == ({"text": "y"}, proposed.json()["principal"])
            own = await first.post(f"{path}/approve", json={"amendment": 1})
            assert own.status_code in (403, 409, 423)
            agreed = await second.post(f"{path}/approve", json={"amendment": 1})
            assert agreed.json()["amendments"][0]["approved_by"] == "ben"


@pytest.mark.parametrize("body", [{}, {"program": "x", "calls": []}, {"program": "(((("}, {"calls": [{"verb": 1}]}])
async def test_what_cannot_be_a_runbook_says_why(body: dict[str, object]) -> None:
    async with served(authentication=()) as found, found.client() as client:
        for path in ("/api/runbooks", "/api/runbooks/plan", "/api/drafts"):
            answer = await client.post(path, json=body)
            assert answer.status_code == 422 and answer.json()["detail"], path


async def test_how_things_stand_is_told_at_a_glance(store_url: str) -> None:
    async with served(store_url, authentication=()) as found, found.client() as client:
        await client.post("/api/runbooks", json={**BODY, "wait": True})
        told = (await client.get("/api/overview")).json()
        assert told["running"]["runbooks"] and told["stuck"]["incidents"] == 0 and len(told["throughput"]) == 24
