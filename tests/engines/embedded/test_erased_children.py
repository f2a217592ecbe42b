"""Data that was erased before its news had travelled: the news still arrives."""

from __future__ import annotations

from perdure.bpmn.machine.instance_machine import INSTANCE_ENDED
from perdure.errors import StoreUnavailableError
from perdure.sources import Id
from tests.engines.embedded.engine_world import ORIGIN, opened
from tests.engines.embedded.process_models import call, line, service


async def test_a_called_instance_erased_before_its_end_was_told_is_an_incident_of_its_caller(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("child", service("c", "t.two")))
        await world.deploy(line("parent", call("in", "child"), service("a", "t.one")), profile="open")
        notices = world.engine.notices
        ended = notices._deliveries[INSTANCE_ENDED]

        async def unreachable(tenant: str, message_id: str, id: Id, route: None) -> bool:
            raise StoreUnavailableError("read", "store", "it", "the wire is cut")

        notices._deliveries[INSTANCE_ENDED] = unreachable
        begun = await world.engine.start("parent", ORIGIN)
        await world.sandbox.runtime.conductor.finish_jobs(None)
        (child,) = [each for each in await world.instances.newest(ORIGIN) if each.id != begun.id]
        assert child.state.status == "completed"
        await world.engine.changes.erase(child.id, ORIGIN, "asked for")
        notices._deliveries[INSTANCE_ENDED] = ended
        now = await world.now(begun)
        (stuck,) = [node for node in now.state.nodes.values() if node.incident is not None]
        assert (stuck.element, stuck.incident and stuck.incident.code) == ("in", "call.erased")
        assert await world.sandbox.runtime.store.pending_messages(0, 5) == []
        await world.engine.resolve_incident(begun.id, stuck.number, ORIGIN, reason="known")
        assert (await world.now(begun)).state.status == "completed"
