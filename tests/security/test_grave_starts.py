"""Grave verbs behind harmless names: a start is as grave as the gravest verb it can reach, by whatever road."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from perdure.access.principal import Principal
from perdure.app.webhooks.incoming_webhooks import receive
from perdure.bpmn.machine.process_machine import Deploy
from perdure.channels.webhook_settings import HookIn, Hooks, Secret
from perdure.channels.webhook_signatures import sign
from perdure.errors import ConfirmationRequiredError
from perdure.surfaces.mcp.pending_work_tools import PublishMessage, publish_message
from perdure.surfaces.mcp.runbook_tools import PlanRunbook, RunRunbook, plan_runbook, run_runbook
from perdure.surfaces.mcp.tool import ToolSession
from perdure.surfaces.mcp.verb_tools import CallVerb, DescribeVerb, call_verb, describe_verb
from tests.surfaces.http.sandbox_server import Server, person, served

VERBS = """
- name: vault.empty
  consequence: requires_authorisation
  execution: {kind: sync, effects: none}
- name: note.keep
  consequence: benign
  execution: {kind: sync, effects: none}
- name: note.wrapped
  consequence: benign
  execution: {kind: durable, process: wrapped, sub_verbs: [vault.empty]}
- name: note.open
  consequence: benign
  execution: {kind: durable, process: opened}
- name: note.kept
  consequence: benign
  execution: {kind: durable, process: kept, sub_verbs: [note.keep]}
- name: note.undone
  consequence: benign
  execution: {kind: sync, effects: none, compensate: vault.empty}
- name: note.late
  consequence: benign
  execution: {kind: durable, policy: {timeout: P1D, escalation: vault.empty}}
- name: desk.decide
  consequence: benign
  execution: {kind: durable, decision: true, policy: {timeout: P1D}}
