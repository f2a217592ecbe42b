"""Reading beyond the reach of a key: what a call or a step was about is told to those who may use its verb."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perdure.access.principal import Principal
from perdure.errors import RejectedError
from perdure.surfaces.mcp import outcome_tools, pending_work_tools, status_tools
from perdure.surfaces.mcp.runbook_tools import PlanRunbook, plan_runbook
from perdure.surfaces.mcp.tool import ToolSession, tool_session
from tests.surfaces.http import in_process_server
from tests.surfaces.http.sandbox_server import Server, person, served
from tests.surfaces.http.test_server_sent_events import following

VERBS = """
- name: note.write
  consequence: benign
  sentences: {step: "Write {text}"}
  input_schema: {properties: {text: {type: string}}}
  index: [text]
  execution: {kind: durable, correlation: {key: "note-{text}"}}
- name: vault.open
  consequence: benign
  sentences: {step: "Open {text}"}
  input_schema: {properties: {text: {type: string}}}
  index: [text]
  execution: {kind: durable, correlation: {key: "vault-{text}"}}
- name: vault.break
  consequence: benign
  sentences: {step: "Break {text}"}
  input_schema: {properties: {text: {type: string}}}
  output_schema: {required: [done], properties: {done: {type: boolean}}}
  execution: {kind: sync, effects: external}
