"""Forged and replayed webhooks through the server: nothing but what was signed lately counts, and it counts once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from perdure import Perdure
from perdure.app.configuration.server import ServerConfig
from perdure.bpmn.xml import read_model
from perdure.channels.webhook_settings import HookIn, HookOut, Hooks, Secret
from perdure.channels.webhook_signatures import SIGNATURE, sign
from perdure.errors import StoreSettingError
from perdure.sources import SECOND
from perdure.surfaces.http.application import make_app
from perdure.verbs.loader import load_text
from tests.channels.receiver import Receiver
from tests.surfaces.http.in_process_server import SECRET as SERVER_SECRET
from tests.surfaces.http.in_process_server import Served

VERBS = """
- name: papers.ask
  description: Ask for papers
  input_schema: {required: [case], properties: {case: {type: string}}}
  execution: {kind: durable, correlation: {key: "papers-$case"}}
- name: vault.ask
  description: Ask for the vault
  input_schema: {required: [case], properties: {case: {type: string}}}
  execution: {kind: durable, correlation: {key: "vault-$case"}}
- name: papers.burn
  description: Burn papers
  consequence: requires_confirmation
  execution: {kind: durable}
- name: papers.decide
  description: Decide upon papers
  input_schema: {required: [case], properties: {case: {type: string}}}
  execution: {kind: durable, decision: true, correlation: {key: "decide-$case"}}
"""
TASK = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x">
<process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/>
<userTask id="t" name="Look"/><sequenceFlow id="g" sourceRef="t" targetRef="e"/><endEvent id="e"/></process>
</definitions>"""
BANK, REGISTER = "the bank's secret, sixteen bytes and more", "the register's secret, sixteen bytes and more"
HOOKS = Hooks(
    tuple(HookIn(name, Secret((name.upper(),)), verbs=("papers.*",)) for name in ("bank", "register", "lost"))
)
DONE = {"key": "papers-c-1", "result": {"ok": True}}
pytestmark = pytest.mark.req("P3")


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BANK", BANK)
    monkeypatch.setenv("REGISTER", REGISTER)


@asynccontextmanager
async def serving(url: str = "sqlite://", hooks: Hooks = HOOKS) -> AsyncIterator[Served]:
    async with Perdure.open(url, definitions=load_text(VERBS), handlers={}, hooks=hooks) as perdure:
        settings = ServerConfig(authentication=("keys",), max_body_bytes=100_000)
        await perdure.runtime.recovered.wait()
        yield Served(perdure, make_app(perdure, settings, SERVER_SECRET), settings)


def signed(server: Served, body: bytes, id: str = "m-1", secret: str = BANK, late: int = 0) -> dict[str, str]:
    return sign(secret.encode(), id, server.perdure.runtime.sources.now() - late * SECOND, body)


async def sent(server: Served, body: Any, headers: dict[str, str] | None = None, hook: str = "bank") -> httpx.Response:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = signed(server, raw) if headers is None else headers
    async with server.client() as client:
        return await client.post(f"/hooks/{hook}", content=raw, headers=given)


async def test_a_replayed_webhook_counts_once_however_it_is_dressed(store_url: str) -> None:
    async with serving(store_url) as server:
        call = await server.perdure.call("papers.ask", {"case": "c-1"})
        raw = json.dumps(DONE).encode()
        headers = signed(server, raw)
        assert (await sent(server, raw, headers)).json()["outcome"] == "applied"
        records = (await server.perdure.status(call.id)).sequence
        for again in (headers, {**headers, "content-type": "text/plain"}, {**headers, "idempotency-key": "another"}):
            answer = await sent(server, raw, again)
            assert (answer.status_code, answer.json()["outcome"]) == (200, "duplicate")
        assert (await server.perdure.status(call.id)).sequence == records
        assert (await sent(server, raw, headers, "register")).status_code == 401, "one hook's message is not another's"


async def test_forged_webhooks_change_nothing_and_learn_nothing() -> None:
    async with serving() as server:
        call = await server.perdure.call("papers.ask", {"case": "c-1"})
        raw = json.dumps(DONE).encode()
        good = signed(server, raw)
        signature = good[SIGNATURE]
        forged: list[dict[str, str]] = [
            {}, {**good, SIGNATURE: ""}, {**good, SIGNATURE: "v1,"}, {**good, SIGNATURE: signature[:-2]},
            {**good, SIGNATURE: signature.replace("v1,", "v0,")}, {**good, SIGNATURE: signature.upper()},
            {**good, SIGNATURE: f"{'v1,AAAA ' * 10}{signature}"}, {**good, "webhook-id": "m-2"},
            {**good, "webhook-timestamp": str(int(good["webhook-timestamp"]) + 1)},
            {**good, "webhook-timestamp": f"+{good['webhook-timestamp']}"},
            signed(server, raw, secret=REGISTER), signed(server, raw, secret=BANK.upper()),
            signed(server, raw + b" "), signed(server, raw, late=400), signed(server, raw, late=-400),
        ]  # fmt: skip
        for headers in forged:
            answer = await sent(server, raw, headers)
            assert answer.status_code == 401, headers
            assert BANK not in answer.text and signature[3:] not in answer.text
        assert (await server.perdure.status(call.id)).state == "parked"
        assert await server.perdure.dead_letters() == []


