"""Journals of instances and processes written by every release replay to the states and rows they had."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import UnreadableFormError
from tests.replay.histories import ORIGIN
from tests.replay.make import golden
from tests.replay.process_histories import SHELVES, Shelf, plain_rows, play_on

JOURNALS = [
    (shelf.kind, version, name)
    for shelf in SHELVES.values()
    for version in range(1, shelf.version + 1)
    for name in golden(version, shelf.kind)
]
KINDS = [(shelf.kind, kind) for shelf in SHELVES.values() for kind in get_args(shelf.entries)]
HISTORIES = [(shelf.kind, name) for shelf in SHELVES.values() for name in shelf.histories]


@pytest.mark.req("P8")
@pytest.mark.parametrize(("kind", "version", "name"), JOURNALS)
def test_a_golden_journal_replays_to_the_states_and_rows_it_had(kind: str, version: int, name: str) -> None:
    machine, state = SHELVES[kind].machine, None
    for moment in golden(version, kind)[name]:
        for entry in machine.records.decode(bytes.fromhex(moment["record"])).entries:
            state = machine.apply(state, entry)
        assert state is not None
        stored = machine.decode(bytes.fromhex(moment["state"]))
        assert stored == state
        # A state of an older version is compared as this release would write it.
        assert machine.encode(state) == machine.encode(stored)
        assert plain_rows(machine, state) == moment["rows"]


@pytest.mark.req("P8")
@pytest.mark.parametrize(("kind", "name"), HISTORIES)
def test_what_is_written_today_is_byte_for_byte_what_was_written_then(kind: str, name: str) -> None:
    shelf = SHELVES[kind]
    played = [moment._asdict() for moment in play_on(shelf.machine, shelf.histories[name])]
    assert played == golden(shelf.version, kind)[name]


@pytest.mark.req("P8")
@pytest.mark.parametrize("shelf", SHELVES.values(), ids=SHELVES)
def test_a_golden_record_read_and_written_again_is_the_same_bytes(shelf: Shelf) -> None:
    codec = shelf.machine.records
    for moments in golden(shelf.version, shelf.kind).values():
        for moment in moments:
            record = codec.decode(bytes.fromhex(moment["record"]))
            origin = msgspec.structs.replace(ORIGIN, principal=record.principal, trace=record.trace)
            assert codec.encode(record.at, record.command, origin, record.entries).hex() == moment["record"]


@pytest.mark.req("P8")
@pytest.mark.parametrize(("kind", "entry"), KINDS, ids=lambda each: getattr(each, "__name__", each))
def test_every_entry_has_a_golden_record_with_every_field_filled_in(kind: str, entry: type[msgspec.Struct]) -> None:
    shelf = SHELVES[kind]
    journals = [golden(version, kind) for version in range(1, shelf.version + 1)]
    told = [bytes.fromhex(each["record"]) for names in journals for name in names.values() for each in name]
    found = [each for body in told for each in shelf.machine.records.decode(body).entries if type(each) is entry]
    empty = {field.name: _default(field) for field in msgspec.structs.fields(entry)}
    filled = [each for each in found if all(getattr(each, name) != value for name, value in empty.items())]
    assert filled, f"add a {entry.__name__} to tests/replay/process_histories.py, then python -m tests.replay.make"


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default


@pytest.mark.req("P8")
@pytest.mark.parametrize("shelf", SHELVES.values(), ids=SHELVES)
def test_tags_are_unique_and_never_given_to_another_entry(shelf: Shelf) -> None:
    kinds = get_args(shelf.entries)
    tags = [kind.__struct_config__.tag for kind in kinds]
    assert len(set(tags)) == len(tags)
    assert {tag: kind.__name__ for tag, kind in zip(tags, kinds, strict=True)}.items() <= shelf.tags.items()
    assert len(set(shelf.tags.values())) == len(shelf.tags)


@pytest.mark.req("P8")
@pytest.mark.parametrize("shelf", SHELVES.values(), ids=SHELVES)
def test_a_form_from_the_future_is_refused_and_says_what_to_do(shelf: Shelf) -> None:
    moment = next(iter(golden(shelf.version, shelf.kind).values()))[-1]
    for form, decode in (("state", shelf.machine.decode), ("record", shelf.machine.records.decode)):
        version, *rest = msgspec.msgpack.decode(bytes.fromhex(moment[form]))
        with pytest.raises(UnreadableFormError, match=f"version '{version + 1}', but this release knows"):
            decode(msgspec.msgpack.encode([version + 1, *rest, "something new"]))


WHOLE = [
    (kind, bytes.fromhex(moment[form]))
    for kind, version, name in JOURNALS
    for moment in golden(version, kind)[name]
    for form in ("state", "record")
]


@pytest.mark.req("P7")
@settings(deadline=None, max_examples=400)
@given(st.sampled_from(WHOLE), st.data())
def test_a_damaged_form_is_read_or_refused_by_name(whole: tuple[str, bytes], data: st.DataObject) -> None:
    kind, form = whole
    place, length = data.draw(st.integers(0, len(form) - 1)), data.draw(st.integers(0, 4))
    damaged = form[:place] + data.draw(st.binary(max_size=4)) + form[place + length :]
    machine = SHELVES[kind].machine
    for decode, encode in ((machine.decode, machine.encode), (machine.records.decode, msgspec.msgpack.encode)):
        try:
            value = decode(damaged)
        except UnreadableFormError as error:
            assert error.fact
        else:
            assert decode(encode(value)) == value
