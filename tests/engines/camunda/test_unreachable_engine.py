"""A step whose engine never comes, since nobody listens there: it waits and says why, or fails by its policy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from perdure.app.calls.views import CallView
from perdure.app.perdure import Perdure
from perdure.errors import EngineUnavailableError
from perdure.journal import Origin
from perdure.store.audit import verify
from perdure.testing.server_process import free_ports
from perdure.verbs import load_text
from tests.engines.embedded.process_models import line, service

VERBS = """
verbs:
- {name: t.one, execution: {kind: sync}}
- {name: t.patient, execution: {kind: durable, process: carried, sub_verbs: [t.one]}}
- name: t.hasty
  execution: {kind: durable, process: carried, sub_verbs: [t.one], policy: {unreachable: {timeout: PT0S}}}
"""
ORIGIN = Origin("default", "local")
Opened = Callable[[], AbstractAsyncContextManager[Perdure]]


def never(call: Any) -> None:
    raise AssertionError("no job runs")


@pytest.fixture
def opened(store_url: str) -> Opened:
    """Opens the store with an engine at a port where nobody listens."""
    engine = f"camunda://127.0.0.1:{free_ports(1)[0]}"

    @asynccontextmanager
    async def open_store() -> AsyncIterator[Perdure]:
        opening = Perdure.open(store_url, definitions=load_text(VERBS), handlers={"t.one": never}, engine=engine)
        async with opening as perdure:
            await perdure.runtime.engine.deploy(line("carried", service("only", "t.one")), ORIGIN, profile="open")
            yield perdure

    return open_store


async def tried(perdure: Perdure, call: str) -> CallView:
    """The call once its engine was asked in vain."""
    while (view := await perdure.status(call)).waiting_for is None or view.waiting_for.kind != "engine":
        await perdure.runtime.store_changed()
    return view


@pytest.mark.both_stores
@pytest.mark.req("V35")
async def test_a_step_says_which_engine_it_waits_for_and_since_when(opened: Opened) -> None:
    async with opened() as perdure:
        call = (await perdure.call("t.patient", {})).id
        view = await tried(perdure, call)
        wait, engine = view.waiting_for, perdure.runtime.engine.engines[-1].url
        assert wait is not None and (view.state, wait.code) == ("parked", "engine.unavailable")
        assert wait.text.startswith(f"waits for the engine at {engine}, unreachable since {wait.since}, tried ")
        assert ", next at " in wait.text
        runbook = (await perdure.listing.runbooks(kind="all")).items[0]
        assert runbook.waiting == ["its engine, which cannot be reached (t.patient)"]
    async with opened() as perdure:
        again = (await perdure.status(call)).waiting_for
        assert again is not None and (again.kind, again.since) == ("engine", wait.since), "a restart forgets nothing"


@pytest.mark.both_stores
@pytest.mark.req("V35")
async def test_a_step_fails_by_its_policy_and_is_dispatched_no_more(opened: Opened) -> None:
    async with opened() as perdure:
        call = (await perdure.call("t.hasty", {})).id
        while (view := await perdure.status(call)).state == "parked":
            await perdure.runtime.store_changed()
        assert view.error is not None and (view.state, view.error.code) == ("failed", "engine.unreachable")
        assert "was not reached in 1 attempts since " in view.error.message
        runtime = perdure.runtime
        while await runtime.store.pending_messages(0, 10):
            await runtime.look_after()
        assert await runtime.store.engine_waits.count() == {}
        report = await verify(runtime.store, runtime.machines, {}, dry=True)
        assert [each for each in report.findings if "seal" not in each.place] == []


async def test_a_direct_start_is_told_that_the_engine_is_away(opened: Opened) -> None:
    async with opened() as perdure:
        with pytest.raises(EngineUnavailableError, match="camunda://"):
            await perdure.runtime.engine.start("carried", ORIGIN)
