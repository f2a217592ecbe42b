"""Reading: what is read is what was written, or it is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import PayloadIntegrityError, PayloadTooLargeError, PerdureError, SchemaViolationError
from perdure.payload import canonical, parse

MALFORMED = [
    (b"", "JSON"),
    (b"{", "JSON"),
    (b"[1,]", "JSON"),
    (b"NaN", "JSON"),
    (b"[Infinity]", "JSON"),
    (b"'a'", "JSON"),
    (b"\xff", "JSON"),
    (b"\xef\xbb\xbf1", "JSON"),
    (b'"\\ud800"', "JSON"),
    (b"[1e400]", "JSON"),
    (b'{"a":1,"a":2}', "the key 'a' appears twice"),
    (b'{"x":{"a":1,"a":1}}', "the key 'a' appears twice"),
    (b'{"a":1,"\\u0061":2}', "the key 'a' appears twice"),
    (b'{"a":1,"a":"\\u003a"}', "the key 'a' appears twice"),
    (b'{"a":1,"a":"\\u003A"}', "the key 'a' appears twice"),
    (b'{"a":":","a":1}', "the key 'a' appears twice"),
    (b"[9007199254740993]", "beyond"),
    (b"[-9007199254740993]", "beyond"),
    (b"[1152921504606846976]", "beyond"),
    (b"[100000000000000000001]", "beyond"),
    (b"[" + b"9" * 5_000 + b"]", "JSON"),
    (b"[" * 101 + b"]" * 101, "deeper than 100"),
    (b"[" * 900 + b"]" * 900, "deep"),
    (b"[" * 30_000, "JSON"),
    (b'{"a":' * 10_000, "JSON"),
]


@pytest.mark.parametrize(("data", "fact"), MALFORMED, ids=range(len(MALFORMED)))
def test_what_cannot_be_read_faithfully_is_refused(data: bytes, fact: str) -> None:
    with pytest.raises(SchemaViolationError, match=fact):
        parse(data)


@pytest.mark.parametrize("data", [b'{"b":1,"a":2}', b"[1, 2]", b"1.0", b"-0", b'"\\/"', b'"\\u0041"', b"1e2", b"[1]\n"])
def test_only_the_canonical_spelling_passes_when_asked_for(data: bytes) -> None:
    assert parse(data) == json.loads(data)
    with pytest.raises(PayloadIntegrityError, match="canonical form differs") as caught:
        parse(data, canonical_only=True)
    assert caught.value.data["differs"] == "canonical form"


def test_doubles_beyond_the_safe_integers_survive_reading() -> None:
    for number in (1e16, -1e16, 1e20, 2.0**53, 123456789012345680000.0):
        value = parse(canonical([number]), canonical_only=True)
        assert value == [number]
        assert type(value[0]) is float


def test_more_bytes_than_allowed_are_not_even_read() -> None:
    assert parse(b"[1234]", max_bytes=6) == [1234]
    with pytest.raises(PayloadTooLargeError, match="at most 5 are allowed"):
        parse(b"[1234]", max_bytes=5)


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:01.eE+-\\u null', max_size=40).map(str.encode))
@settings(deadline=None, max_examples=600)
def test_any_bytes_are_read_or_refused_but_never_crash(data: bytes) -> None:
    try:
        value: Any = parse(data)
    except PerdureError:
        return
    assert parse(canonical(value), canonical_only=True) == value
