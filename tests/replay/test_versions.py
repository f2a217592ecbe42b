"""Old forms are lifted one version at a time; forms from the future and damaged ones are refused by name."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from perdure.errors import UnreadableFormError
from perdure.journal import Origin, Record, RecordCodec, Upcaster, lift, read_form
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import STATE_VERSION
from perdure.sources import SECOND, parse_id
from perdure.store.checksums import checksum
from perdure.testing.sandbox import Sandbox
from tests.conformance.stores import Raw
from tests.replay.histories import HISTORIES, play
from tests.runbooks.sample_verbs import Handlers, catalogue

MACHINE = RunbookMachine()


class Painted(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """An entry of a made-up machine; version 0 wrote the colour first, version 1 has no layers."""

    step: int
    colour: str
    layers: int


def from_zero(form: list[Any]) -> list[Any]:
    *head, entries = form[1:]
    return [1, *head, [[tag, step, colour] for tag, colour, step in entries]]


def from_one(form: list[Any]) -> list[Any]:
    *head, entries = form[1:]
    return [2, *head, [[*entry, 1] for entry in entries]]


UPCASTERS = (Upcaster(0, from_zero), Upcaster(1, from_one))
CODEC: RecordCodec[Painted] = RecordCodec(Painted, 2, UPCASTERS)
OLD = msgspec.msgpack.encode([0, 5, "Paint", "ada", "", [[1, "red", 3], [1, "blue", 4]]])


@pytest.mark.req("P8")
def test_a_record_of_an_old_version_is_read_as_the_newest_one() -> None:
    lifted = Record(2, 5, "Paint", "ada", "", (Painted(3, "red", 1), Painted(4, "blue", 1)))
    assert CODEC.decode(OLD) == lifted
    assert CODEC.decode(CODEC.encode(5, "Paint", Origin(principal="ada"), lifted.entries)) == lifted


@pytest.mark.req("P8")
def test_a_state_of_an_old_version_is_lifted_step_by_step() -> None:
    class Wall(msgspec.Struct, frozen=True, array_like=True):
        version: int
        colour: str
        layers: int

    steps = (Upcaster(0, lambda form: [1, form[1].lower()]), Upcaster(1, lambda form: [2, form[1], 7]))
    decoder = msgspec.msgpack.Decoder(Wall)
    for stored in ([0, "RED"], [1, "red"], [2, "red", 7]):
        assert read_form(msgspec.msgpack.encode(stored), decoder, 2, steps) == Wall(2, "red", 7)
    assert lift([0, "RED"], 2, steps) == [2, "red", 7]


@pytest.mark.req("P8")
@pytest.mark.parametrize("upcasters", [(), UPCASTERS], ids=["without upcasters", "with upcasters"])
def test_a_form_from_the_future_is_refused_and_says_what_to_do(upcasters: tuple[Upcaster, ...]) -> None:
    codec: RecordCodec[Painted] = RecordCodec(Painted, 2, upcasters)
    later = msgspec.msgpack.encode([3, 5, "Paint", "ada", "", [[1, 3, "red", 1]], "something new"])
    with pytest.raises(UnreadableFormError, match=r"version '3', but this release knows versions up to 2\. Upgrade"):
        codec.decode(later)


@pytest.mark.req("P8")
def test_a_form_whose_upcaster_stumbles_is_refused_by_name() -> None:
    with pytest.raises(UnreadableFormError, match="version '0', but lifting it gave"):
        CODEC.decode(msgspec.msgpack.encode([0, 5, "Paint", "ada", "", [["too short"]]]))


WHOLE = [bytes.fromhex(text) for name in HISTORIES for moment in play(HISTORIES[name]) for text in moment[:2]]


def reads_or_tells(data: bytes) -> None:
    for decode, encode in ((MACHINE.decode, MACHINE.encode), (MACHINE.records.decode, msgspec.msgpack.encode)):
        try:
            value: Any = decode(data)
        except UnreadableFormError as error:
            assert error.fact
        else:
            assert decode(encode(value)) == value


@pytest.mark.req("P7")
@settings(deadline=None, max_examples=400)
@given(st.binary(max_size=80))
@example(b"")
@example(b"\xc0")
@example(b"\x90")
@example(b"\x91\xc3")
@example(b"\xdd\xff\xff\xff\xff")
@example(b"\xdf\xff\xff\xff\xff")
@example(b"\xc6\xff\xff\xff\xff")
@example(b"\x91" * 100_000)
@example(b"\x9f\x01\xa9executing\x00\xa0\xa0\x90\x00\xa0\x90\x00\xa0" + b"\x91" * 100_000)
@example(b"\x81\x91\x01\x01")
@example(b"\x92\x02\xa2\xff\xff")
def test_any_bytes_are_a_form_or_are_refused_by_name(data: bytes) -> None:
    reads_or_tells(data)


@pytest.mark.req("P7")
@settings(deadline=None, max_examples=400)
@given(st.sampled_from(WHOLE), st.data())
def test_a_damaged_form_is_read_or_refused_by_name(whole: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(whole) - 1))
    length = data.draw(st.integers(0, 4))
    reads_or_tells(whole[:place] + data.draw(st.binary(max_size=4)) + whole[place + length :])


@pytest.mark.req("P7", "P8")
@pytest.mark.parametrize("what", ["future", "damaged", "kind"])
async def test_a_call_this_release_cannot_read_is_set_aside_and_the_others_go_on(store_url: str, what: str) -> None:
    world = {"definitions": catalogue(), "handlers": Handlers().bound()}
    async with Sandbox.open(store_url, **world) as sandbox:  # type: ignore[arg-type]
        other = await sandbox.call("kyc.documents", {"entity": "Allianz"})
        call = await sandbox.call("kyc.documents", {"entity": "Generali"})
    rewrite(store_url, parse_id(call.id), what)
    async with Sandbox.open(store_url, **world) as sandbox:  # type: ignore[arg-type]
        # A timer that cannot be fired stays due, so time moves in one step here and not from timer to timer.
        sandbox.clock.move_to(sandbox.clock.now() + 15 * 86_400 * SECOND)
        sandbox.runtime.lease.beat_once()
        await sandbox.run_until_idle()
        shown = await sandbox.status(call.id)
        assert shown.state == "quarantined" and shown.error is not None
        assert f"{call.id}', but its state is in a form this release cannot read" in shown.error.message
        assert (await sandbox.status(other.id)).state == "failed"
        fresh = await sandbox.call("kyc.documents", {"entity": "Generali"})
        assert fresh.id in {each["id"] for each in await sandbox.parked()}
        assert fresh.id in {each.id for each in await sandbox.find("kyc.documents", entity="Generali")}
        assert [bytes(row[0]) for row in await sandbox.runtime.store.quarantined()] == [parse_id(call.id)]


@pytest.mark.req("P7", "P8")
async def test_retention_and_healing_pass_over_a_call_this_release_cannot_read(store_url: str) -> None:
    handlers = Handlers().bound()
    async with Sandbox.open(store_url, definitions=catalogue(), handlers=handlers) as sandbox:
        ended = [await sandbox.call("kyc.score", {"entity": "Allianz"}) for _ in range(2)]
        stuck = [await sandbox.call("kyc.documents", {"entity": "Generali"}) for _ in range(2)]
        for call in stuck:
            state = (await sandbox.runtime.kernel.read(parse_id(call.id), Origin())).state
            await sandbox.runtime.conductor.raise_missing(parse_id(call.id), 1, "default", state.steps[0])
    for call in (ended[0], stuck[0]):
        rewrite(store_url, parse_id(call.id), "future")
    async with Sandbox.open(store_url, definitions=catalogue(), handlers=handlers) as sandbox:
        sandbox.clock.move_to(sandbox.clock.now() + SECOND)
        assert await sandbox.runtime.upkeep.erase_old(0) == 1
        assert (await sandbox.status(ended[1].id)).erased_at is not None
        assert await sandbox.runtime.upkeep.heal_definitions() == 1
        assert await sandbox.runtime.upkeep.erase_old(0) == 0


def rewrite(url: str, id: bytes, what: str) -> None:
    """The row as a newer release, or a bad disk before the checksum was made, would have left it."""
    with Raw(url) as raw:
        ((tenant, kind, version, status, ended_at, state, head),) = raw(
            "SELECT tenant, kind, version, status, ended_at, state, head FROM aggregate WHERE id = ?", id
        )
        form = msgspec.msgpack.decode(bytes(state))
        changed = {
            "future": msgspec.msgpack.encode([STATE_VERSION + 1, *form[1:], "new"]),
            "damaged": bytes(state)[:-9],
        }
        state, kind = changed.get(what, bytes(state)), "lifecycle" if what == "kind" else kind
        check = checksum(id, tenant, kind, version, status, ended_at, state, bytes(head))
        raw("UPDATE aggregate SET state = ?, kind = ?, checksum = ? WHERE id = ?", state, kind, check, id)
