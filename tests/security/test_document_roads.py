"""Documents by other roads: whoever stands behind a call hands in as much as who asks the operation does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure import Call
from tests.lifecycles.onboarding import written
from tests.surfaces.http.sandbox_server import Server, person, served

VERBS = """
documents:
  passport:
    data_schema: {properties: {name: {type: string}}}
    verify: {four_eyes: true}
verbs:
  - {name: note.keep, consequence: benign, execution: {kind: sync, effects: none}}
  - name: note.read
    input_schema: {type: object, required: [reference], properties: {reference: {type: string}}}
    execution: {kind: sync, effects: none}
  - name: note.fetch
    input_schema: {type: object, required: [reference], properties: {reference: {type: string}}}
    execution: {kind: sync, effects: external}
"""
PEOPLE = [
    person("anne", "operator", "author", "reviewer"),
    person("bob", "operator", "author", "reviewer"),
    person("writer", "author"),
    person("noter", "operator", "author", verbs=("note.*",)),
]
PROCESS = """
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
 targetNamespace="x">
<process id="inner" isExecutable="true"><startEvent id="s"/><serviceTask id="t"><extensionElements>
<zeebe:taskDefinition type="note.fetch"/></extensionElements></serviceTask><endEvent id="e"/>
<sequenceFlow id="f" sourceRef="s" targetRef="t"/><sequenceFlow id="g" sourceRef="t" targetRef="e"/></process>
<process id="outer" isExecutable="true"><startEvent id="s2"/><callActivity id="c"><extensionElements>
<zeebe:calledElement processId="inner"/></extensionElements></callActivity><endEvent id="e2"/>
<sequenceFlow id="f2" sourceRef="s2" targetRef="c"/><sequenceFlow id="g2" sourceRef="c" targetRef="e2"/></process>
</definitions>"""
HANDED_IN = {"document-type": "passport", "structured-data": {"name": "A"}}
pytestmark = pytest.mark.req("V36", "P3")


def serving() -> Any:
    return served("sqlite://", VERBS, people=PEOPLE)


async def test_whose_agent_hands_in_by_a_verb_does_not_verify() -> None:
    async with serving() as server:
        ada = server.of("ada")
        made = {"name": "robot", "principal": "agent:rob", "kind": "agent", "roles": ["operator"]}
        key = await ada.post("/api/keys", made, 201)
        headers = {"Authorization": f"Bearer {key['text']}"}
        called = await ada.post("/api/verbs/document.create/calls", {"args": HANDED_IN}, 201, headers=headers)
        path = f"/api/documents/{called['result']['document_id']}/verify"
        await ada.post(path, {"version": 1}, 403)
        await server.of("anne").post(path, {"version": 1})


async def test_who_drafted_a_document_does_not_verify_it_when_another_started_the_draft() -> None:
    async with serving() as server:
        anne, bob = server.of("anne"), server.of("bob")
        draft = await anne.post("/api/drafts", {"calls": [{"verb": "document.create", "args": HANDED_IN}]}, 201)
        await bob.post(f"/api/drafts/{draft['id']}/start", {})
        await server.idle()
        (document,) = (await bob.get("/api/documents"))["items"]
        for who in (anne, bob):
            await who.post(f"/api/documents/{document['id']}/verify", {"version": 1}, 403)
        await server.of("ada").post(f"/api/documents/{document['id']}/verify", {"version": 1})


class Readers:
    """Handlers that read the document they are told of, and keep what they read."""

    def __init__(self) -> None:
        self.read: list[Any] = []

    async def __call__(self, call: Call) -> dict[str, Any]:
        self.read.append((await call.resolve(call.args["reference"]))["data"])
        return {}


async def document(server: Server) -> str:
    made = {"type": "passport", "data": {"name": "Ada Lovelace"}}
    found = await server.of("ada").post("/api/documents", made, 201)
    return f"document://default/{found['id']}"


async def by_call(server: Server, who: str, verb: str, reference: str) -> None:
    await server.of(who).post(f"/api/verbs/{verb}/calls", {"args": {"reference": reference}}, 201)


async def by_runbook(server: Server, who: str, verb: str, reference: str) -> None:
    await server.of(who).post("/api/runbooks", {"calls": [{"verb": verb, "args": {"reference": reference}}]}, 201)


async def by_extension(server: Server, who: str, verb: str, reference: str) -> None:
    plan = {"calls": [{"verb": "note.keep", "args": {}}], "sealed": False}
    begun = await server.of("anne").post("/api/runbooks", plan, 201)
    added = {"calls": [{"verb": verb, "args": {"reference": reference}}]}
    await server.of(who).post(f"/api/runbooks/{begun['id']}/extend", added)


async def by_process(server: Server, who: str, verb: str, reference: str) -> None:
    await server.of("ada").post("/api/processes", {"xml": PROCESS, "profile": "open"}, 201)
    await server.of(who).post("/api/instances", {"process": "outer", "data": {"reference": reference}}, 201)


ROADS = [
    pytest.param(by_call, "note.read", "writer", id="a role that reads no content, by a call"),
    pytest.param(by_call, "note.fetch", "noter", id="a key that reaches no documents, by a call"),
    pytest.param(by_runbook, "note.fetch", "writer", id="a role that reads no content, by a runbook"),
    pytest.param(by_extension, "note.fetch", "noter", id="a key that reaches no documents, by an extension"),
    pytest.param(by_process, "note.fetch", "noter", id="a key that reaches no documents, by a called process"),
]


@pytest.mark.parametrize(("road", "verb", "who"), ROADS)
async def test_a_handler_reads_no_document_that_its_caller_may_not(road: Any, verb: str, who: str) -> None:
    readers = Readers()
    handlers = {"note.read": readers, "note.fetch": readers}
    async with served("sqlite://", VERBS, people=PEOPLE, handlers=handlers) as server:
        reference = await document(server)
        await road(server, who, verb, reference)
        await server.idle()
        assert readers.read == []
        await (by_call if road is by_process else road)(server, "anne", verb, reference)
        await server.idle()
        assert readers.read == [{"name": "Ada Lovelace"}]


ASKED = """
lifecycle: onboarding
states:
  OPEN:
    requirements:
      - type: document_exists
        document_type: passport
        on_fail: {blocker: {type: Missing, resolution: "(sec.ask :client $subject)", auto: true}}
  DONE: {terminal: true}
