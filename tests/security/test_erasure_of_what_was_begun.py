"""Erasure follows what was begun: processes, escalations, deliveries to clients, results that others sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure.app.audit.store_audit import verify_store
from perdure.app.documents.request_delivery import RequestDelivery
from perdure.app.documents.requests import DocumentRequest
from perdure.app.lifecycles.resolution_calls import ResolutionCallDesk
from perdure.channels.channel_settings import RowSettings
from perdure.engine import StartRequest
from perdure.engines.embedded.instances.instances import Instances
from perdure.errors import RejectedError
from perdure.journal import Origin
from perdure.lifecycles.ports import Resolution
from perdure.sources import id_text, parse_id
from perdure.testing.sandbox import Sandbox
from tests.app.task_results.doors import insert
from tests.conformance.stores import Raw
from tests.documents.test_solicit import EMAIL, begun, channels, house
from tests.engines.embedded.engine_world import ORIGIN
from tests.engines.embedded.process_models import call, line, user
from tests.security.evidence_store import tables_of
from tests.surfaces.http.sandbox_server import Server, served

pytestmark = [pytest.mark.both_stores, pytest.mark.req("P8")]

SECRET = "Ana Lund"
ESCALATED = """
- name: client.ask
  input_schema: {properties: {who: {type: string}}}
  execution: {kind: durable, policy: {timeout: PT1H, escalation: client.chase}}
- name: client.check
  input_schema: {properties: {who: {type: string}}}
  execution: {kind: durable, process: outer}
- name: client.chase
  input_schema: {properties: {who: {type: string}}}
  execution: {kind: durable}
