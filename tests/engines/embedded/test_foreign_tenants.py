"""An instance belongs to its tenant: nobody else can see it, change it, or make it hear anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from perdure.errors import RejectedError
from perdure.journal import Origin
from perdure.sources import id_text
from tests.engines.embedded.engine_world import ORIGIN, World, opened
from tests.engines.embedded.process_models import line, message, service, throw, user, wait

STRANGER = Origin("other", "eve")
Ask = Callable[[World, Any, int], Awaitable[Any]]

ASKED: dict[str, Ask] = {
    "read": lambda world, id, node: world.instances.read(id, STRANGER),
    "data": lambda world, id, node: world.sandbox.acting(tenant="other").instances.get(id_text(id)),
    "history": lambda world, id, node: world.instances.history(id, STRANGER),
    "cancel": lambda world, id, node: world.engine.cancel(id, STRANGER),
    "suspend": lambda world, id, node: world.engine.suspend(id, STRANGER),
    "modify": lambda world, id, node: world.engine.modify(id, STRANGER, cancel=(node,)),
    "migrate": lambda world, id, node: world.engine.migrate(id, STRANGER),
    "complete": lambda world, id, node: world.engine.complete_task(id, node, STRANGER, data={"x": 1}),
    "claim": lambda world, id, node: world.engine.claim_task(id, node, STRANGER),
    "reassign": lambda world, id, node: world.engine.reassign_task(id, node, STRANGER, to="eve"),
    "retry": lambda world, id, node: world.engine.retry_incident(id, node, STRANGER),
    "resolve": lambda world, id, node: world.engine.resolve_incident(id, node, STRANGER),
}


@pytest.mark.req("V31")
@pytest.mark.parametrize("what", ASKED)
async def test_an_instance_of_another_tenant_is_not_found(what: str, store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", user("review")))
        begun = await world.start("p")
        with pytest.raises(RejectedError) as refused:
            await ASKED[what](world, begun.id, world.node(begun, "review"))
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


@pytest.mark.req("V31")
async def test_messages_and_signals_stay_within_their_tenant(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", wait("asked", "m"), messages=(message("m", key="k"),)))
        begun = await world.start("p")
        assert (await world.engine.publish("m", "k", STRANGER, message_id="1")).outcome == "no_subscription"
        assert (await world.engine.signal("m", STRANGER)).reached == 0
        assert (await world.engine.publish("m", "k", ORIGIN, message_id="1")).outcome == "correlated"
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
    return [entry for told in await world.instances.history(aggregate.id, ORIGIN) for entry in told.entries]


def _thrown(aggregate: Any, entries: list[Any]) -> int:
    return next(entry.number for entry in entries if type(entry).__name__ == "Thrown")