async def test_a_hook_that_is_unknown_or_has_lost_its_secret_takes_nothing_and_tells_nothing() -> None:
    async with serving() as server:
        assert (await sent(server, DONE, hook="nobody")).status_code == 404
        lost = await sent(server, DONE, hook="lost")
        assert (lost.status_code, lost.json()["code"]) == (500, "perdure.broken")
        assert "LOST" not in lost.text


async def test_signed_bodies_that_make_no_sense_are_refused() -> None:
    async with serving() as server:
        for body in (
            b"",
            b"null",
            b"[]",
            b"\xff",
            b'{"key": {}}',
            b"[" * 5000,
            b'{"key": "\\u0000"}',
            b'{"key": true}',
        ):
            assert (await sent(server, body)).status_code in (400, 422), body[:20]
        assert (await sent(server, b" " * 100_001)).status_code == 413


async def test_long_ids_that_begin_alike_are_different_messages() -> None:
    async with serving() as server:
        for at in ("1", "2"):
            call = await server.perdure.call("papers.ask", {"case": at})
            raw = json.dumps({"key": f"papers-{at}", "result": {}}).encode()
            answer = await sent(server, raw, signed(server, raw, "x" * 199 + at))
            assert (answer.status_code, answer.json()["outcome"]) == (202, "applied")
            assert (await server.perdure.status(call.id)).state == "completed"


async def test_a_hook_ends_waits_of_its_verbs_alone(store_url: str) -> None:
    async with serving(store_url) as server:
        call = await server.perdure.call("vault.ask", {"case": "c-1"})
        papers = await server.perdure.call("papers.ask", {"case": "c-1"})
        for body in (
            {"key": "vault-c-1", "result": {}}, {"key": "vault-c-1", "verb": "vault.ask", "result": {}},
            {"key": "vault-c-1", "error": "no"}, {"key": call.id, "result": {}}, {"key": f"{call.id}:1", "result": {}},
            {"key": "nobody", "result": {}},
        ):  # fmt: skip
            assert (await sent(server, body)).status_code == 403, body
        raw = json.dumps({"key": "vault-c-1", "verb": "papers.ask", "result": {}}).encode()
        assert (await sent(server, raw, signed(server, raw, "m-9"))).json()["outcome"] == "dead_letter"
        assert (await server.perdure.status(call.id)).state == "parked"
        assert (await sent(server, DONE)).json()["outcome"] == "applied"
        assert (await server.perdure.status(papers.id)).state == "completed"


async def test_a_hook_completes_no_task_of_a_process_without_a_verb_of_its_own() -> None:
    async with serving() as server:
        await server.perdure.processes.deploy(read_model(TASK))
        id = (await server.perdure.instances.start("p", until="rest")).id
        (task,) = await server.perdure.tasks.list()
        for body in ({"key": task.key, "result": {}}, {"key": task.key, "verb": "papers.ask", "result": {}}):
            assert (await sent(server, body)).status_code == 403
        assert (await server.perdure.instances.get(id)).state not in ("completed", "ended")
        assert len(await server.perdure.tasks.list()) == 1


@pytest.mark.parametrize("verbs", [(), ("*",)])
async def test_a_hook_that_might_end_any_wait_does_not_start(verbs: tuple[str, ...]) -> None:
    with pytest.raises(StoreSettingError, match=r"Add message: .* or verbs: "):
        async with serving(hooks=Hooks((HookIn("bank", Secret(("BANK",)), verbs=verbs),))):
            pass


async def test_a_signed_answer_adds_nothing_grave_to_a_plan() -> None:
    async with serving() as server:
        view = await server.perdure.runbooks.start('(papers.decide :case "1")')
        await server.perdure.runbooks.rest(view.id, 10)
        body = {"key": "decide-1", "result": {"add": [{"verb": "papers.burn"}]}}
        assert (await sent(server, body)).status_code == 423
        assert len((await server.perdure.runbooks.show(view.id)).steps) == 1


async def test_nobody_but_the_platform_has_a_subscriber_told_anything() -> None:
    async with Receiver().listening() as receiver:
        out = HookOut("crm", receiver.url, Secret(("BANK",)), events=("Nothing",))
        async with serving(hooks=Hooks(leaving=(out,), allowed=("127.0.0.1",))) as server:
            args = {"hook": "crm", "event": "RunbookCompleted", "body": {"forged": True}}
            key = await server.key("operator", "author", "admin")
            async with server.client(key) as client:
                told = await client.post("/api/verbs/perdure.deliver-hook/calls", json={"args": args, "wait": True})
                assert told.json()["error"]["code"] == "hook.forged"
                calls = [{"verb": "perdure.deliver-hook", "args": args}]
                began = await client.post("/api/runbooks", json={"calls": calls, "wait": True})
                assert began.json()["state"] == "failed"
        assert receiver.received == []