"""


def left_in(url: str, secret: str) -> set[str]:
    """The tables in which a text still stands, in any column."""
    with Raw(url) as raw:
        return {table for table in tables_of(raw) for row in raw(f"SELECT * FROM {table}") if _holds(row, secret)}


def _holds(row: tuple[Any, ...], secret: str) -> bool:
    texts = [
        each if isinstance(each, str) else bytes(each) for each in row if isinstance(each, str | bytes | memoryview)
    ]
    return any(secret in each if isinstance(each, str) else secret.encode() in each for each in texts)


async def audited(sandbox: Sandbox) -> tuple[set[str], list[str]]:
    report = await verify_store(sandbox, {}, is_dry=True)
    return {f"{each.code} {each.place}" for each in report.findings}, [
        each for each in report.warnings if "erased" in each
    ]


async def test_the_processes_that_carried_an_erased_call_lose_their_data(store_url: str) -> None:
    async with served(store_url, ESCALATED) as server:
        sandbox = server.sandbox
        await sandbox.runtime.engine.deploy(line("inner", user("look")), ORIGIN, profile="open")
        await sandbox.runtime.engine.deploy(line("outer", call("c", "inner")), ORIGIN, profile="open")
        called = await sandbox.call("client.check", {"who": SECRET})
        await sandbox.run_until_idle()
        with pytest.raises(RejectedError, match="it is parked"):
            await sandbox.erase(called.id, "asked for")
        assert len(await sandbox.instances.list()) == 2
        await sandbox.cancel(called.id, "no longer needed")
        await sandbox.run_until_idle()
        await sandbox.erase(called.id, "asked for")
        assert left_in(store_url, SECRET) == set()
        assert await audited(sandbox) == (set(), [])


async def test_a_process_that_runs_on_is_cancelled_and_erased_with_its_call(store_url: str) -> None:
    async with served(store_url, ESCALATED) as server:
        sandbox = server.sandbox
        await sandbox.runtime.engine.deploy(line("outer", user("look")), ORIGIN, profile="open")
        called = await sandbox.call("client.check", {"who": SECRET})
        await sandbox.cancel(called.id, "no longer needed")
        await sandbox.erase(called.id, "asked for")
        await sandbox.run_until_idle()
        assert left_in(store_url, SECRET) == set()
        assert await audited(sandbox) == (set(), [])


async def test_a_process_that_is_just_being_started_loses_its_data_too(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(store_url, ESCALATED) as server:
        sandbox, start, erased = server.sandbox, Instances.start, list[str]()
        await sandbox.runtime.engine.deploy(line("outer", user("look")), ORIGIN, profile="open")

        async def start_late(self: Instances, request: StartRequest, *given: Any, **more: Any) -> Any:
            if not erased:
                erased.append(request.business_key)
                await sandbox.cancel(request.business_key, "no longer needed")
                await sandbox.erase(request.business_key, "asked for")
            return await start(self, request, *given, **more)

        monkeypatch.setattr(Instances, "start", start_late)
        called = await sandbox.call("client.check", {"who": SECRET})
        await sandbox.run_until_idle()
        assert erased == [called.id] and len(await sandbox.instances.list()) == 1
        assert left_in(store_url, SECRET) == set()
        assert await audited(sandbox) == (set(), [])


async def test_the_call_that_an_escalation_began_is_erased_and_named_while_it_is_not(store_url: str) -> None:
    async with served(store_url, ESCALATED) as server:
        sandbox = server.sandbox
        asked = await sandbox.call("client.ask", {"who": SECRET})
        await sandbox.advance("PT2H")
        await sandbox.cancel(asked.id, "no longer needed")
        await sandbox.run_until_idle()
        await sandbox.runtime.upkeep.erase(parse_id(asked.id), sandbox._origin, "by halves")
        (warning,) = (await audited(sandbox))[1]
        assert warning.startswith(f"{asked.id} was erased; left is ") and left_in(store_url, SECRET) == {"payload"}
        await sandbox.erase(asked.id, "asked for")
        assert left_in(store_url, SECRET) == set()
        assert await audited(sandbox) == (set(), [])


@asynccontextmanager
async def asking(url: str, folder: Path) -> AsyncIterator[Server]:
    async with house(url, folder) as server:
        channels(server.sandbox, RowSettings("row"))
        yield server


async def test_deliveries_of_an_erased_request_lose_the_address(store_url: str, tmp_path: Path) -> None:
    async with asking(store_url, tmp_path) as server:
        ada = server.of("ada")
        args = {"subject_entity_id": "anna", "document_type": "passport", "to": EMAIL}
        solicited = await ada.post("/api/verbs/document.solicit/calls", {"args": args}, 201)
        await server.idle()
        assert "channel_outbox" in left_in(store_url, EMAIL)
        await ada.post(f"/api/calls/{solicited['id']}/cancel", {"reason": "moved away"})
        await server.idle()
        await ada.post(f"/api/calls/{solicited['id']}/erase", {"reason": "asked for"})
        assert left_in(store_url, EMAIL) == set()
        assert await audited(server.sandbox) == (set(), [])


async def test_a_call_that_a_lifecycle_is_just_making_loses_its_data_too(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking(store_url, tmp_path) as server:
        ada, begin, erased = server.of("ada"), ResolutionCallDesk.begin, list[str]()

        async def begin_late(self: ResolutionCallDesk, resolution: Resolution, origin: Origin) -> Any:
            if not erased:
                erased.append(resolution.correlation_id.partition(":")[0])
                await ada.post(f"/api/lifecycles/{erased[0]}/cancel", {"reason": "moved away"})
                await ada.post(f"/api/lifecycles/{erased[0]}/erase", {"reason": "asked for"})
            return await begin(self, resolution, origin)

        monkeypatch.setattr(ResolutionCallDesk, "begin", begin_late)
        id = await begun(server)
        await server.idle()
        assert erased == [id]
        assert left_in(store_url, EMAIL) == set()
        assert await audited(server.sandbox) == (set(), [])


async def test_a_delivery_that_is_just_being_begun_is_erased_with_its_call(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking(store_url, tmp_path) as server:
        ada, begin, erased = server.of("ada"), RequestDelivery.begin, list[str]()

        async def begin_late(self: RequestDelivery, request: DocumentRequest, *given: Any) -> None:
            erased.append(id_text(request.holder))
            await ada.post(f"/api/calls/{erased[0]}/cancel", {"reason": "moved away"})
            await ada.post(f"/api/calls/{erased[0]}/erase", {"reason": "asked for"})
            await begin(self, request, *given)

        monkeypatch.setattr(RequestDelivery, "begin", begin_late)
        args = {"subject_entity_id": "anna", "document_type": "passport", "to": EMAIL}
        await ada.post("/api/verbs/document.solicit/calls", {"args": args}, 201)
        await server.idle()
        assert len(erased) == 1
        assert left_in(store_url, EMAIL) == set()
        assert await audited(server.sandbox) == (set(), [])


async def test_an_erased_lifecycle_takes_deliveries_and_results_that_others_sent_along(
    store_url: str, tmp_path: Path
) -> None:
    async with asking(store_url, tmp_path) as server:
        ada, id = server.of("ada"), await begun(server)
        asked = (await ada.get(f"/api/lifecycles/{id}"))["tasks"][0]["correlation_id"]
        insert(store_url, {"correlation_id": asked, "status": "completed", "cargo_ref": f"{SECRET}.pdf"})
        insert(store_url, {"correlation_id": asked, "status": "failed", "error": f"{SECRET} is unknown"})
        await server.sandbox.advance("PT1M")
        assert {"inbox", "task_result_queue"} <= left_in(store_url, SECRET)
        await ada.post(f"/api/lifecycles/{id}/cancel", {"reason": "moved away"})
        await server.idle()
        await ada.post(f"/api/lifecycles/{id}/erase", {"reason": "asked for"})
        insert(store_url, {"correlation_id": asked, "status": "failed", "error": f"{SECRET} again"})
        assert await audited(server.sandbox) == ({"AUD013 task_result_queue"}, [])
        await ada.post(f"/api/lifecycles/{id}/erase", {"reason": "asked for"})
        assert left_in(store_url, EMAIL) == set()
        # Words of failures are part of the journal, which does not change.
        assert left_in(store_url, SECRET) <= {"journal", "aggregate"}
        assert await audited(server.sandbox) == (set(), [])
