"""Data that was erased is gone: also from kept answers, dead letters, histories of records and drafts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure.app.audit.store_audit import verify_store
from perdure.testing.sandbox import Sandbox
from perdure.verbs.loader import load_text
from tests.conformance.stores import Raw
from tests.surfaces.http.in_process_server import served

pytestmark = pytest.mark.both_stores

SECRET = "Ana Lund"
VERBS = """
entities:
  client:
    description: A client
    key: client_id
    fields: {client_id: {type: string, required: true}, name: {type: string, required: true}}
---
- name: client.open
  execution: {handler: "crud::execute", params: {entity: client, operation: create}}
  args: [{name: client-id, type: string, required: true}, {name: name, type: string, required: true}]
- name: client.rename
  execution: {handler: "crud::execute", params: {entity: client, operation: update}}
  args: [{name: client-id, type: string, required: true}, {name: name, type: string}]
- name: client.delete
  execution: {handler: "crud::execute", params: {entity: client, operation: delete}}
  args: [{name: client-id, type: string, required: true}]
- name: client.history
  execution: {handler: "crud::execute", params: {entity: client, operation: history}}
  args: [{name: client-id, type: string, required: true}]
- name: client.read
  execution: {handler: "crud::execute", params: {entity: client, operation: read}}
  args: [{name: client-id, type: string, required: true}, {name: version, type: integer}]
- name: client.ask
  description: Wait for an answer
  execution: {kind: durable, correlation: {key: "case-7"}}
