"""SSRF: nothing that arrives makes a worker reach inside, by a webhook's address, a name, a redirect or a callback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure import Perdure
from perdure.app.configuration.server import ServerConfig
from perdure.channels import egress_policy
from perdure.channels.webhook_settings import HookOut, Hooks, Secret
from perdure.surfaces.http.application import make_app
from perdure.verbs.loader import load_text
from tests.channels.receiver import Receiver, answer
from tests.surfaces.http.in_process_server import SECRET as SERVER_SECRET
from tests.surfaces.http.in_process_server import Served

VERBS = """
- name: greet
  description: Greet someone
  input_schema: {properties: {callback: {type: string}}}
  execution: {kind: sync, effects: none}
"""
INSIDE = [
    "http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://2130706433:{port}/", "http://0177.0.0.1:{port}/",
    "http://0x7f.1:{port}/", "http://127.1:{port}/", "http://0:{port}/", "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::1]:{port}/", "http://[64:ff9b::7f00:1]:{port}/", "http://[::7f00:1]:{port}/",
    "http://\u2460\u2461\u2466.0.0.1:{port}/",
]  # fmt: skip
pytestmark = pytest.mark.req("P3")


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", "a secret of sixteen bytes and more")


@asynccontextmanager
async def telling(*urls: str, allowed: tuple[str, ...] = ()) -> AsyncIterator[Perdure]:
    """A worker whose subscribers are those addresses."""
    leaving = [HookOut(f"h{at}", url, Secret(("HOOK_SECRET",)), events=("CallStarted",)) for at, url in enumerate(urls)]
    hooks = Hooks(leaving=tuple(leaving), allowed=allowed)
    handlers: dict[str, Any] = {"greet": lambda call: {}}
    async with Perdure.open("sqlite://", definitions=load_text(VERBS), handlers=handlers, hooks=hooks) as perdure:
        for hook in hooks.leaving:
            while await perdure.runtime.store.cursors.read("default", f"hook:{hook.name}") is None:
                await asyncio.sleep(0)
        yield perdure


async def letters(perdure: Perdure, count: int) -> list[dict[str, Any]]:
    while len(found := await perdure.dead_letters()) < count:
        await asyncio.sleep(0)
    return found


async def test_ssrf_an_address_inside_is_not_reached_however_it_is_written() -> None:
    async with Receiver().listening() as receiver:
        async with telling(*(url.format(port=receiver.port) for url in INSIDE)) as perdure:
            await perdure.call("greet", {})
            found = await letters(perdure, len(INSIDE))
        assert receiver.received == []
        assert {each["reason"].partition(" leads to ")[0] for each in found} == {"it"}


async def test_ssrf_a_redirect_leads_nowhere() -> None:
    async with Receiver().listening() as inner:
        leading = Receiver(answer(307, Location=f"http://127.0.0.1:{inner.port}/"), answer(410))
        async with leading.listening() as outer, telling(outer.url, allowed=("127.0.0.1",)) as perdure:
            await perdure.call("greet", {})
            await outer.arrived.wait()
            (call,) = await perdure.find("perdure.deliver-hook", hook="h0")
            assert call.state != "completed"
        assert inner.received == []


async def test_ssrf_a_name_that_changes_its_mind_leads_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    monkeypatch.setattr(egress_policy, "_system_resolve", resolve)
    async with Receiver().listening() as receiver:
        url, listed = f"http://hooks.example:{receiver.port}/", ("127.0.0.1", "hooks.example")
        async with telling(url, allowed=listed) as perdure:
            await perdure.call("greet", {})
            await receiver.arrived.wait()
            assert asked == ["hooks.example"], "what was checked is what is connected to: nobody asks a second time"
            await perdure.call("greet", {})
            (letter,) = await letters(perdure, 1)
        assert "where machines keep credentials" in letter["reason"]
        assert [each.headers["host"] for each in receiver.received] == [f"hooks.example:{receiver.port}"]


async def test_ssrf_an_address_that_a_caller_names_is_never_called_back() -> None:
    async with Receiver().listening() as receiver, telling() as perdure:
        settings = ServerConfig(authentication=("keys",))
        server = Served(perdure, make_app(perdure, settings, SERVER_SECRET), settings)
        await perdure.runtime.recovered.wait()
        async with server.client(await server.key("operator", "author")) as client:
            told = await client.post("/api/verbs/greet/calls", json={"args": {"callback": receiver.url}})
            assert told.json()["state"] == "completed"
            xml = f"<!DOCTYPE a SYSTEM '{receiver.url}'><a xmlns:xi='x'><xi:include href='{receiver.url}'/></a>"
            assert (await client.post("/api/processes/check", json={"xml": xml})).status_code == 200
            named = await client.get("/api/session/oidc", params={"to": receiver.url})
            assert named.status_code == 404
        assert receiver.received == []
