"""What arrives signed is taken in once, on behalf of its hook's tenant; anything else changes nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure import Perdure
from perdure.app.webhooks.incoming_webhooks import UnsignedError, receive
from perdure.channels.webhook_settings import HookIn, Hooks, Secret
from perdure.channels.webhook_signatures import sign
from perdure.errors import RejectedError
from perdure.sources import SECOND
from perdure.verbs.loader import load_text

SECRET = "a secret of sixteen bytes and more"
VERBS = """
- name: papers.ask
  description: Ask for papers
  input_schema: {required: [case], properties: {case: {type: string}}}
  output_schema: {properties: {ok: {type: boolean}}}
  execution: {kind: durable, correlation: {key: "papers-$case"}}
"""
BANK = HookIn("bank", Secret(("HOOK_SECRET",)), principal="hook:bank", verbs=("papers.ask",))
UPLOADS = HookIn(
    "uploads", Secret(("HOOK_SECRET",)), "acme", "hook:uploads", message="uploaded", key="case.id", ttl_seconds=60
)
HOOKS = Hooks((BANK, UPLOADS))

pytestmark = pytest.mark.req("P3")


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", SECRET)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Perdure]:
    async with Perdure.open(url, definitions=load_text(VERBS), handlers={"papers.ask": lambda call: None}) as perdure:
        yield perdure


async def post(perdure: Perdure, hook: str, body: Any, id: str = "m-1", *, late: int = 0, key: str = SECRET) -> str:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = sign(key.encode(), id, perdure.runtime.sources.now() - late * SECOND, raw)
    return (await receive(perdure, HOOKS, hook, headers, raw)).outcome


async def test_a_signed_completion_ends_the_wait_once_however_often_it_comes(store_url: str) -> None:
    async with opened(store_url) as perdure:
        call = await perdure.call("papers.ask", {"case": "c-1"})
        body = {"key": "papers-c-1", "result": {"ok": True}}
        assert await post(perdure, "bank", body) == "applied"
        assert await post(perdure, "bank", body) == "duplicate"
        ended = await perdure.status(call.id)
        assert (ended.state, ended.result) == ("completed", {"ok": True})
        assert [event.principal async for event in perdure.events(call.id)][-1] == "hook:bank"


async def test_forged_stale_and_changed_messages_change_nothing(store_url: str) -> None:
    async with opened(store_url) as perdure:
        call = await perdure.call("papers.ask", {"case": "c-1"})
        body = {"key": "papers-c-1", "result": {"ok": True}}
        for bad in ({"key": "another secret, sixteen and more"}, {"late": 301}, {"late": -301}):
            with pytest.raises(UnsignedError) as refused:
                await post(perdure, "bank", body, **bad)  # type: ignore[arg-type]
            assert SECRET not in str(refused.value)
        headers = sign(SECRET.encode(), "m-1", perdure.runtime.sources.now(), json.dumps(body).encode())
        with pytest.raises(UnsignedError):
            await receive(perdure, HOOKS, "bank", headers, json.dumps({**body, "result": {"ok": False}}).encode())
        with pytest.raises(RejectedError):
            await receive(perdure, HOOKS, "nobody", headers, json.dumps(body).encode())
        assert (await perdure.status(call.id)).state == "parked"


async def test_a_hook_reaches_its_own_tenant_only(store_url: str) -> None:
    async with opened(store_url) as perdure:
        other = await perdure.acting(tenant="acme").call("papers.ask", {"case": "c-1"})
        body = {"key": "papers-c-1", "result": {"ok": True}}
        assert await post(perdure, "bank", body) == "dead_letter"
        assert (await perdure.acting(tenant="acme").status(other.id)).state == "parked"


async def test_a_message_is_kept_under_the_key_its_path_leads_to(store_url: str) -> None:
    async with opened(store_url) as perdure:
        body = {"case": {"id": 17}, "file": "passport.pdf"}
        assert await post(perdure, "uploads", body) == "buffered"
        assert await post(perdure, "uploads", body) == "duplicate"


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'"text"', b"\xff\xfe", b'{"case":{}}', b'{"case":{"id":true}}', b'{"case":[1]}', b"[" * 5000]
)
async def test_a_body_without_a_key_is_refused(body: bytes, sqlite_url: str) -> None:
    async with opened(sqlite_url) as perdure:
        with pytest.raises(RejectedError):
            await post(perdure, "uploads", body)


@pytest.mark.req("X21")
async def test_what_arrives_is_counted_by_what_became_of_it(sqlite_url: str) -> None:
    async with opened(sqlite_url) as perdure:
        perdure.runtime.measure()
        await perdure.call("papers.ask", {"case": "c-1"})
        body = {"key": "papers-c-1", "result": {"ok": True}}
        await post(perdure, "bank", body)
        await post(perdure, "bank", body)
        await post(perdure, "bank", {"key": "nobody", "result": {}}, "m-2")
        with pytest.raises(UnsignedError):
            await post(perdure, "bank", body, key="another secret, sixteen and more")
        found = (await perdure.runtime.scrape()).decode()
        for outcome in ("delivered", "retried", "failed", "refused"):
            assert f'perdure_webhook_deliveries_total{{direction="in",outcome="{outcome}"}} 1.0' in found
