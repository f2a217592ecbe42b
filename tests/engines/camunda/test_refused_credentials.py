"""An engine that refuses our credentials while we work: its own steps wait and say why, nobody else's do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from perdure.app.calls.views import CallView
from perdure.app.perdure import Perdure
from perdure.engine import EngineSettings
from perdure.engine.engine_settings import EngineEntry
from perdure.engines.embedded.recovery import InstanceRecovery
from perdure.errors import EngineSettingError
from perdure.journal import Origin
from perdure.kernel.ports import PENDING, Attachments, InboxRow, Unit
from perdure.testing import Sandbox
from perdure.testing.server_process import free_ports
from perdure.verbs import load_text
from perdure.work.ports import JobFound
from tests.engines.camunda.test_busy_gateway import Gateway
from tests.engines.embedded.process_models import line, service

VERBS = """
verbs:
- {name: t.one, execution: {kind: sync}}
- {name: t.near, execution: {kind: durable, process: near, sub_verbs: [t.one]}}
- {name: t.far, execution: {kind: durable, process: carried, sub_verbs: [t.one]}}
- name: t.hasty
  execution: {kind: durable, process: carried, sub_verbs: [t.one], policy: {unreachable: {timeout: PT0S}}}
"""
ORIGIN = Origin("default", "local")
Opened = Callable[[int], AbstractAsyncContextManager[Perdure]]


class Refusing(Gateway):
    """It refuses us as long as it is told to."""

    def __init__(self, *, is_refusing: bool) -> None:
        super().__init__()
        self.busy, self.is_refusing = 0, is_refusing

    def answer(self, place: str) -> tuple[int, dict[str, Any]]:
        if self.is_refusing:
            return 401, {"title": "UNAUTHORIZED", "status": 401, "detail": "the token was withdrawn"}
        return super().answer(place)


@asynccontextmanager
async def served(gateway: Refusing, port: int) -> AsyncIterator[None]:
    server = await asyncio.start_server(gateway.serve, "127.0.0.1", port)
    try:
        yield
    finally:
        server.close()
        for each in gateway.serving:
            each.cancel()
        await asyncio.gather(*gateway.serving, return_exceptions=True)


@pytest.fixture
def opened(store_url: str) -> Opened:
    """Opens the store with a cluster at a port; `carried` begins there, everything else here."""

    @asynccontextmanager
    async def open_store(port: int) -> AsyncIterator[Perdure]:
        engines = {"partners": EngineEntry(f"camunda://127.0.0.1:{port}?poll=1")}
        settings = EngineSettings(engines=engines, processes={"carried": "partners"})
        handlers = {"t.one": lambda call: {}}
        async with Perdure.open(store_url, definitions=load_text(VERBS), handlers=handlers, engine=settings) as perdure:
            for each in (line("near", service("only", "t.one")), line("carried", service("only", "t.one"))):
                await perdure.runtime.engine.deploy(each, ORIGIN, profile="open")
            yield perdure

    return open_store


async def seen(perdure: Perdure, call: str) -> CallView:
    """The call once it has ended, or its engine was asked in vain."""
    while (view := await perdure.status(call)).state == "parked":
        if view.waiting_for is not None and view.waiting_for.kind == "engine":
            break
        await perdure.runtime.store_changed()
    return view


@pytest.mark.both_stores
@pytest.mark.req("V35")
async def test_an_engine_that_refuses_us_parks_its_own_steps_and_no_others(opened: Opened) -> None:
    gateway, (port,) = Refusing(is_refusing=False), free_ports(1)
    async with asyncio.timeout(60), served(gateway, port), opened(port) as perdure:
        gateway.is_refusing = True
        far = await seen(perdure, (await perdure.call("t.far", {})).id)
        near = await seen(perdure, (await perdure.call("t.near", {})).id)
        hasty = await seen(perdure, (await perdure.call("t.hasty", {})).id)
        assert (near.state, near.carrier and near.carrier.engine) == ("completed", "embedded")
        assert far.waiting_for is not None and (far.state, far.waiting_for.kind) == ("parked", "engine")
        assert "the token was withdrawn" in far.waiting_for.text
        assert hasty.error is not None and (hasty.state, hasty.error.code) == ("failed", "engine.unreachable")
        gateway.is_refusing = False
        await gateway.until(lambda: "/process-instances 200" in gateway.asked)


@pytest.mark.req("V35")
async def test_a_cluster_that_comes_back_and_refuses_us_is_tried_again(opened: Opened) -> None:
    gateway, (port,) = Refusing(is_refusing=True), free_ports(1)
    async with asyncio.timeout(60), opened(port), served(gateway, port):
        await gateway.until(lambda: "/topology 401" in gateway.asked)
        gateway.is_refusing = False
        await gateway.until(lambda: "/topology 200" in gateway.asked)


@pytest.mark.both_stores
async def test_a_notice_that_cannot_be_acted_on_holds_no_other_up(store_url: str) -> None:
    asked: list[str] = []

    async def act(tenant: str, message_id: str, kind: str, aggregate: bytes) -> bool:
        asked.append(message_id)
        if message_id == "first":
            raise EngineSettingError("ask", "engine", "camunda://partners", "it refuses us")
        return True

    async with Sandbox.open(store_url) as sandbox:
        runtime = sandbox.runtime
        runtime.upkeep.receive(["probe"], act)
        for at, name in enumerate(("first", "second"), 1):
            row = InboxRow("default", name, "probe", "", at, PENDING, "", runtime.sources.new_id(), b"")
            await runtime.store.commit(Unit("default", None, attachments=[Attachments(inbox=row)], at=at))
        assert await runtime.upkeep.deliver() == 1
        assert asked == ["first", "second"]


async def test_a_job_whose_engine_refuses_us_holds_no_other_up(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(self: InstanceRecovery, job: JobFound) -> bool:
        raise EngineSettingError("ask", "engine", "camunda://partners", "it refuses us")

    async with opened(free_ports(1)[0]) as perdure:
        runtime = perdure.runtime
        instance = await runtime.engine.start("near", ORIGIN, until="end")
        monkeypatch.setattr(InstanceRecovery, "lease", refused)
        duties = runtime.upkeep._others[instance.kind]
        assert await duties.lease(JobFound(instance.id, 1, "default", 7, 0)) is False
