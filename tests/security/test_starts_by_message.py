"""Beginning something grave by telling the world: a message or a signal starts no more than who sends it may."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from perdure.access.principal import Principal
from perdure.app.webhooks.incoming_webhooks import receive
from perdure.channels.webhook_settings import HookIn, Hooks, Secret
from perdure.channels.webhook_signatures import sign
from perdure.errors import ConfirmationRequiredError
from perdure.surfaces.mcp.pending_work_tools import PublishMessage, publish_message
from perdure.surfaces.mcp.tool import ToolSession
from tests.surfaces.http.sandbox_server import Server, person, served

VERBS = """
- name: vault.move
  sentences: {step: "Move to {to}"}
  input_schema: {properties: {to: {type: string}}}
  consequence: requires_confirmation
  execution: {kind: durable, process: move}
- name: vault.empty
  sentences: {step: "Empty the vault"}
  consequence: requires_authorisation
  execution: {kind: durable, process: empty}
- name: note.keep
  consequence: benign
  execution: {kind: durable, process: keep}
"""
XML = 'xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x"'
MODEL = """<definitions {xml}><message id="m" name="{name}"/><signal id="g" name="{name}"/>
<process id="{process}" isExecutable="true"><startEvent id="s">{trigger}</startEvent>
<sequenceFlow id="f" sourceRef="s" targetRef="e"/><endEvent id="e"/></process></definitions>"""
MESSAGE, SIGNAL = '<messageEventDefinition messageRef="m"/>', '<signalEventDefinition signalRef="g"/>'
PEOPLE = [
    person("agent:ann", "operator", "author", kind="agent"),
    person("robot", "operator", kind="service"),
    person("writer", "operator", "author", verbs=("note.*",)),
]
ROUTES = [("/api/messages", MESSAGE), ("/api/messages/correlate", MESSAGE), ("/api/signals", SIGNAL)]
DATA = {"to": "attic"}
pytestmark = pytest.mark.req("P3", "P5")


def serving(url: str = "sqlite://") -> Any:
    return served(url, VERBS, people=PEOPLE)


async def deployed(server: Server, process: str, trigger: str = MESSAGE, name: str = "go") -> None:
    xml = MODEL.format(xml=XML, process=process, trigger=trigger, name=name)
    ada, body = server.of("ada"), {"xml": xml}
    answer = await ada.ask("POST", "/api/processes", json=body)
    if answer.status_code == 423:  # it may begin with nobody to ask: who deploys it confirms it
        told = answer.json()
        await ada.post("/api/processes", {**body, "confirm": told["plan_hash"], "phrase": told["phrase"]}, 201)


async def instances(server: Server) -> list[str]:
    return sorted(each["process"] for each in (await server.of("ada").get("/api/instances"))["items"])


@pytest.mark.parametrize(("path", "trigger"), ROUTES)
async def test_what_begins_a_grave_process_is_confirmed_as_its_verb_is(store_url: str, path: str, trigger: str) -> None:
    async with serving(store_url) as server:
        await deployed(server, "move", trigger)
        body = {"name": "go", "data": DATA, "message_id": "m-1"}
        for who in ("agent:ann", "robot"):
            asked = await server.of(who).post(path, body, 423)
            assert (asked["code"], asked["sentences"]) == ("confirmation.required", ["Move to attic"])
            assert (await server.of(who).post(path, {**body, "confirm": asked["plan_hash"]}, 423))["hint"]
        hash = (await server.of("olga").post(path, body, 423))["plan_hash"]
        await server.of("olga").post(path, {**body, "data": {"to": "cellar"}, "confirm": hash}, 423)
        assert await instances(server) == []
        assert await server.sandbox.dead_letters() == []
        await server.of("olga").post(path, {**body, "confirm": hash})
        assert await instances(server) == ["move"]


@pytest.mark.parametrize(("path", "trigger"), ROUTES)
async def test_nobody_begins_by_a_message_what_their_key_does_not_reach(path: str, trigger: str) -> None:
    async with serving() as server:
        await deployed(server, "move", trigger)
        await server.of("writer").post(path, {"name": "go", "data": DATA}, 403)
        assert await instances(server) == []
        await deployed(server, "keep", trigger, "keep")
        await server.of("writer").post(path, {"name": "keep"})
        await server.of("robot").post(path, {"name": "keep"})
        assert await instances(server) == ["keep", "keep"]


async def test_several_that_begin_are_confirmed_as_one_plan_of_the_gravest_tier() -> None:
    async with serving() as server:
        for process in ("keep", "move", "empty"):
            await deployed(server, process)
        olga, body = server.of("olga"), {"name": "go", "data": DATA}
        asked = await olga.post("/api/messages", body, 423)
        assert asked["tier"] == "requires_authorisation" and len(asked["sentences"]) == 3
        agreed = {**body, "confirm": asked["plan_hash"]}
        await olga.post("/api/messages", agreed, 423)
        assert await instances(server) == []
        await olga.post("/api/messages", {**agreed, "phrase": asked["phrase"]})
        assert await instances(server) == ["empty", "keep", "move"]


async def test_a_dead_letter_that_would_begin_it_now_is_confirmed_as_well() -> None:
    async with serving() as server:
        olga, body = server.of("olga"), {"name": "go", "data": DATA, "message_id": "m-1"}
        assert (await olga.post("/api/messages", body, 202))["outcome"] == "no_subscription"
        await deployed(server, "move")
        path = "/api/dead-letters/m-1/replay"
        asked = await olga.post(path, {}, 423)
        await server.of("robot").post(path, {"confirm": asked["plan_hash"]}, 423)
        await server.of("robot").post("/api/messages", body, 423)
        assert await instances(server) == []
        await olga.post(path, {"confirm": asked["plan_hash"]})
        assert await instances(server) == ["move"]


async def test_an_agent_begins_nothing_grave_by_a_message_over_mcp() -> None:
    async with serving() as server:
        await deployed(server, "move")

        def sender(kind: Any) -> Callable[..., Awaitable[Any]]:
            name = "agent:ann" if kind == "agent" else "olga"
            desk = ToolSession(server.sandbox, Principal("default", name, kind, frozenset({"operator"})))
            return lambda **more: publish_message(desk, PublishMessage("go", data=DATA, **more))

        with pytest.raises(ConfirmationRequiredError) as refused:
            await sender("agent")()
        hash = refused.value.data["plan_hash"]
        with pytest.raises(ConfirmationRequiredError):
            await sender("agent")(confirm=hash)
        assert await instances(server) == []
        assert (await sender("person")(confirm=hash)).outcome == "started"
        assert await instances(server) == ["move"]


async def test_a_signed_hook_that_names_the_message_begins_it_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", "a secret of sixteen bytes and more")
    async with serving() as server:
        await deployed(server, "move")
        hooks = Hooks((HookIn("bank", Secret(("HOOK_SECRET",)), message="go"),))
        body = json.dumps(DATA).encode()
        headers = sign(b"a secret of sixteen bytes and more", "m-1", server.sandbox.runtime.sources.now(), body)
        assert (await receive(server.sandbox, hooks, "bank", headers, body)).outcome == "started"
        assert await instances(server) == ["move"]
