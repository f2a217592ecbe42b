"""Ids: sixteen bytes and twenty-six letters, one for the other."""

from __future__ import annotations

import os
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import RejectedError
from perdure.sources import IDS_AT_ONCE, SystemSources, id_text, make_id, parse_id


@given(st.binary(min_size=16, max_size=16))
def test_an_id_and_its_letters_stand_for_each_other(id: bytes) -> None:
    letters = id_text(id)
    assert len(letters) == 26
    assert parse_id(letters) == id
    assert parse_id(letters.upper()) == id


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16))
def test_letters_sort_as_their_ids_do(one: bytes, other: bytes) -> None:
    assert (id_text(one) < id_text(other)) == (one < other)


@given(st.text(max_size=40))
def test_other_text_is_rejected_as_not_found_or_is_an_id(text: str) -> None:
    try:
        id = parse_id(text)
    except RejectedError as error:
        assert error.rejection.code == "not_found"
    else:
        assert id_text(id) == text.lower()


@pytest.mark.parametrize("text", ["", "8" + "0" * 25, "0" * 25, "0" * 27, "0" * 25 + "u", "0" * 25 + "é"])
def test_what_is_no_id_says_what_an_id_is(text: str) -> None:
    with pytest.raises(RejectedError, match="26 letters"):
        parse_id(text)


def test_ids_made_later_sort_later() -> None:
    assert make_id(1_000_000, b"\xff" * 10) < make_id(1_001_000, b"\x00" * 10)


@given(st.integers(0, 2**57), st.binary(min_size=10, max_size=10))
def test_an_id_is_a_version_7_uuid_of_its_time_and_chance(now: int, chance: bytes) -> None:
    id = uuid.UUID(bytes=make_id(now, chance))
    assert (id.version, id.variant) == (7, uuid.RFC_4122)
    assert id.int >> 80 == now // 1000
    kept = 0x0FFF_3FFF_FFFF_FFFF_FFFF
    assert id.int & kept == int.from_bytes(chance, "big") & kept


def test_ids_differ_however_many_are_made() -> None:
    sources = SystemSources()
    made = {sources.new_id()[6:] for _ in range(3 * IDS_AT_ONCE)}
    assert len(made) == 3 * IDS_AT_ONCE


def test_a_forked_process_makes_ids_of_its_own() -> None:
    sources = SystemSources()
    sources.new_id()
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.write(writing, sources.new_id())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(reading, 16)
    os.close(reading)
    os.close(writing)
    assert len(theirs) == 16
    assert sources.new_id()[6:] != theirs[6:]