transitions:
  - {from: OPEN, to: DONE}
"""
SEC = """
  - name: sec.ask
    input_schema: {properties: {client: {type: string}}}
    metadata: {creates_pending_task: true}
    execution: {kind: sync, effects: external}
"""


@pytest.mark.parametrize("road", ["create", "receive", "content", "verb", "result"])
async def test_a_key_for_documents_ends_no_request_of_verbs_beyond_it(tmp_path: Path, road: str) -> None:
    people = [person("papers", "operator", "author", verbs=("document.*", "workflow.*"))]
    handlers = {"sec.ask": lambda call: {}}
    verbs = VERBS.replace("    verify: {four_eyes: true}\n", "    content: {media_types: ['text/*']}\n") + SEC
    async with served(
        "sqlite://", verbs, people=people, handlers=handlers, lifecycles=[written(tmp_path, ASKED)], blobs=tmp_path
    ) as server:
        begun = await server.of("ada").post("/api/lifecycles", {"lifecycle": "onboarding", "subject": "anna"}, 201)
        await server.idle()
        place = f"/api/lifecycles/{begun['instance']['id']}"
        (task,) = (await server.of("ada").get(place))["tasks"]
        papers, named = server.of("papers"), {"correlation_id": task["correlation_id"], "data": {"name": "Eve"}}
        if road == "create":
            await papers.post("/api/documents", {"type": "passport", "subject": "anna", **named}, 403)
        elif road == "result":
            args = {"correlation_id": task["correlation_id"], "status": "completed"}
            called = await papers.post("/api/verbs/workflow.complete-task/calls", {"args": args}, 201)
            assert called["state"] == "failed" and "sec.ask" in called["error"]["message"]
        elif road == "verb":
            args = {"document_type": "passport", "subject_entity_id": "anna", "structured_data": {"name": "Eve"}}
            args["correlation_id"] = task["correlation_id"]
            called = await papers.post("/api/verbs/document.create/calls", {"args": args}, 201)
            assert called["state"] == "failed" and "sec.ask" in called["error"]["message"]
        else:
            own = await papers.post("/api/documents", {"type": "passport", "subject": "anna"}, 201)
            if road == "receive":
                await papers.post(f"/api/documents/{own['id']}/versions", named, 403)
            else:
                path = f"/api/documents/{own['id']}/content?correlation_id={task['correlation_id']}"
                sent = await papers.ask("POST", path, content=b"words", headers={"Content-Type": "text/plain"})
                assert sent.status_code == 403
        await server.idle()
        assert (await server.of("ada").get(place))["tasks"][0]["status"] == task["status"] == "pending"
