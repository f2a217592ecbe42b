"""Narrow keys: a key sees and touches a thing only if it reaches every verb that the thing's data come from."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perdure.app.webhooks.incoming_webhooks import receive
from perdure.channels.webhook_settings import HookIn, Hooks, Secret
from perdure.channels.webhook_signatures import sign
from perdure.errors import RejectedError
from perdure.surfaces.mcp import pending_work_tools, runbook_tools, status_tools
from tests.security.narrow_house import ECHO, LOOK, MODELS, NOTE, SECRET, House, model, narrow_house, pages, tells
from tests.surfaces.http import in_process_server
from tests.surfaces.http.test_server_sent_events import following

ECHOED = [
    {"verb": "sec.echo", "name": "echo", "args": {"text": SECRET}},
    {"verb": "pub.wait", "name": "mine", "args": {"text": "mine"}},
]
TAKEN = "(pub.note :text @echo.text :as @taken)"
MIXED = MODELS["mixed"]
BREAK = ECHO.replace("sec.echo", "sec.break")
HOOK = "a secret of sixteen bytes and more"
pytestmark = pytest.mark.req("V36", "P3")


# --- starting ----------------------------------------------------------------------------------------------------


async def test_a_process_is_started_by_keys_that_reach_every_verb_it_can_reach() -> None:
    async with narrow_house() as house:
        for process in ("mixed", "calls-mixed", "door", "people"):
            told = await house.pub.post("/api/instances", {"process": process}, 403)
            assert "pub.*" in told["detail"]
        assert (await house.ada.get("/api/instances"))["items"] == []
        await house.pub.post("/api/instances", {"process": "open"}, 201)
        await house.peer.post("/api/instances", {"process": "calls-mixed"}, 201)


async def test_a_message_or_signal_begins_nothing_that_its_sender_could_not_start() -> None:
    async with narrow_house() as house:
        await house.deployed("by-message", *MIXED, start='<messageEventDefinition messageRef="n"/>')
        await house.deployed("by-signal", *MIXED, start='<signalEventDefinition signalRef="g"/>')
        for path in ("messages", "messages/correlate", "signals"):
            await house.pub.post(f"/api/{path}", {"name": "begin"}, 403)
        with pytest.raises(RejectedError, match="may only act on verbs"):
            await pending_work_tools.publish_message(house.agent(), pending_work_tools.PublishMessage("begin"))
        assert (await house.ada.get("/api/instances"))["items"] == []


async def test_a_verb_is_a_door_and_its_caller_does_not_see_behind_it(store_url: str) -> None:
    async with narrow_house(store_url) as house:
        id = await house.called("pub.door", "mine", house.pub)
        whole, shown = await house.ada.get(f"/api/calls/{id}"), await house.pub.get(f"/api/calls/{id}")
        assert (shown["args"], shown["state"]) == ({"text": "mine"}, "parked")
        assert shown["carrier"] is None and whole["carrier"]["completed"] == ["sec.echo"]
        instance = whole["carrier"]["instance"]
        assert not tells(shown) and not tells(await house.pub.get(f"/api/instances/{instance}"))
        for path in (f"calls/{id}/export", f"instances/{instance}/export", f"instances/{instance}/events"):
            await house.pub.get(f"/api/{path}", 403)
        assert await pages(house.pub, "/api/tasks") == await pages(house.pub, "/api/instances") == []
        assert [row["id"] for row in await pages(house.pub, "/api/calls")] == [id]
        await house.pub.post(f"/api/calls/{id}/cancel")


# --- instances ---------------------------------------------------------------------------------------------------


@pytest.mark.both_stores
async def test_instances_of_other_verbs_are_neither_listed_nor_read(store_url: str) -> None:
    async with narrow_house(store_url) as house:
        ids = [await house.begun(process) for process in ("mixed", "calls-mixed", "people")]
        own = await house.begun("open")
        for query in ({}, {"whole": True}, {"business_key": SECRET}, {"state": "active"}):
            assert [each["id"] for each in await pages(house.pub, "/api/instances", **query)] == [own], query
        assert len(await pages(house.peer, "/api/instances")) == 4, "with the instance that is called, without the last"
        for id in ids:
            view = await house.pub.get(f"/api/instances/{id}")
            assert (view["id"], view["state"], view["data"], view["waits"]) == (id, "active", None, [])
            assert not tells(view) and tells(await house.ada.get(f"/api/instances/{id}"))
            for part in ("events", "diagram", "export"):
                await house.pub.get(f"/api/instances/{id}/{part}", 403)
            for act in ("suspend", "resume", "cancel", "retry", "migrate", "migrate-back"):
                await house.pub.post(f"/api/instances/{id}/{act}", {}, 403)
            for act, body in (("modify", {"cancel": [1]}), ("resolve", {"data": {}})):
                await house.pub.post(f"/api/instances/{id}/{act}", body, 403)
            assert (await house.ada.get(f"/api/instances/{id}"))["state"] == "active"
            await house.server.of("spy").get(f"/api/instances/{id}", 404)
        assert tells(await house.pub.get(f"/api/instances/{own}"))


async def test_an_instance_that_a_reached_process_is_called_by_counts_as_well() -> None:
    async with narrow_house() as house:
        call = '<callActivity id="z"><extensionElements><zeebe:calledElement processId="open"/></extensionElements>'
        await house.deployed("above", *MIXED[:1], f"{call}</callActivity>")
        await house.begun("above")
        below = next(each for each in (await house.ada.get("/api/instances"))["items"] if each["process"] == "open")
        assert not tells(await house.pub.get(f"/api/instances/{below['id']}"))
        assert await pages(house.pub, "/api/instances") == await pages(house.pub, "/api/tasks") == []


async def test_what_ran_before_a_migration_still_counts() -> None:
    async with narrow_house() as house:
        id = await house.begun("mixed")
        body = {"xml": model("mixed", NOTE, LOOK), "profile": "open"}
        assert (await house.ada.post("/api/processes", body, 201))["deployments"][0]["version"] == 2
        await house.ada.post(f"/api/instances/{id}/migrate", {"version": 2})
        assert not tells(await house.pub.get(f"/api/instances/{id}"))


async def test_a_migration_leads_to_no_version_beyond_the_key() -> None:
    async with narrow_house() as house:
        await house.deployed("changed", LOOK, ECHO)
        id = await house.begun("changed")
        await house.deployed("changed", LOOK, ECHO.replace("sec.echo", "pub.note"))
        await house.ada.post(f"/api/instances/{id}/migrate", {"version": 2})
        assert (await house.pub.get(f"/api/instances/{id}"))["waits"], "nothing of another verb has run in it"
        for act, body in (("migrate", {"version": 1}), ("migrate-back", {}), ("migrate", {"process": "mixed"})):
            told = await house.pub.post(f"/api/instances/{id}/{act}", body, 403)
            assert "'sec.echo'" in told["detail"]
        assert (await house.ada.get(f"/api/instances/{id}"))["version"] == 2


# --- runbooks, drafts --------------------------------------------------------------------------------------------


async def test_an_extension_takes_no_result_of_a_verb_that_is_not_reached() -> None:
    async with narrow_house() as house:
        id = await house.run(*ECHOED, sealed=False)
        for path in ("extend/plan", "extend"):
            await house.pub.post(f"/api/runbooks/{id}/{path}", {"program": TAKEN}, 403)
        asked = runbook_tools.ExtendRunbook(id, TAKEN)
        with pytest.raises(RejectedError, match="may only act on verbs"):
            await runbook_tools.extend_runbook(house.agent(), asked)
        assert len((await house.ada.get(f"/api/runbooks/{id}"))["steps"]) == 2
        assert "'sec.echo'" in (await house.pub.post(f"/api/runbooks/{id}/seal", {}, 403))["detail"]


async def test_arguments_that_come_from_another_verb_are_that_verbs_data(store_url: str) -> None:
    async with narrow_house(store_url) as house:
        program = '(sec.echo :text "x" :as @echo) (pub.wait :text @echo.text :as @taken) (pub.wait :text "y" :as @own)'
        id = await house.run(program=program)
        steps = (await house.pub.get(f"/api/runbooks/{id}"))["steps"]
        assert [step.get("args") for step in steps] == [None, None, {"text": "y"}]
        waits = await pages(house.pub, "/api/parked")
        assert [each["key"] for each in waits] == ["pub-y"] and not tells(waits)
        assert await pages(house.pub, "/api/runbooks") == []
        await house.pub.post("/api/completions", {"key": f"pub-{SECRET}", "result": {}}, 403)
        told = await pending_work_tools.pending_work(house.agent(), pending_work_tools.PendingWork())
        assert [each.key for each in told.waits] == ["pub-y"]
        with pytest.raises(RejectedError, match="may only act on verbs"):
            await status_tools.read_value(house.agent(), status_tools.ReadValue(id, "args", "taken"))


@pytest.mark.both_stores
async def test_a_draft_with_other_verbs_is_neither_read_nor_changed(store_url: str) -> None:
    async with narrow_house(store_url) as house:
        secret, mine = {"calls": ECHOED[:1]}, {"calls": ECHOED[1:]}
        id = (await house.ada.post("/api/drafts", secret, 201))["id"]
        await house.ada.ask("PUT", f"/api/drafts/{id}", json=mine)  # the revision before still names sec.echo
        for method, path, body in (
            ("GET", "", None), ("PUT", "", mine), ("POST", "/undo", {}), ("POST", "/redo", {}), ("POST", "/start", {}),
        ):  # fmt: skip
            answer = await house.pub.ask(method, f"/api/drafts/{id}{path}", **({"json": body} if body else {}))
            assert answer.status_code == 403 and not tells(answer.text), (method, path)
        with pytest.raises(RejectedError, match="may only act on verbs"):
            await runbook_tools.draft_runbook(house.agent(), runbook_tools.DraftRunbook("(pub.note)", draft=id))
        with pytest.raises(RejectedError, match="may only act on verbs"):
            await runbook_tools.plan_runbook(house.agent(), runbook_tools.PlanRunbook(draft=id))
        await house.pub.post("/api/drafts", secret, 403)
        view = await house.ada.get(f"/api/drafts/{id}")
        assert (view["state"], view["revision"], view["revisions"]) == ("draft", 2, 2)
        assert await pages(house.pub, "/api/runbooks") == []
        own = (await house.pub.post("/api/drafts", mine, 201))["id"]
        assert [row["id"] for row in await pages(house.pub, "/api/runbooks")] == [own]


# --- people, messages, completions -------------------------------------------------------------------------------


@pytest.mark.both_stores
async def test_tasks_of_other_verbs_are_neither_listed_nor_answered(store_url: str) -> None:
    async with narrow_house(store_url) as house:
        key, own = await house.task(await house.begun("mixed")), await house.task(await house.begun("open"))
        assert [each["key"] for each in await pages(house.pub, "/api/tasks")] == [own]
        await house.pub.get(f"/api/tasks/{key}", 403)
        for act in ("claim", "unclaim", "complete", "accept"):
            await house.pub.post(f"/api/tasks/{key}/{act}", {}, 403)
        for act in ("delegate", "reassign"):
            await house.pub.post(f"/api/tasks/{key}/{act}", {"to": "pub"}, 403)
        await house.pub.post("/api/parked/token", {"key": key}, 403)
        await house.pub.post("/api/completions", {"key": key, "result": {}}, 403)
        tools: Any = (
            (pending_work_tools.claim_task, pending_work_tools.ClaimTask(key)),
            (pending_work_tools.complete_task, pending_work_tools.CompleteTask(key)),
            (pending_work_tools.answer_decision, pending_work_tools.AnswerDecision(key, True)),
        )
        for tool, asked in tools:
            with pytest.raises(RejectedError, match="may only act on verbs"):
                await tool(house.agent(), asked)
        assert await house.task(key.partition(":")[0]) == key
        await house.pub.post(f"/api/tasks/{own}/complete", {})


async def test_a_hook_completes_no_task_of_verbs_beyond_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BANK", HOOK)
    hooks = Hooks((HookIn("bank", Secret(("BANK",)), principal="bank", verbs=("pub.*",)),))
    async with narrow_house() as house:
        sandbox = house.server.sandbox

        async def sent(key: str, id: str) -> str:
            body = json.dumps({"key": key, "result": {}}).encode()
            headers = sign(HOOK.encode(), id, sandbox.runtime.sources.now(), body)
            return (await receive(sandbox, hooks, "bank", headers, body)).outcome

        behind = (await house.ada.get(f"/api/calls/{await house.called('pub.door')}"))["carrier"]["instance"]
        key, own = await house.task(behind), await house.task(await house.begun("open"))
        with pytest.raises(RejectedError, match=r"not on 'sec\.echo'"):
            await sent(key, "m-1")
        assert await sent(own, "m-2") == "applied"


async def test_the_token_of_a_wait_shows_nothing_of_the_work_behind_it() -> None:
    async with narrow_house() as house:
        key = await house.task(await house.begun("mixed"))
        token = (await house.ada.post("/api/parked/token", {"key": key}))["token"]
        holder = house.server.waiting(token)
        await holder.get(f"/api/instances/{key.partition(':')[0]}", 403)
        answer = await holder.post("/api/completions", {"key": key, "result": {}}, 202)
        assert not tells(answer) and answer["call"] is None


async def test_a_message_ends_no_wait_of_an_instance_that_its_sender_does_not_reach() -> None:
    async with narrow_house() as house:
        id = await house.begun("mixed")
        await house.ada.post(f"/api/tasks/{await house.task(id)}/complete", {})
        await house.server.idle()
        papers = {"name": "papers", "key": "k"}
        for path in ("messages", "messages/correlate"):
            await house.pub.post(f"/api/{path}", papers, 403)
        with pytest.raises(RejectedError, match="may only act on verbs"):
            message = pending_work_tools.PublishMessage("papers", "k")
            await pending_work_tools.publish_message(house.agent(), message)
        await house.pub.post("/api/messages", {"name": "papers", "key": "later", "ttl_seconds": 60}, 403)
        assert (await house.ada.get(f"/api/instances/{id}"))["state"] == "active"
        await house.peer.post("/api/messages", papers)
        await house.server.idle()
        assert (await house.ada.get(f"/api/instances/{id}"))["state"] == "completed"


@pytest.mark.both_stores
async def test_dead_letters_of_other_verbs_are_neither_listed_nor_moved(store_url: str) -> None:
    async with narrow_house(store_url) as house:
        for verb, id in (("sec.wait", "m-1"), ("pub.wait", "m-2")):
            body = {"key": f"{SECRET}-{id}", "verb": verb, "message_id": id, "result": {"text": SECRET}}
            await house.ada.post("/api/completions", body, 404)
        await house.ada.post("/api/messages", {"name": SECRET, "message_id": "m-3"}, 202)
        assert [each["message_id"] for each in await pages(house.pub, "/api/dead-letters")] == ["m-2"]
        for id in ("m-1", "m-3"):
            await house.pub.post(f"/api/dead-letters/{id}/replay", {}, 403)
            await house.pub.post(f"/api/dead-letters/{id}/discard", {"reason": "gone"}, 403)
        await house.pub.post("/api/dead-letters/m-2/discard", {"reason": "gone"}, 204)
        assert len((await house.ada.get("/api/dead-letters"))["items"]) == 2


# --- lists, counts, events ---------------------------------------------------------------------------------------


@pytest.mark.both_stores
async def test_lists_and_their_cursors_tell_of_nothing_that_is_left_out(store_url: str) -> None:
    async with narrow_house(store_url) as house:
        own = [await house.called(verb) for _ in range(3) for verb in ("pub.note", "sec.echo")][::2]
        await house.called("sec.wait")
        await house.run(*ECHOED, case="C-1")
        for chosen in ({}, {"q": SECRET}, {"state": "completed"}):
            found = await pages(house.pub, "/api/calls", **chosen)
            assert {each["id"] for each in found} == set(own), chosen
        assert await pages(house.pub, "/api/calls", verb="sec.echo", where=f"text:{SECRET}") == []
        for query in ({}, {"case": "C-1"}, {"whole": True}, {"case": "C-1", "whole": True}):
            assert await pages(house.pub, "/api/runbooks", **query) == [], query
        assert [each["verb"] for each in await pages(house.pub, "/api/parked")] == ["pub.wait"]
        await house.pub.post("/api/cases/C-1/cancel", {}, 403)


async def test_incidents_of_other_verbs_are_neither_listed_nor_retried() -> None:
    async with narrow_house() as house:
        id = await house.called("sec.break")
        assert len((await house.ada.get("/api/incidents"))["items"]) == 1
        assert await pages(house.pub, "/api/incidents") == []
        (retried,) = (await house.pub.post("/api/incidents/retry", {"ids": [id]}))["items"]
        assert retried["status"] == 403 and not tells(retried)


async def test_an_incident_behind_a_door_is_not_for_who_may_only_knock() -> None:
    async with narrow_house() as house:
        await house.deployed("door", BREAK, LOOK)
        id = await house.called("pub.door", "mine", house.pub)
        assert (await house.ada.get("/api/incidents"))["items"]
        assert await pages(house.pub, "/api/incidents") == []
        view = await house.pub.get(f"/api/calls/{id}")
        assert not tells(view) and "sec.break" not in json.dumps(view)
        await house.pub.post(f"/api/calls/{id}/retry", {}, 403)
        await house.pub.post(f"/api/calls/{id}/resolve", {"result": {}}, 403)
        (retried,) = (await house.pub.post("/api/incidents/retry", {"ids": [id]}))["items"]
        assert retried["status"] == 403


async def test_the_overview_counts_what_the_key_sees() -> None:
    async with narrow_house() as house:
        await house.begun("mixed")
        await house.called("sec.wait")
        await house.called("sec.break")
        found = await house.pub.get("/api/overview")
        assert found["running"] == {"runbooks": {}, "instances": {}, "lifecycles": {}}
        assert (found["waits"], found["throughput"], found["needs_me"]["tasks"]) == ([], [], 0)
        assert found["stuck"] == {"incidents": 0, "dead_letters": 0, "overdue_tasks": 0, "quarantined": 0}
        await house.called("pub.wait")
        assert (await house.pub.get("/api/overview"))["running"]["runbooks"] == {"parked": 1}
        assert (await house.ada.get("/api/overview"))["running"]["instances"] == {"active": 1}
        metrics = await house.pub.ask("GET", "/metrics")
        assert metrics.status_code == 403


@pytest.mark.both_stores
async def test_the_feed_tells_of_what_the_key_reaches(store_url: str) -> None:
    async with narrow_house(store_url) as house:
        hidden = {await house.begun("mixed"), await house.called("sec.echo"), await house.run(*ECHOED)}
        own = await house.called("pub.note")
        assert hidden <= {each["id"] for each in await events(house, "ada")}
        assert {each["id"] for each in await events(house, "pub")} & hidden == set()
        assert own in {each["id"] for each in await events(house, "pub")}


async def events(house: House, name: str) -> list[Any]:
    found: list[Any] = []
    after: dict[str, Any] = {}
    for _ in range(50):
        page = await house.server.of(name).get("/api/events", limit=100, **after)
        found, after = found + page["items"], {"after": page["next"]}
    return found


async def test_a_stream_of_the_feed_tells_no_more() -> None:
    async with in_process_server.served(on_socket=True) as found:
        key = await found.key("operator", verbs=("desk.*",))
        async with found.client(key) as client, following(client, "/api/events") as told:
            await found.perdure.call("vault.open")
            own = await found.perdure.call("desk.note", {"text": "x"})
            assert json.loads((await anext(told))["data"])["id"] == own.id


# --- kept answers, processes -------------------------------------------------------------------------------------


@pytest.mark.both_stores
async def test_a_repeated_request_is_not_answered_with_what_a_wider_key_was_told(store_url: str) -> None:
    async with narrow_house(store_url) as house:
        wide, narrow = await house.twin("wide", "*"), await house.twin("narrow", "pub.*")
        id = await house.run(*ECHOED)
        instance = {"process": "mixed", "data": {"text": SECRET}}
        for path, body, status in (
            (f"runbooks/{id}/steps/mine/cancel", {"reason": "no"}, 200),
            ("drafts", {"calls": ECHOED}, 201),
            ("runbooks", {"calls": ECHOED}, 201),
            ("instances", instance, 201),
            ("verbs/sec.echo/calls", {"args": {"text": SECRET}}, 201),
        ):
            key = {"Idempotency-Key": path}
            assert tells(await wide.post(f"/api/{path}", body, status, headers=key)), path
            answer = await narrow.ask("POST", f"/api/{path}", json=body, headers=key)
            assert answer.status_code in (403, 422) and not tells(answer.text), path
            assert tells(await wide.post(f"/api/{path}", body, status, headers=key)), path


async def test_process_versions_with_other_verbs_are_neither_seen_nor_ended() -> None:
    async with narrow_house() as house:
        assert [each["process"] for each in (await house.pub.get("/api/processes"))["items"]] == ["open"]
        for process in ("mixed", "calls-mixed", "door", "people"):
            await house.pub.get(f"/api/processes/{process}", 403)
            await house.pub.get(f"/api/processes/{process}/versions/1", 403)
            for act in ("retire", "deprecate"):
                await house.pub.post(f"/api/processes/{process}/versions/1/{act}", {}, 403)
        call = '<callActivity id="z"><extensionElements><zeebe:calledElement processId="mixed"/></extensionElements>'
        models = (
            model("around", f"{call}</callActivity>"), model("around", *MIXED), model("door", NOTE),
            model("mixed", NOTE), model("people", NOTE),
        )  # fmt: skip
        for xml in models:
            await house.pub.post("/api/processes", {"xml": xml, "profile": "open"}, 403)
        await house.pub.post("/api/processes", {"xml": model("mine", NOTE), "profile": "open"}, 201)
