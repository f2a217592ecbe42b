"""The four crossings of a payload: dispatch, job in, job out, completion. Damage is met at each, named, and seen."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from perdure.engines.embedded.instances.durable_calls import DurableCalls
from perdure.errors import PayloadIntegrityError
from perdure.kernel.kernel import Aggregate
from perdure.sources import Id, parse_id
from perdure.verbs import Call, Result
from tests.conformance.stores import Raw
from tests.engines.embedded.engine_world import ORIGIN, VERBS, Handlers, World, opened
from tests.engines.embedded.process_models import line, message, service, wait

pytestmark = [pytest.mark.both_stores(one_in=4), pytest.mark.req("V8")]

CARRIED = line(
    "carried", service("a", "t.one"), wait("answer", "m"), service("b", "t.two"), messages=(message("m", key="k"),)
)
WITHOUT_THE_VERB = VERBS.replace("t.carried", "t.carried-elsewhere")
Damage = Callable[[Raw, bytes], None]


class Interrupted(Handlers):
    """Handlers that something happens under."""

    meanwhile: Callable[[], None]

    async def plain(self, call: Call) -> Result:
        self.meanwhile()
        return await super().plain(call)


def changed(raw: Raw, id: bytes) -> None:
    for number, stored in raw("SELECT number, stored FROM payload WHERE aggregate = ?", id):
        raw("UPDATE payload SET stored = ? WHERE number = ?", bytes(stored[:-1]) + bytes([stored[-1] ^ 1]), number)


def truncated(raw: Raw, id: bytes) -> None:
    for number, stored in raw("SELECT number, stored FROM payload WHERE aggregate = ?", id):
        raw("UPDATE payload SET stored = ? WHERE number = ?", bytes(stored[:-1]), number)


def coerced(raw: Raw, id: bytes) -> None:
    """The same values in another spelling."""
    for number, stored in raw("SELECT number, stored FROM payload WHERE aggregate = ?", id):
        raw("UPDATE payload SET stored = ? WHERE number = ?", bytes(stored) + b" ", number)


def missing(raw: Raw, id: bytes) -> None:
    raw("DELETE FROM payload WHERE aggregate = ?", id)


WAYS = pytest.mark.parametrize("damage", [changed, truncated, coerced, missing])


def damaged(url: str, id: bytes, damage: Damage) -> None:
    with Raw(url) as raw:
        damage(raw, id)


async def not_yet(*_: object) -> bool:
    """The process ends before the call is dispatched."""
    return False


async def instance_of(world: World, call: str) -> Aggregate:
    (found,) = await world.instances.newest(ORIGIN, business_key=call)
    return found


async def waiting(url: str) -> tuple[str, Id]:
    """A call whose process waits for a message, in a store that nobody has open."""
    async with opened(url) as world:
        await world.deploy(CARRIED)
        call = await world.sandbox.call("t.carried", {"given": 7})
        await world.sandbox.run_until_idle()
        return call.id, (await instance_of(world, call.id)).id


async def assert_seen(world: World, id: Id, letters: str) -> None:
    """The damage is shown in the list, the incidents and the overview, by its code and by what differs."""
    listing = world.sandbox.listing
    found = [each for each in (await listing.incidents()).items if each.state == "quarantined"]
    assert [(each.id, each.code) for each in found] == [(letters, "payload.damaged")]
    assert "differs: expected sha256:" in found[0].text and "actual " in found[0].text
    rows = [*(await listing.instances()).items, *(await listing.calls()).items]
    assert {each.id for each in rows if each.state == "quarantined"} == {letters}
    assert (await world.sandbox.overview()).stuck.quarantined == 1
    aggregate = await world.sandbox.runtime.kernel.read(id, ORIGIN)
    hashes, _ = world.sandbox.runtime.machines[aggregate.kind].payloads(aggregate.state)
    with pytest.raises(PayloadIntegrityError, match="differs: expected sha256:"):
        await world.sandbox.runtime.store.payload(id, hashes[-1])


@WAYS
async def test_a_damaged_payload_is_not_dispatched(
    store_url: str, damage: Damage, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(DurableCalls, "asked", not_yet)
        async with opened(store_url) as world:
            await world.deploy(CARRIED)
            call = await world.sandbox.call("t.carried", {"given": 7})
    damaged(store_url, parse_id(call.id), damage)
    async with opened(store_url) as world:
        await world.sandbox.run_until_idle()
        view = await world.sandbox.status(call.id)
        assert (view.state, view.args) == ("quarantined", None)
        assert view.error is not None and view.error.code == "payload.damaged"
        assert view.waiting_for is not None and view.waiting_for.code == "payload.damaged"
        assert world.handlers.runs["t.one"] == 0
        await assert_seen(world, parse_id(call.id), call.id)


@WAYS
async def test_a_damaged_payload_goes_into_no_job(store_url: str, damage: Damage) -> None:
    call, instance = await waiting(store_url)
    damaged(store_url, instance, damage)
    async with opened(store_url) as world:
        assert await world.sandbox.publish("m", "k") == "correlated"
        await world.sandbox.run_until_idle()
        assert world.handlers.runs["t.two"] == 0
        letters = (await world.sandbox.status(call)).carrier
        assert letters is not None and letters.state == "quarantined"
        view = await world.sandbox.instances.get(letters.instance)
        assert (view.state, view.data) == ("quarantined", None)
        assert [each.code for each in view.incidents] == ["payload.damaged"]
        assert "differs: expected sha256:" in view.incidents[0].text
        await assert_seen(world, instance, letters.instance)


@WAYS
async def test_what_a_job_gives_is_merged_onto_no_damaged_payload(store_url: str, damage: Damage) -> None:
    call, instance = await waiting(store_url)
    handlers = Interrupted()
    async with opened(store_url, handlers) as world:

        def damage_head() -> None:
            """The head is changed, and leaves memory, while the handler runs."""
            damaged(store_url, instance, damage)
            world.instances.payloads.forget(instance)

        handlers.meanwhile = damage_head
        assert await world.sandbox.publish("m", "k") == "correlated"
        await world.sandbox.run_until_idle()
        assert handlers.runs["t.two"] == 1
        carrier = (await world.sandbox.status(call)).carrier
        assert carrier is not None
        view = await world.sandbox.instances.get(carrier.instance)
        assert (view.state, view.data) == ("quarantined", None)
        assert [each.code for each in view.incidents] == ["payload.damaged"]
        await assert_seen(world, instance, carrier.instance)


@WAYS
async def test_no_damaged_payload_completes_a_call(store_url: str, damage: Damage) -> None:
    call, instance = await waiting(store_url)
    async with opened(store_url, verbs=WITHOUT_THE_VERB) as world:
        assert await world.sandbox.publish("m", "k") == "correlated"
        await world.sandbox.run_until_idle()
        ended = await world.instances.read(instance, ORIGIN)
        assert ended.state.status == "completed"
    damaged(store_url, instance, damage)
    async with opened(store_url) as world:
        await world.sandbox.run_until_idle()
        view = await world.sandbox.status(call)
        assert (view.state, view.result) == ("parked", None)
        assert view.waiting_for is not None and view.waiting_for.code == "payload.damaged"
        assert view.carrier is not None and view.carrier.state == "quarantined"
        await assert_seen(world, instance, view.carrier.instance)