"""
HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" targetNamespace="x"><message id="m" name="go">'
    '<extensionElements><zeebe:subscription correlationKey="k"/></extensionElements></message>'
    '<message id="n" name="other"><extensionElements><zeebe:subscription correlationKey="k"/></extensionElements>'
    '</message><signal id="g" name="go"/><error id="x" name="x" errorCode="X"/>'
)
GRAVE, MILD = "vault.empty", "note.keep"
BY_MESSAGE, BY_SIGNAL = '<messageEventDefinition messageRef="m"/>', '<signalEventDefinition signalRef="g"/>'
DAILY = "<timerEventDefinition><timeCycle>R/P1D</timeCycle></timerEventDefinition>"
CALLS_Q = (
    '<callActivity id="t"><extensionElements><zeebe:calledElement processId="q"/></extensionElements></callActivity>'
)
THROWS = '<intermediateThrowEvent id="t">{}</intermediateThrowEvent>'
SECRET = "a secret of sixteen bytes and more"
NAMED = re.compile(r'(?<!<process )\b(id|sourceRef|targetRef|attachedToRef)="(\w+)"')
PEOPLE = [
    person("agent:ann", "operator", "author", "reviewer", kind="agent"),
    person("robot", "operator", "author", kind="service"),
    person("anne", "author"),
]
pytestmark = pytest.mark.req("V36", "P3")


def serving(url: str = "sqlite://") -> Any:
    return served(url, VERBS, people=PEOPLE)


def task(verb: str = GRAVE, id: str = "t", more: str = "") -> str:
    definition = f'<extensionElements><zeebe:taskDefinition type="{verb}"/></extensionElements>'
    return f'<serviceTask id="{id}" {more}>{definition}</serviceTask>'


def process(id: str, body: str, *, first: str = "t", last: str = "t", start: str = "") -> str:
    """A process of one row: its start, what is between, its end. No two processes of a file share an id."""
    row = (
        f'<process id="{id}" isExecutable="true"><startEvent id="s">{start}</startEvent>{body}<endEvent id="e"/>'
        f'<sequenceFlow id="f" sourceRef="s" targetRef="{first}"/>'
        f'<sequenceFlow id="h" sourceRef="{last}" targetRef="e"/></process>'
    )
    return NAMED.sub(rf'\1="{id}-\2"', row)


def model(*processes: str) -> str:
    return HEAD + "".join(processes) + "</definitions>"


async def deployed(server: Server, xml: str, by: str = "ada", profile: str = "open") -> list[dict[str, Any]]:
    """Deployed by a person, who confirms it where that is asked for."""
    body = {"xml": xml, "profile": profile}
    answer = await server.of(by).ask("POST", "/api/processes", json=body)
    if answer.status_code == 423:
        told = answer.json()
        body |= {"confirm": told["plan_hash"], "phrase": told["phrase"]}
        answer = await server.of(by).ask("POST", "/api/processes", json=body)
    assert answer.status_code == 201, answer.text
    found: list[dict[str, Any]] = answer.json()["deployments"]
    return found


async def emptied(server: Server) -> bool:
    await server.idle()
    return server.handlers.runs[GRAVE] > 0


INNER = (
    '<startEvent id="s2"{0}>{1}</startEvent><endEvent id="e2"/>'
    + task()
    + '<sequenceFlow id="f2" sourceRef="s2" targetRef="t"/><sequenceFlow id="h2" sourceRef="t" targetRef="e2"/>'
)
SHAPES = {
    "a task": [process("p", task())],
    "a subprocess": [process("p", f'<subProcess id="u">{INNER.format("", "")}</subProcess>', first="u", last="u")],
    "an event subprocess": [
        process(
            "p",
            task(MILD, "a")
            + '<subProcess id="u" triggeredByEvent="true">'
            + INNER.format("", '<errorEventDefinition errorRef="x"/>')
            + "</subProcess>",
            first="a",
            last="a",
        )
    ],
    "compensation": [
        process(
            "p",
            task(MILD, "a")
            + '<boundaryEvent id="b" attachedToRef="a"><compensateEventDefinition/></boundaryEvent>'
            + task(more='isForCompensation="true"')
            + '<association id="o" associationDirection="One" sourceRef="b" targetRef="t"/>',
            first="a",
            last="a",
        )
    ],
    "an intake": [
        process(
            "p",
            '<userTask id="t"><extensionElements><zeebe:userTask/><zeebe:properties>'
            f'<zeebe:property name="intake" value="{GRAVE}"/></zeebe:properties></extensionElements></userTask>',
        )
    ],
    "a called process": [
        process("p", CALLS_Q),
        process("q", task()),
    ],
    "a call of a call": [
        process("p", CALLS_Q),
        process("q", CALLS_Q.replace('"q"', '"r"')),
        process("r", task()),
    ],
    "a message that starts another": [
        process("p", THROWS.format('<messageEventDefinition messageRef="m"/>')),
        process("q", task(), start=BY_MESSAGE),
    ],
    "a signal that starts another": [
        process("p", THROWS.format('<signalEventDefinition signalRef="g"/>')),
        process("q", task(), start=BY_SIGNAL),
    ],
}  # fmt: skip


@pytest.mark.both_stores(one_in=6)
@pytest.mark.parametrize("shape", SHAPES)
async def test_a_start_is_as_grave_as_what_it_reaches_by(store_url: str, shape: str) -> None:
    async with serving(store_url) as server:
        told = {each["process"]: each for each in await deployed(server, model(*SHAPES[shape]))}
        assert told["p"]["consequence"] == "requires_authorisation"
        view = await server.of("ada").get("/api/processes/p/versions/1")
        assert view["consequence"] == "requires_authorisation" and GRAVE in view["reaches"]
        body = {"process": "p"}
        for who in ("agent:ann", "robot", "olga"):
            asked = await server.of(who).post("/api/instances", body, 423)
            assert (asked["code"], asked["tier"]) == ("confirmation.required", "requires_authorisation")
        agreed = {**body, "confirm": asked["plan_hash"], "phrase": asked["phrase"]}
        for who in ("agent:ann", "robot"):
            await server.of(who).post("/api/instances", agreed, 423)
        await server.of("olga").post("/api/instances", {**agreed, "phrase": ""}, 423)
        assert not await emptied(server)
        assert (await server.of("ada").get("/api/instances"))["items"] == []
        await server.of("olga").post("/api/instances", agreed, 201)
        again = await server.of("olga").post("/api/instances", agreed, 423)
        assert "has counted already" in again["detail"]
        begun = (await server.of("ada").get("/api/instances"))["items"]
        assert len([each for each in begun if each["process"] == "p"]) == 1


async def test_a_harmless_process_starts_unasked() -> None:
    async with serving() as server:
        told = await deployed(server, model(process("p", task(MILD))), by="agent:ann")
        assert told[0]["consequence"] == "benign"
        await server.of("agent:ann").post("/api/instances", {"process": "p"}, 201)


@pytest.mark.both_stores(one_in=6)
async def test_the_latest_version_of_a_called_process_counts_at_the_start(store_url: str) -> None:
    async with serving(store_url) as server:
        caller, ann = process("p", CALLS_Q), server.of("agent:ann")
        await deployed(server, model(caller, process("q", task(MILD))), by="agent:ann")
        await ann.post("/api/instances", {"process": "p"}, 201)
        await server.idle()
        await ann.post("/api/processes", {"xml": model(process("q", task())), "profile": "open"}, 423)
        await deployed(server, model(process("q", task())))
        await ann.post("/api/instances", {"process": "p"}, 423)
        assert not await emptied(server)


async def test_a_version_deployed_before_consequences_were_kept_is_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perdure.processes.definitions.Deploy", lambda **made: Deploy(**{**made, "consequence": ""}))
    async with serving() as server:
        await deployed(server, model(process("p", task())))
        [listed] = (await server.of("ada").get("/api/processes"))["items"]
        assert listed["consequence"] == "requires_authorisation"
        await server.of("agent:ann").post("/api/instances", {"process": "p"}, 423)


ROUTES = [("/api/messages", BY_MESSAGE), ("/api/messages/correlate", BY_MESSAGE), ("/api/signals", BY_SIGNAL)]


@pytest.mark.both_stores(one_in=6)
@pytest.mark.parametrize(("path", "start"), ROUTES)
async def test_what_starts_by_a_message_is_asked_about_though_no_verb_carries_it(
    store_url: str, path: str, start: str
) -> None:
    async with serving(store_url) as server:
        await deployed(server, model(process("p", task(), start=start)))
        body = {"name": "go", "message_id": "m-1"}
        for who in ("agent:ann", "robot"):
            asked = await server.of(who).post(path, body, 423)
            agreed = {**body, "confirm": asked["plan_hash"], "phrase": asked["phrase"]}
            await server.of(who).post(path, agreed, 423)
        assert asked["sentences"] == ["Start p"]
        assert not await emptied(server)
        await server.of("olga").post(path, agreed)
        assert await emptied(server)


async def test_a_dead_letter_starts_nothing_grave_for_an_agent() -> None:
    async with serving() as server:
        assert (await server.of("agent:ann").post("/api/messages", {"name": "go", "message_id": "m-1"}, 202))["outcome"]
        await deployed(server, model(process("p", task(), start=BY_MESSAGE)))
        await server.of("agent:ann").post("/api/dead-letters/m-1/replay", {}, 423)
        assert not await emptied(server)


def agent(server: Server) -> ToolSession:
    roles = frozenset[Any]({"operator", "author", "reviewer"})
    return ToolSession(server.sandbox, Principal("default", "agent:ann", "agent", roles))


async def test_an_agent_starts_nothing_grave_over_mcp() -> None:
    async with serving() as server:
        desk = agent(server)
        await deployed(server, model(process("p", task(), start=BY_MESSAGE)))
        await deployed(server, model(process("wrapped", task())), profile="hollow")
        with pytest.raises(ConfirmationRequiredError):
            await publish_message(desk, PublishMessage("go"))
        called = await call_verb(desk, CallVerb("note.wrapped"))
        assert called.outcome == "needs_confirmation" and called.confirmation is not None
        assert called.confirmation.tier == "requires_authorisation"
        assert (await run_runbook(desk, RunRunbook("(note.wrapped)"))).outcome == "needs_confirmation"
        planned = await plan_runbook(desk, PlanRunbook("(note.wrapped)"))
        assert (planned.tier, planned.needs_confirmation) == ("requires_authorisation", True)
        assert (await describe_verb(desk, DescribeVerb("note.wrapped"))).needs_confirmation
        assert not await emptied(server)


CALLS = ["note.wrapped", "note.undone", "note.late"]


@pytest.mark.both_stores(one_in=6)
@pytest.mark.parametrize("verb", CALLS)
async def test_a_call_of_a_harmless_verb_that_reaches_a_grave_one_is_confirmed(store_url: str, verb: str) -> None:
    async with serving(store_url) as server:
        await deployed(server, model(process("wrapped", task())), profile="hollow")
        ann, olga = server.of("agent:ann"), server.of("olga")
        asked = await ann.post(f"/api/verbs/{verb}/calls", {}, 423)
        assert asked["tier"] == "requires_authorisation" and asked["draft"]
        await ann.post(f"/api/drafts/{asked['draft']}/start", {}, 423)
        await ann.post("/api/runbooks", {"calls": [{"verb": verb}]}, 423)
        plan = await ann.post("/api/runbooks/plan", {"calls": [{"verb": verb}]})
        assert plan["tier"] == "requires_authorisation" and f"{verb}, which reaches {GRAVE}" in plan["tier_reason"]
        started = (await ann.post("/api/runbooks", {"calls": [{"verb": MILD}], "sealed": False}, 201))["id"]
        await ann.post(f"/api/runbooks/{started}/extend", {"calls": [{"verb": verb}]}, 423)
        assert not await emptied(server)
        agreed = {"confirm": (await olga.post(f"/api/verbs/{verb}/calls", {}, 423))["plan_hash"]}
        await olga.post(f"/api/verbs/{verb}/calls", agreed, 423)
        await olga.post(f"/api/verbs/{verb}/calls", {**agreed, "phrase": "authorise 1 step"}, 201)


async def test_a_call_counts_what_the_deployed_process_of_its_verb_reaches() -> None:
    async with serving() as server:
        ann = server.of("agent:ann")
        await deployed(server, model(process("opened", task(MILD))), by="agent:ann")
        await ann.post("/api/verbs/note.open/calls", {}, 201)
        xml = model(process("opened", CALLS_Q), process("q", task()))
        await ann.post("/api/processes", {"xml": xml, "profile": "open"}, 423)
        await deployed(server, xml)
        asked = await ann.post("/api/verbs/note.open/calls", {}, 423)
        assert asked["tier"] == "requires_authorisation"
        plan = await ann.post("/api/runbooks/plan", {"calls": [{"verb": "note.open"}]})
        assert plan["tier"] == "requires_authorisation"
        assert not await emptied(server)


@pytest.mark.parametrize("verb", CALLS)
async def test_an_agent_adds_nothing_that_reaches_something_grave_by_a_decision(verb: str) -> None:
    async with serving() as server:
        calls = [{"verb": "desk.decide", "name": "d"}]
        id = (await server.of("olga").post("/api/runbooks", {"calls": calls}, 201))["id"]
        await server.idle()
        body = {"key": f"{id}:1", "result": {"add": [{"verb": verb}]}}
        await server.of("agent:ann").post("/api/completions", body, 423)
        assert not await emptied(server)


async def test_a_running_instance_is_not_migrated_to_something_graver_by_an_agent() -> None:
    async with serving() as server:
        wait = '<userTask id="w"><extensionElements><zeebe:userTask/></extensionElements></userTask>'
        to = '<sequenceFlow id="i" sourceRef="w" targetRef="t"/>'
        await deployed(server, model(process("p", wait + task(MILD) + to, first="w")))
        id = (await server.of("agent:ann").post("/api/instances", {"process": "p"}, 201))["id"]
        await deployed(server, model(process("p", wait + task() + to, first="w")))
        path = f"/api/instances/{id}/migrate"
        await server.of("agent:ann").post(path, {"dry_run": True})
        asked = await server.of("agent:ann").post(path, {}, 423)
        agreed = {"confirm": asked["plan_hash"], "phrase": asked["phrase"]}
        await server.of("agent:ann").post(path, agreed, 423)
        await server.of("olga").post(path, agreed)


STARTS = {"timer": DAILY, "message": BY_MESSAGE, "signal": BY_SIGNAL}


@pytest.mark.both_stores(one_in=6)
@pytest.mark.parametrize("start", STARTS)
async def test_what_may_begin_with_nobody_to_ask_is_confirmed_by_a_person_who_deploys_it(
    store_url: str, start: str
) -> None:
    async with serving(store_url) as server:
        body = {"xml": model(process("p", task(), start=STARTS[start])), "profile": "open"}
        for who in ("agent:ann", "robot", "anne"):
            asked = await server.of(who).post("/api/processes", body, 423)
            assert asked["tier"] == "requires_authorisation"
        agreed = {**body, "confirm": asked["plan_hash"], "phrase": asked["phrase"]}
        for who in ("agent:ann", "robot"):
            await server.of(who).post("/api/processes", agreed, 423)
        await server.sandbox.advance("P2D")
        assert (await server.of("ada").get("/api/processes"))["items"] == []
        await server.of("anne").post("/api/processes", agreed, 201)
        await server.sandbox.advance("P2D")
        assert await emptied(server) == (start == "timer")


async def test_what_a_process_that_begins_by_itself_would_call_is_confirmed_as_well() -> None:
    async with serving() as server:
        nightly = process("p", CALLS_Q, start=DAILY)
        await deployed(server, model(nightly, process("q", task(MILD))), by="agent:ann")
        graver = {"xml": model(process("q", task())), "profile": "open"}
        await server.of("anne").post("/api/processes", graver, 423)
        await server.sandbox.advance("P2D")
        assert not await emptied(server)
        assert server.handlers.runs[MILD] > 0


async def test_a_signed_hook_begins_what_a_person_deployed_and_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    hooks = Hooks((HookIn("bank", Secret(("HOOK_SECRET",)), principal="bank", message="go"),))
    async with serving() as server:

        async def sent(id: str) -> str:
            text = json.dumps({}).encode()
            headers = sign(SECRET.encode(), id, server.sandbox.runtime.sources.now(), text)
            return (await receive(server.sandbox, hooks, "bank", headers, text)).outcome

        xml = model(process("p", task(), start=BY_MESSAGE))
        await server.of("agent:ann").post("/api/processes", {"xml": xml, "profile": "open"}, 423)
        assert await sent("m-1") == "no_subscription"
        assert not await emptied(server)
        await deployed(server, xml)
        assert await sent("m-2") == "started"
        assert await emptied(server)


@pytest.mark.parametrize("who", ["ada", "anne", "agent:ann"])
async def test_a_hollow_process_calls_only_what_its_verb_lists_whoever_deploys_it(who: str) -> None:
    async with serving() as server:
        alone = model(process("p", task()))
        refused = await server.of(who).post("/api/processes", {"xml": alone}, 422)
        assert refused["problems"][0]["code"] == "process.unlisted"
        carried = model(process("kept", task()))
        refused = await server.of(who).post("/api/processes", {"xml": carried}, 422)
        assert refused["problems"][0]["code"] == "HOL004"
        assert (await server.of("ada").get("/api/processes"))["items"] == []


async def test_a_hollow_process_that_got_in_unlisted_stops_at_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as server:
        monkeypatch.setattr(server.sandbox.runtime.definitions, "_checks", ())
        await deployed(server, model(process("opened", task())), profile="hollow")
        asked = await server.of("olga").post("/api/verbs/note.open/calls", {}, 423)
        agreed = {"confirm": asked["plan_hash"], "phrase": asked["phrase"]}
        await server.of("olga").post("/api/verbs/note.open/calls", agreed, 201)
        assert not await emptied(server)
        [incident] = (await server.of("ada").get("/api/incidents"))["items"]
        assert "is not a sub-verb of 'note.open'" in incident["text"]


async def test_another_tenant_s_processes_make_nothing_graver() -> None:
    async with serving() as server:
        eve, ann = server.of("eve"), server.of("agent:ann")
        told = await deployed(server, model(process("q", task(), start=BY_MESSAGE)), by="eve")
        assert told[0]["consequence"] == "requires_authorisation"
        await deployed(server, model(process("p", THROWS.format(BY_MESSAGE))), by="agent:ann")
        await ann.post("/api/instances", {"process": "p"}, 201)
        assert not await emptied(server)
        assert (await eve.get("/api/instances"))["items"] == []


RETRIED = "/api/instances/{}/retry"
WAITS = (
    '<intermediateCatchEvent id="w"><messageEventDefinition messageRef="n"/></intermediateCatchEvent>'
    '<sequenceFlow id="g" sourceRef="w" targetRef="t"/>'
)


async def became_graver(server: Server, body: str = CALLS_Q, start: str = "") -> str:
    """An instance that an agent began, and that goes on after a person has made what it leads to graver."""
    ann = server.of("agent:ann")
    harmless = model(process("p", WAITS + body, first="w"), process("q", task(MILD), start=start))
    await deployed(server, harmless, by="agent:ann")
    begun = await ann.post("/api/instances", {"process": "p", "flags": {"orch_k": "7"}}, 201)
    await server.idle()
    await deployed(server, model(process("q", task(), start=start)))
    sent = await ann.ask("POST", "/api/messages", json={"name": "other", "key": "k"})
    assert sent.status_code in (200, 202), sent.text
    await server.idle()
    return str(begun["id"])


@pytest.mark.both_stores
async def test_a_called_process_that_became_graver_waits_for_a_person_who_confirms_it(store_url: str) -> None:
    async with serving(store_url) as server:
        id = await became_graver(server)
        ada, ann = server.of("ada"), server.of("agent:ann")
        stuck = await ada.get(f"/api/instances/{id}")
        assert [each["code"] for each in stuck["incidents"]] == ["call.graver"]
        assert GRAVE in stuck["incidents"][0]["text"]
        assert not await emptied(server)
        await ann.post(RETRIED.format(id), {}, 423)
        told = await ada.post(RETRIED.format(id), {}, 423)
        assert told["tier"] == "requires_authorisation"
        agreed = {"confirm": told["plan_hash"], "phrase": told["phrase"]}
        await ada.post(RETRIED.format(id), {**agreed, "phrase": ""}, 423)
        assert not await emptied(server)
        await ada.post(RETRIED.format(id), agreed, 200)
        assert await emptied(server)
        ended = await ada.get(f"/api/instances/{id}")
        assert ended["state"] == "completed"


@pytest.mark.parametrize("road", ["incident", "call"])
async def test_no_other_retry_calls_what_became_graver(road: str) -> None:
    async with serving() as server:
        id = await became_graver(server)
        path, body = ("/api/incidents/retry", {"ids": [id]}) if road == "incident" else (f"/api/calls/{id}/retry", {})
        for who in ("agent:ann", "ada"):
            await server.of(who).ask("POST", path, json=body)
            assert not await emptied(server)


@pytest.mark.parametrize("road", ["/api/instances/{}/resolve", "/api/calls/{}/resolve"])
async def test_a_call_that_became_graver_is_ended_by_hand_by_a_person_who_confirms_it(road: str) -> None:
    async with serving() as server:
        id = await became_graver(server)
        ada, ann = server.of("ada"), server.of("agent:ann")
        path, body = road.format(id), {"reason": "done by telephone"}
        await ann.post(path, body, 423)
        told = await ada.post(path, body, 423)
        agreed = {"confirm": told["plan_hash"], "phrase": told["phrase"]}
        await ada.post(path, {**body, **agreed, "phrase": ""}, 423)
        assert (await ada.get(f"/api/instances/{id}"))["state"] == "active"
        await ada.post(RETRIED.format(id), agreed, 423)
        await ada.post(path, {**body, **agreed}, 200)
        await server.idle()
        assert (await ada.get(f"/api/instances/{id}"))["state"] == "completed"
        assert not await emptied(server)


async def test_an_instance_whose_start_was_confirmed_calls_what_it_was_confirmed_for() -> None:
    async with serving() as server:
        await deployed(server, model(process("p", CALLS_Q), process("q", task())))
        told = await server.of("ada").post("/api/instances", {"process": "p"}, 423)
        agreed = {"confirm": told["plan_hash"], "phrase": told["phrase"]}
        await server.of("ada").post("/api/instances", {"process": "p", **agreed}, 201)
        assert await emptied(server)


@pytest.mark.both_stores
@pytest.mark.parametrize(("throws", "start"), [(BY_MESSAGE, BY_MESSAGE), (BY_SIGNAL, BY_SIGNAL)])
async def test_a_process_that_became_graver_does_not_begin_by_what_an_instance_throws(
    store_url: str, throws: str, start: str
) -> None:
    async with serving(store_url) as server:
        await became_graver(server, THROWS.format(throws), start)
        assert not await emptied(server)
        (letter,) = (await server.of("ada").get("/api/dead-letters"))["items"]
        assert GRAVE in letter["reason"]
        if throws == BY_MESSAGE:
            path = "/api/dead-letters/replay"
            await server.of("agent:ann").post(path, {"message_id": letter["message_id"]}, 423)
            told = await server.of("ada").post(path, {"message_id": letter["message_id"]}, 423)
            agreed = {"confirm": told["plan_hash"], "phrase": told["phrase"]}
            await server.of("ada").post(path, {"message_id": letter["message_id"], **agreed}, 200)
            assert await emptied(server)


@pytest.mark.both_stores
@pytest.mark.parametrize(
    ("path", "body", "start"),
    [
        ("/api/messages", {"name": "go", "key": "k"}, BY_MESSAGE),
        ("/api/messages/correlate", {"name": "go", "key": "k"}, BY_MESSAGE),
        ("/api/signals", {"name": "go"}, BY_SIGNAL),
    ],
    ids=["publish", "correlate", "signal"],
)
async def test_the_confirmation_of_a_message_counts_once(
    store_url: str, path: str, body: dict[str, Any], start: str
) -> None:
    async with serving(store_url) as server:
        await deployed(server, model(process("p", task(), start=start)))
        ada = server.of("ada")
        told = await ada.post(path, body, 423)
        agreed = {**body, "confirm": told["plan_hash"], "phrase": told["phrase"]}
        await ada.post(path, {**agreed, "message_id": "m-1"}, 200)
        await ada.post(path, {**agreed, "message_id": "m-1"}, 200)
        refused = await ada.post(path, {**agreed, "message_id": "m-2"}, 423)
        assert "has counted already" in refused["detail"]
        await server.idle()
        assert server.handlers.runs[GRAVE] == 1
        await ada.post(path, {**agreed, "message_id": "m-2", "confirm": refused["plan_hash"]}, 200)
        await server.idle()
        assert server.handlers.runs[GRAVE] == 2


async def test_the_confirmation_of_a_migration_counts_once() -> None:
    async with serving() as server:
        ada = server.of("ada")
        await deployed(server, model(process("p", WAITS + task(MILD), first="w")))
        id = (await ada.post("/api/instances", {"process": "p"}, 201))["id"]
        await deployed(server, model(process("p", WAITS + task(), first="w")))
        path = f"/api/instances/{id}/migrate"
        told = await ada.post(path, {}, 423)
        agreed = {"confirm": told["plan_hash"], "phrase": told["phrase"]}
        await ada.post(path, agreed, 200)
        await ada.post(f"{path}-back", {}, 200)
        refused = await ada.post(path, agreed, 423)
        assert "has counted already" in refused["detail"]


async def test_a_deployment_that_was_confirmed_is_not_asked_about_again() -> None:
    async with serving() as server:
        xml = {"xml": model(process("p", task(), start=DAILY)), "profile": "open"}
        told = await server.of("ada").post("/api/processes", xml, 423)
        agreed = {**xml, "confirm": told["plan_hash"], "phrase": told["phrase"]}
        first, second = [await server.of("ada").post("/api/processes", agreed, 201) for _ in range(2)]
        assert [each["version"] for each in first["deployments"]] == [each["version"] for each in second["deployments"]]
