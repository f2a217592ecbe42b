"""Ids: sixteen bytes and twenty-six letters, one for the other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import RejectedError
from perdure.sources import id_text, make_id, parse_id


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
