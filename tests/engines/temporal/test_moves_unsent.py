"""What is told of a server that is away, or answers late, without one: moves, starts and the check of a deployment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from perdure.app.perdure import Perdure
from perdure.engine import EngineSettings
from perdure.engine.engine_settings import EngineEntry
from perdure.engines.temporal.address import read_address
from perdure.engines.temporal.carrier_worker import CarrierWorker
from perdure.engines.temporal.host_builds import WorkflowBuilds
from perdure.engines.temporal.wire import Begun, Reply
from perdure.errors import EngineSettingError, EngineUnavailableError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.sources import Id, SystemSources, id_text
from perdure.testing.server_process import free_ports
from tests.engines.embedded.process_models import line, user

ORIGIN = Origin("default", "local")
Opened = Callable[..., AbstractAsyncContextManager[Perdure]]


@pytest.fixture
def opened(store_url: str) -> Opened:
    """Opens the store with engines of some names, at ports where nobody listens."""

    @asynccontextmanager
    async def open_store(*names: str, default: str = "embedded") -> AsyncIterator[Perdure]:
        engines = {
            name: EngineEntry(f"temporal://127.0.0.1:{port}/default")
            for name, port in zip(names, free_ports(len(names)), strict=True)
        }
        async with Perdure.open(store_url, engine=EngineSettings(default, engines)) as perdure:
            await perdure.runtime.engine.deploy(line("asks", user("review")), ORIGIN, profile="open")
            yield perdure

    return open_store


@pytest.mark.both_stores
@pytest.mark.req("V13")
async def test_a_moved_instance_begins_though_a_record_came_between(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[tuple[str, Begun]] = []

    async def begin(run: str, with_: Begun) -> None:
        begun.append((run, with_))

    async with opened("scale") as perdure:
        engine: Any = perdure.runtime.engine
        carrier = engine.outside["scale"]
        row = carrier.moves.row

        def looked_at_before(current: Aggregate, command: Any, origin: Origin) -> Any:
            return row(SimpleNamespace(id=current.id, version=current.version - 1), command, origin)

        monkeypatch.setattr(carrier.moves, "row", looked_at_before)
        monkeypatch.setattr(carrier.client, "begin", begin)
        id = (await engine.start("asks", ORIGIN)).id
        await perdure.instances.move(id_text(id), "scale")
        now = await perdure.runtime.instances.read(id, ORIGIN)
        assert now.state.carrier == "scale"
        assert [(run, each.version) for run, each in begun] == [(now.state.carrier_run, now.version)]
        assert not await carrier._rows.is_open("default", carrier._rows.move_name(id, now.state.carrier_run))


@pytest.mark.both_stores
@pytest.mark.req("V13")
async def test_a_start_that_another_engine_began_meanwhile_ends_its_workflow(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[Id] = []

    async with opened("scale", default="scale") as perdure:
        engine: Any = perdure.runtime.engine
        carrier = engine.outside["scale"]

        async def start(id: Id, tenant: str, dispatch: Any, command: Any) -> Reply:
            staged = await carrier._rows.read(tenant, dispatch.id)
            await perdure.runtime.kernel.start("instance", id, ORIGIN, Prepared(command, staged.brought))
            return Reply("decided", 1, "started")

        async def end(id: Id, reason: str) -> None:
            ended.append(id)

        monkeypatch.setattr(carrier.client, "start", start)
        monkeypatch.setattr(carrier.client, "end", end)
        begun = await engine.start("asks", ORIGIN, idempotency_key="k")
        assert ended == [begun.id]
        assert await engine.carriers.of(begun.id) == ""
        assert (await engine.carrier(begun.id)).name == "embedded"


@pytest.mark.both_stores
@pytest.mark.req("O10")
@pytest.mark.parametrize("named", [(), ("another",)])
async def test_a_check_does_not_decide_for_instances_of_an_engine_that_is_not_named(
    opened: Opened, named: tuple[str, ...]
) -> None:
    async with opened("scale") as perdure:
        id = (await perdure.runtime.engine.start("asks", ORIGIN)).id
        await perdure.runtime.engine.start("asks", ORIGIN)
        await perdure.instances.move(id_text(id), "scale")
    async with opened(*named) as perdure:
        found = await perdure.deployments.check()
        assert not found.is_decided
        assert found.bounds == ["1 instances are carried by 'scale', which is not named here"]


class Refusing:
    """A server that is away, then refuses us, then is away again."""

    address = read_address("temporal://127.0.0.1:7233/default")

    def __init__(self) -> None:
        self.asked = 0
        self.was_asked_again = asyncio.Event()

    async def connected(self) -> Any:
        self.asked += 1
        if self.asked == 2:
            raise EngineSettingError("open", "engine", self.address.text, "the server refuses it")
        if self.asked > 2:
            self.was_asked_again.set()
        raise EngineUnavailableError("reach", "engine", self.address.text, "it does not answer")


class Hurried(SystemSources):
    """Pauses pass at once."""

    async def sleep(self, duration: int) -> None:
        await asyncio.sleep(0)


@pytest.mark.req("V35")
async def test_a_server_that_refuses_us_after_the_opening_is_tried_again() -> None:
    client: Any = Refusing()
    worker = CarrierWorker(client, [], Hurried())
    await worker.open()
    try:
        async with asyncio.timeout(20):
            await client.was_asked_again.wait()
    finally:
        await worker.close()


@pytest.mark.req("O10")
async def test_an_instance_whose_workflow_the_server_does_not_know_is_not_decided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def of_none(client: Any, instance: Any) -> None:
        return None

    async def nobody(client: Any, queue: str) -> set[str]:
        return set()

    unasked: Any = None
    builds = WorkflowBuilds("scale", unasked, unasked)
    monkeypatch.setattr(builds, "_build_of", of_none)
    monkeypatch.setattr(builds, "_working", nobody)
    found = await builds._looked(unasked, "queue", [unasked, unasked])
    assert (found.builds, found.unknown) == ((), ("2 instances have no workflow in 'scale'",))