"""
NARROW = person("writer", "operator", "author", "reviewer", verbs=("note.*",))
SECRET = "sesame"
pytestmark = pytest.mark.req("P3", "P5")


def serving(url: str = "sqlite://") -> Any:
    broken = {"vault.break": lambda call: {"why": SECRET}}
    return served(url, VERBS, people=[NARROW], handlers=broken)


def narrow_desk(server: Server) -> ToolSession:
    return tool_session(server.sandbox, NARROW)


async def called(server: Server, verb: str = "vault.open", text: str = SECRET) -> str:
    view = await server.of("ada").post(f"/api/verbs/{verb}/calls", {"args": {"text": text}}, 201)
    return str(view["id"])


async def planned(server: Server) -> str:
    calls = [{"verb": "note.write", "args": {"text": "mine"}}, {"verb": "vault.open", "args": {"text": f"{SECRET}-2"}}]
    view = await server.of("ada").post("/api/runbooks", {"calls": calls, "case": "C"}, 201)
    await server.idle()
    return str(view["id"])


async def test_a_call_of_another_verb_is_there_and_says_nothing_of_what_it_is_about(store_url: str) -> None:
    async with serving(store_url) as server:
        ada, writer, id = server.of("ada"), server.of("writer"), await called(server)
        view = await writer.get(f"/api/calls/{id}")
        assert (view["id"], view["verb"], view["state"], view["args"]) == (id, "vault.open", "parked", None)
        assert SECRET not in json.dumps(view) and SECRET in json.dumps(await ada.get(f"/api/calls/{id}"))
        await ada.post("/api/completions", {"key": f"vault-{SECRET}", "error": SECRET, "code": "vault.shut"}, 202)
        view = await writer.get(f"/api/calls/{id}")
        assert view["error"]["code"] == "vault.shut" and SECRET not in json.dumps(view)
        for part in ("events", "outcome-events", "timeline", "export", "amendments"):
            await writer.get(f"/api/calls/{id}/{part}", 403)
            await ada.get(f"/api/calls/{id}/{part}")
        for part in ("events", "outcome-events"):
            stream = await writer.ask("GET", f"/api/calls/{id}/{part}", headers={"Accept": "text/event-stream"})
            assert stream.status_code == 403
        own = await called(server, "note.write", "mine")
        assert (await writer.get(f"/api/calls/{own}"))["args"] == {"text": "mine"}
        assert (await writer.get(f"/api/calls/{own}/events"))["items"]


async def test_steps_of_other_verbs_are_blank_in_a_runbook(store_url: str) -> None:
    async with serving(store_url) as server:
        writer, id = server.of("writer"), await planned(server)
        view = await writer.get(f"/api/runbooks/{id}")
        assert [step.get("args") for step in view["steps"]] == [{"text": "mine"}, None]
        assert SECRET not in json.dumps(view)
        assert SECRET in json.dumps(await server.of("ada").get(f"/api/runbooks/{id}"))
        for part in ("events", "outcome-events", "timeline", "progress", "diff", "export"):
            await writer.get(f"/api/runbooks/{id}/{part}", 403)
        acted = await writer.post(f"/api/runbooks/{id}/steps/1/cancel", {})
        assert SECRET not in json.dumps(acted)


async def test_lists_leave_out_other_verbs_and_pages_go_on_in_order(store_url: str) -> None:
    async with serving(store_url) as server:
        ids = [await called(server, verb, f"{SECRET}{n}") for n in range(4) for verb in ("vault.open", "note.write")]
        await planned(server)
        writer = server.of("writer")

        async def pages(path: str, **query: Any) -> list[Any]:
            found: list[Any] = []
            after: dict[str, str] = {}
            while True:
                page = await writer.get(path, limit=3, **query, **after)
                found += page["items"]
                if not page["next"]:
                    return found
                after = {"after": page["next"]}

        assert [row["id"] for row in await pages("/api/calls")] == ids[1::2][::-1]
        assert await pages("/api/runbooks") == await pages("/api/runbooks", whole=True) == []
        assert [row["verb"] for row in await pages("/api/calls", q=SECRET)] == ["note.write"] * 4
        assert await pages("/api/calls", verb="vault.open", where=f"text:{SECRET}1") == []
        assert len(await pages("/api/calls", verb="note.write", where=f"text:{SECRET}1")) == 1
        waits = await pages("/api/parked")
        assert [each["verb"] for each in waits] == ["note.write"] * 5 and all(each["key"] for each in waits)


async def test_incidents_of_other_verbs_are_left_out() -> None:
    async with serving() as server:
        await called(server, "vault.break")
        await server.idle()
        assert (await server.of("writer").get("/api/incidents"))["items"] == []
        (whole,) = (await server.of("ada").get("/api/incidents"))["items"]
        assert whole["text"] and whole["title"] == f"Break {SECRET}"
        told = await pending_work_tools.list_incidents(narrow_desk(server), pending_work_tools.ListIncidents())
        assert told.items == []


async def test_a_draft_is_read_by_those_who_reach_all_of_it() -> None:
    async with serving() as server:
        for verb, status in (("vault.open", 403), ("note.write", 200)):
            calls = {"calls": [{"verb": verb, "args": {"text": SECRET}}]}
            id = (await server.of("ada").post("/api/drafts", calls, 201))["id"]
            await server.of("writer").get(f"/api/drafts/{id}", status)
            asked = plan_runbook(narrow_desk(server), PlanRunbook(draft=id))
            if status == 200:
                assert (await asked).steps
            else:
                with pytest.raises(RejectedError, match="note"):
                    await asked


async def test_an_agent_reads_no_more_over_mcp(store_url: str) -> None:
    async with serving(store_url) as server:
        desk, wide = narrow_desk(server), tool_session(server.sandbox, _wide(NARROW))
        call, runbook = await called(server), await planned(server)

        async def told(at: ToolSession) -> str:
            shown: list[Any] = [
                await status_tools.workflow_status(at, status_tools.AskWorkflow(call)),
                await status_tools.workflow_status(at, status_tools.AskWorkflow(runbook)),
                await status_tools.runbook_status(at, status_tools.AskStatus(runbook, "detailed")),
                await status_tools.list_runbooks(at, status_tools.ListRunbooks()),
                await pending_work_tools.pending_work(at, pending_work_tools.PendingWork()),
            ]
            return repr(shown)

        assert SECRET not in await told(desk) and SECRET in await told(wide)
        for value in (status_tools.ReadValue(call, "args"), status_tools.ReadValue(runbook, "args", "2")):
            assert SECRET in (await status_tools.read_value(wide, value)).text
            with pytest.raises(RejectedError, match="may only act on verbs"):
                await status_tools.read_value(desk, value)
        for id in (call, runbook):
            with pytest.raises(RejectedError, match="may only act on verbs"):
                await status_tools.runbook_events(desk, status_tools.AskEvents(id))
            with pytest.raises(RejectedError, match="may only act on verbs"):
                await outcome_tools.outcome_events(desk, outcome_tools.AskOutcomes(id))
        assert "mine" in (await status_tools.read_value(desk, status_tools.ReadValue(runbook, "args", "1"))).text


@pytest.mark.parametrize("part", ["events", "outcome-events"])
async def test_a_journal_that_is_followed_ends_when_a_verb_is_added_that_its_reader_does_not_reach(part: str) -> None:
    async with in_process_server.served(on_socket=True) as found:
        key = await found.key("operator", verbs=("desk.*",))
        view = await found.perdure.runbooks.start("(desk.wait :as @first)", sealed=False)
        await found.perdure.runbooks.rest(view.id, 10)
        async with found.client(key) as client, following(client, f"/api/runbooks/{view.id}/{part}") as events:
            assert (await anext(events))["event"]
            await found.perdure.runbooks.extend(view.id, "(vault.open :as @second)")
            told = [event["data"] async for event in events]
        assert (told or part != "events") and not any("vault.open" in each for each in told)


def _wide(principal: Principal) -> Principal:
    return person("wide", *principal.roles)
