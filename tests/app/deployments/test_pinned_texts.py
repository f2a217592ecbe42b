"""Running work that is pinned to texts of verbs: who serves it once verbs and handlers have changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure.app.deployments.views import DeploymentImpact, LoadedVerb, VerbImpact
from perdure.testing.sandbox import Sandbox
from perdure.verbs import Catalogue, HandlerRegistry, load_text
from tests.app.deployments.shift_world import impact
from tests.engines.embedded.engine_world import Handlers, World
from tests.engines.embedded.process_models import line, service, user

pytestmark = pytest.mark.both_stores(one_in=6)

BEFORE = """
verbs:
- {name: t.one, execution: {kind: sync, handler: "hands::one"}}
- {name: t.long, description: Waits, execution: {kind: durable}}
- {name: t.gone, description: Waits, execution: {kind: durable}}
"""
OTHER_TEXT = BEFORE.replace("Waits", "Waits longer", 1).replace("handler:", "retry: {max_attempts: 2}, handler:")
OTHER_HANDLER = BEFORE.replace("hands::one", "hands::another")
SECOND_VERSION = BEFORE.replace("name: t.long,", "name: t.long, version: 2,")
WITHOUT_ONE = BEFORE[: BEFORE.index("- {name: t.gone")]


@asynccontextmanager
async def before(url: str) -> AsyncIterator[World]:
    async with Sandbox.open(url, definitions=load_text(BEFORE), handlers=handlers("hands::one")) as sandbox:
        yield World(sandbox, Handlers())


async def parked(world: World) -> None:
    """A call of each durable verb, and an instance that stands before the task of the other one."""
    await world.deploy(line("p", user("ask"), service("do", "t.one")), profile="open")
    await world.start("p")
    for verb in ("t.long", "t.gone"):
        await world.sandbox.call(verb)
    await world.sandbox.run_until_idle()


def told(found: DeploymentImpact) -> dict[str, tuple[str, int, int]]:
    return {each.verb: (each.verdict, each.steps, each.instances) for each in found.verbs}


def reason(found: DeploymentImpact, verb: str) -> VerbImpact:
    (impact,) = [each for each in found.verbs if each.verb == verb]
    return impact


def handlers(*names: str) -> dict[str, Any]:
    return {name: lambda call: {} for name in names}


def sent(catalogue: Catalogue, bound: Iterable[str]) -> dict[str, Any]:
    """The verbs and handlers that somebody says there will be, as the command sends them."""
    registry = HandlerRegistry.collect([], catalogue, handlers(*bound))
    verbs = [
        LoadedVerb(each.name, each.version, each.content_hash, registry.serves(each))
        for each in catalogue.every_version()
    ]
    return {"verbs": verbs, "handlers": list(registry.names)}


@pytest.mark.req("O10")
async def test_work_goes_on_under_its_own_text_while_its_handler_is_there(store_url: str) -> None:
    async with before(store_url) as world:
        await parked(world)
        goes_on = {"t.one": ("goes_on", 0, 1), "t.long": ("goes_on", 1, 0), "t.gone": ("goes_on", 1, 0)}
        assert told(await impact(world)) == goes_on
        found = await impact(world, **sent(load_text(OTHER_TEXT), ["hands::one"]))
        assert told(found) == goes_on
        assert "served by it, from the store" in reason(found, "t.long").reason
        assert reason(found, "t.gone").reason == ""
        assert reason(found, "t.long").loaded == load_text(OTHER_TEXT).get("t.long").content_hash
        assert found.verdict == "goes_on"


CHANGES = {
    "the verb is gone": (WITHOUT_ONE, ["hands::one"], "t.gone", "is not loaded any more"),
    "another version in its place": (SECOND_VERSION, ["hands::one"], "t.long", "version 1 of 't.long' is not loaded"),
    "the handler that its text names": (OTHER_HANDLER, ["hands::another"], "t.one", "names, 'hands::one', is missing"),
}


@pytest.mark.req("O10")
@pytest.mark.parametrize(("after", "bound", "verb", "why"), CHANGES.values(), ids=CHANGES)
async def test_what_nobody_would_serve_any_more_stays_pinned_and_really_stops(
    store_url: str, after: str, bound: list[str], verb: str, why: str
) -> None:
    async with before(store_url) as world:
        await parked(world)
        found = await impact(world, **sent(load_text(after), bound))
        pinned = reason(found, verb)
        assert (pinned.verdict, found.verdict) == ("stays_pinned", "stays_pinned")
        assert why in pinned.reason and len(pinned.examples) == 1
        assert [each.verdict for each in found.verbs if each.verb != verb] == ["goes_on"] * 2
    async with Sandbox.open(store_url, definitions=load_text(after), handlers=handlers(*bound)) as sandbox:
        for task in await sandbox.tasks.list():
            await sandbox.tasks.complete(task.key)
        await sandbox.run_until_idle()
        await sandbox.advance("PT10M")
        incidents = (await sandbox.listing.incidents()).items
        assert [each.code for each in incidents] == ["definition.missing"]


@pytest.mark.req("O10")
async def test_what_runs_no_more_pins_nothing(store_url: str) -> None:
    async with before(store_url) as world:
        await parked(world)
        for each in (await world.sandbox.listing.calls()).items:
            await world.sandbox.cancel(each.id, "over")
        (task,) = await world.sandbox.tasks.list()
        await world.sandbox.tasks.complete(task.key)
        await world.sandbox.run_until_idle()
        found = await impact(world, **sent(load_text(WITHOUT_ONE), ["hands::one"]))
        assert (found.verbs, found.processes, found.verdict, found.is_decided) == ([], [], "goes_on", True)
