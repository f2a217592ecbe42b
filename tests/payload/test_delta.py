"""Changes as they are stored: less than the payload, and the payload again to the byte."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.payload import (
    MAX_DELTAS,
    Held,
    NotADeltaError,
    Stored,
    apply_delta,
    delta_of,
    digest,
    encode_delta,
    pack_change,
    settled,
)
from tests.payload.test_incremental_codec import WHO, begun, objects

STORED = bytes.fromhex(
    "000196c4206f315c33d90a06efc3810c9fbc6ddf7a655fcff3554a949182fc6812600cf7cec4077b226e223a317db4323032"
    "362d30312d30315430303a30303a30315aa3616461ac636173652f636865636b2f31a96b79632e636865636b"
)
"""A change as the first release that had them stored it, and the hash of the payload it stands for."""
HASH = "5df2edee60ed5255f679e26583f26fe3b956efd9a3e4ec1161c133fbcb760180"


def chain(datas: list[dict[str, Any]]) -> list[tuple[bytes, bytes, bytes]]:
    """Hash, stored and whole bytes of a first payload and what is made of it."""
    (hash, written), held = begun({"n": -1})
    found = [(hash, written, written)]
    for data in datas:
        (same, whole), _ = pack_change(held, settled(data), **WHO)
        (hash, stored), held = encode_delta(hash, held, settled(data), **WHO)
        assert hash == same
        found.append((hash, stored, whole))
    return found


@given(objects, st.lists(objects, min_size=1, max_size=4))
@settings(deadline=None, max_examples=100)
def test_a_change_is_made_again_to_the_byte(first: dict[str, Any], later: list[dict[str, Any]]) -> None:
    (base, _), before = begun(first)
    for data in later:
        (hash, whole), kept = pack_change(before, settled(data), **WHO)
        (_, stored), held = encode_delta(base, before, settled(data), **WHO)
        change = delta_of(stored)
        assert change is not None and change.base == base
        (again, written), made = apply_delta(before, change)
        assert (again, written) == (hash, whole)
        assert repr(made) == repr(held) == repr(kept)
        base, before = hash, held


def test_a_change_takes_what_is_new_however_long_the_trail_is() -> None:
    found = chain([{"n": n} for n in range(MAX_DELTAS)])
    sizes = [len(stored) for _, stored, _ in found[1:]]
    assert max(sizes) - min(sizes) <= 1
    assert len(found[-1][2]) > 10 * sizes[-1]


def test_after_so_many_changes_one_is_stored_whole() -> None:
    found = chain([{"n": n} for n in range(3 * MAX_DELTAS)])
    wholes = [place for place, (_, stored, whole) in enumerate(found) if stored == whole]
    assert wholes == [0, MAX_DELTAS + 1, 2 * MAX_DELTAS + 2]


def test_a_change_is_read_as_it_was_stored_for_ever() -> None:
    """These bytes are history: what is stored like this must be read for as long as it is kept."""
    (base, _), before = begun()
    change = delta_of(STORED)
    assert change == Stored(base, b'{"n":1}', WHO["at"], WHO["by"], WHO["job_key"], WHO["verb"])
    (hash, written), _ = apply_delta(before, change)
    assert hash.hex() == sha256(written).hexdigest() == HASH
    assert encode_delta(base, before, settled({"n": 1}), **WHO)[0] == (hash, STORED)


@given(st.binary(max_size=200))
def test_whatever_is_marked_as_a_change_is_one_or_said_to_be_none(data: bytes) -> None:
    before: Held = begun()[1]
    try:
        change = delta_of(b"\0\1" + data)
        assert change is not None
        apply_delta(before, change)
    except NotADeltaError:
        pass


@pytest.mark.parametrize("data", [b"", b"{", b'{"n":1', b"\xff", b'{"n":1}x', b"[" * 500])
def test_a_change_whose_data_is_no_json_is_none(data: bytes) -> None:
    (base, _), before = begun()
    with pytest.raises(NotADeltaError):
        apply_delta(before, Stored(base, data, "", "", "", ""))


@pytest.mark.parametrize("place", [3, 40, 60, 80, -1])
def test_a_change_of_which_a_byte_was_changed_makes_another_payload(place: int) -> None:
    (base, _), before = begun()
    (hash, stored), _ = encode_delta(base, before, settled({"n": 1, "name": "Allianz SE"}), **WHO)
    other = bytearray(stored)
    other[place] ^= 1
    try:
        change = delta_of(bytes(other))
        assert change is not None
        assert apply_delta(before, change)[0][0] != hash or change.base != base
    except NotADeltaError:
        pass


def test_a_whole_payload_is_no_change() -> None:
    (hash, written), _ = begun()
    assert delta_of(written) is None and digest(written) == hash
    assert delta_of(b"") is None