"""
TEXTS = {
    "payload": "stored", "entity": "data", "entity_history": "data", "inbox": "body", "answer": "body",
    "index_entry": "value",
}  # fmt: skip


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Sandbox]:
    async with Sandbox.open(url, definitions=load_text(VERBS)) as sandbox:
        yield sandbox


def left_in(url: str, secret: str = SECRET) -> set[str]:
    """The tables in which a text still stands."""
    with Raw(url) as raw:
        found = {
            table: [row[0] for row in raw(f"SELECT {column} FROM {table}")] for table, column in TEXTS.items()
        }  # fmt: skip
    return {table for table, values in found.items() if any(_holds(value, secret) for value in values)}


def _holds(value: Any, secret: str) -> bool:
    return secret in value if isinstance(value, str) else secret.encode() in bytes(value or b"")


async def audited(sandbox: Sandbox) -> tuple[list[str], list[str]]:
    report = await verify_store(sandbox, {}, is_dry=True)
    return [f"{each.code} {each.place}" for each in report.findings], report.warnings


@pytest.mark.req("P8")
async def test_versions_of_a_record_that_an_erased_call_wrote_lose_their_data(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        first = await sandbox.call("client.open", {"client_id": "7", "name": SECRET})
        await sandbox.call("client.rename", {"client_id": "7", "name": "N. N."})
        assert "entity_history" in left_in(store_url)
        await sandbox.erase(first.id, "asked for")
        assert left_in(store_url) == set()
        assert (await audited(sandbox))[0] == []
        versions = (await sandbox.result("client.history", {"client_id": "7"}))["versions"]
        assert [each["record"] and each["record"]["name"] for each in versions] == [None, "N. N."]
        assert versions[0]["call"] == first.id
        gone = await sandbox.call("client.read", {"client_id": "7", "version": 1})
        assert gone.error is not None and "erased" in gone.error.message


@pytest.mark.req("P8")
async def test_the_audit_names_a_record_that_stands_as_an_erased_call_left_it(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        first = await sandbox.call("client.open", {"client_id": "7", "name": SECRET})
        await sandbox.erase(first.id, "asked for")
        findings, warnings = await audited(sandbox)
        assert findings == []
        assert any("left is version 1 of client '7'" in each for each in warnings)
        # Once the record has moved on, what is left is a finding, and erasing again ends it.
        deleted = await sandbox.call("client.delete", {"client_id": "7"})
        assert (await audited(sandbox))[0] == ["AUD013 entity_history"]
        for call in (first, deleted):
            await sandbox.erase(call.id, "asked for")
        assert left_in(store_url) == set()
        assert (await audited(sandbox))[0] == []
        await sandbox.call("client.open", {"client_id": "7", "name": "another"})
        assert (await sandbox.result("client.read", {"client_id": "7"}))["version"] == 3


@pytest.mark.req("P7")
async def test_a_version_without_data_is_damage_where_nothing_was_erased(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        await sandbox.call("client.open", {"client_id": "7", "name": SECRET})
        await sandbox.call("client.rename", {"client_id": "7", "name": "N. N."})
        with Raw(store_url) as raw:
            raw("UPDATE entity_history SET data = ? WHERE version = 1", b"")
        assert (await audited(sandbox))[0] == ["AUD026 entity_history"]
        assert (await sandbox.call("client.history", {"client_id": "7"})).state != "completed"


async def asked(sandbox: Sandbox) -> str:
    """A call that has ended, and two dead letters: one came under its key long before it waited."""
    await sandbox.complete("case-7", {"name": SECRET}, message_id="early")
    await sandbox.complete("another case", {"name": "somebody else"}, message_id="other")
    await sandbox.advance("P2D")
    call = await sandbox.call("client.ask", {})
    await sandbox.cancel(call.id, "no longer needed")
    assert await letters(sandbox) == ["early", "other"]
    return call.id


async def letters(sandbox: Sandbox) -> list[str]:
    return [each["message_id"] for each in await sandbox.dead_letters()]


@pytest.mark.req("P8")
async def test_dead_letters_for_an_erased_call_lose_their_data(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        call = await asked(sandbox)
        await sandbox.erase(call, "asked for")
        assert left_in(store_url) == set()
        assert await letters(sandbox) == ["other"]
        assert (await audited(sandbox))[0] == []


@pytest.mark.req("P8")
async def test_an_erasure_that_was_interrupted_is_named_by_the_audit_and_goes_on(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(store_url) as sandbox:
        call = await asked(sandbox)

        async def interrupted(*_: Any, **__: Any) -> None:
            raise InterruptedError

        with monkeypatch.context() as patch, pytest.raises(InterruptedError):
            patch.setattr(sandbox.runtime.store, "erase_around", interrupted)
            await sandbox.erase(call, "asked for")
        assert (await audited(sandbox))[0] == ["AUD013 inbox"]
        await sandbox.erase(call, "asked for")
        assert (await audited(sandbox))[0] == []
        assert left_in(store_url) == set()


CALLS = {"calls": [{"verb": "desk.wait", "args": {"who": SECRET}, "name": "first"}]}


@pytest.mark.req("P8")
async def test_drafts_and_kept_answers_lose_their_data_and_nothing_is_done_again(store_url: str) -> None:
    async with served(store_url, authentication=()) as found, found.client(**{"Idempotency-Key": "k"}) as client:
        made = await client.post("/api/drafts", json=CALLS)
        assert made.status_code == 201, made.text
        id, perdure = made.json()["id"], found.perdure
        changed = await client.put(f"/api/drafts/{id}", json={"calls": []}, headers={"Idempotency-Key": "e"})
        assert changed.status_code == 200, changed.text
        undo = (f"/api/drafts/{id}/undo", {"Idempotency-Key": "u"})
        assert (await client.post(undo[0], headers=undo[1])).status_code == 200
        assert left_in(store_url) == {"payload", "answer"}
        await perdure.cancel(id, "not wanted")
        await perdure.erase(id, "asked for")
        assert left_in(store_url) == set()
        again = (await client.get(f"/api/drafts/{id}")).json()
        assert (again["id"], again["document"], again["program"]) == (id, None, "")
        assert [each["code"] for each in again["problems"]] == ["draft.erased"]
        for path, key, body in ((undo[0], undo[1], None), ("/api/drafts", {}, CALLS)):
            kept = await client.post(path, headers=key, json=body)
            assert (kept.status_code, kept.json()["code"]) == (410, "idempotency.erased")
        report = await verify_store(perdure, {}, is_dry=True)
        assert [each for each in report.findings if each.code != "AUD054"] == []  # its sealer has a key of its own
