"""An instance belongs to its tenant: nobody else can see it, change it, or make it hear anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from perdure.engines.embedded.engine import EmbeddedEngine
from perdure.errors import RejectedError
from perdure.journal import Origin
from tests.engine.models import line, message, service, throw, user, wait
from tests.engine.world import ORIGIN, opened

STRANGER = Origin("other", "eve")
Ask = Callable[[EmbeddedEngine, Any, int], Awaitable[Any]]

ASKED: dict[str, Ask] = {
    "read": lambda engine, id, node: engine.read(id, STRANGER),
    "data": lambda engine, id, node: engine.data(id, STRANGER),
    "history": lambda engine, id, node: engine.history(id, STRANGER),
    "cancel": lambda engine, id, node: engine.cancel(id, STRANGER),
    "suspend": lambda engine, id, node: engine.suspend(id, STRANGER),
    "modify": lambda engine, id, node: engine.modify(id, STRANGER, cancel=(node,)),
    "migrate": lambda engine, id, node: engine.migrate(id, STRANGER),
    "complete": lambda engine, id, node: engine.complete_task(id, node, STRANGER, data={"x": 1}),
    "claim": lambda engine, id, node: engine.claim_task(id, node, STRANGER),
    "reassign": lambda engine, id, node: engine.reassign_task(id, node, STRANGER, to="eve"),
    "retry": lambda engine, id, node: engine.retry_incident(id, node, STRANGER),
    "resolve": lambda engine, id, node: engine.resolve_incident(id, node, STRANGER),
}


@pytest.mark.req("X13")
@pytest.mark.parametrize("what", ASKED)
async def test_an_instance_of_another_tenant_is_not_found(what: str, store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", user("review")))
        begun = await world.start("p")
        with pytest.raises(RejectedError) as refused:
            await ASKED[what](world.engine, begun.id, world.node(begun, "review"))
        assert refused.value.rejection.code == "not_found"
        now = await world.now(begun)
        assert (now.version, now.state.status) == (begun.version, "active")


async def test_a_task_of_another_tenant_is_refused_alike_whether_or_not_it_is_in_memory() -> None:
    async with opened() as world:
        await world.deploy(line("p", user("review")))
        begun = await world.start("p")
        key, stranger = f"{world.letters(begun)}:{world.node(begun, 'review')}", world.sandbox.acting(tenant="other")
        refusals = []
        for _ in range(2):
            with pytest.raises(RejectedError) as refused:
                await stranger.tasks.complete(key, {"x": 1})
            refusals.append(refused.value.rejection)
            world.sandbox.runtime.kernel.forget()
        assert refusals[0] == refusals[1]
        assert refusals[0].code == "not_found"


@pytest.mark.req("X13")
async def test_messages_and_signals_stay_within_their_tenant(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", wait("asked", "m"), messages=(message("m", key="k"),)))
        begun = await world.start("p")
        assert await world.engine.publish("m", "k", STRANGER, message_id="1") == "no_subscription"
        assert await world.engine.signal("m", STRANGER) == 0
        assert await world.engine.publish("m", "k", ORIGIN, message_id="1") == "correlated"
        assert (await world.now(begun)).state.status == "completed"
        with pytest.raises(RejectedError):
            await world.engine.start("p", STRANGER)


async def test_a_message_thrown_long_ago_is_found_however_much_happened_since(store_url: str) -> None:
    """What was thrown is looked for among the newest records first, and then in all of them."""
    async with opened(store_url) as world:
        says = (throw("say", "m"), user("review"), service("a", "t.one"))
        await world.deploy(line("p", *says, messages=(message("m", key="k"),)))
        begun = await world.start("p")
        node = world.node(begun, "review")
        for number in range(30):
            who = Origin(ORIGIN.tenant, f"p{number - 1}") if number else ORIGIN
            await world.engine.reassign_task(begun.id, node, who, to=f"p{number}")
        now = await world.now(begun)
        found = await world.engine.notices._find_thrown(now, "message", _thrown(now, await _all(world, now)), ORIGIN)
        assert found.name == "m"


async def _all(world: Any, aggregate: Any) -> list[Any]:
    return [entry for told in await world.engine.history(aggregate.id, ORIGIN) for entry in told.entries]


def _thrown(aggregate: Any, entries: list[Any]) -> int:
    return next(entry.number for entry in entries if type(entry).__name__ == "Thrown")
