"""The canonical form: RFC documents, equality with the reference, independence of order, refusals by path."""

from __future__ import annotations

import datetime
import decimal
import enum
import random
import uuid
from typing import Any

import orjson
import pytest
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

from perdure.errors import SchemaViolationError
from perdure.payload import canonical, digest, digest_text, is_reference, parse, parse_digest
from perdure.payload.canonical_json import exact, quick

INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**6), 10**6).map(float),
    st.decimals(-10_000, 10_000, places=2).map(float),
    st.floats(-1e-4, 1e-4),
    st.sampled_from([0.0, -0.0, 1e-5, 9.999e-6, 1e15, 1e16, 1e20, 1e21]),
)
TEXTS = st.one_of(
    st.text(max_size=12),
    st.text(
        alphabet=st.sampled_from(["\ue000", "\uffff", "\U00010000", "\U0010ffff", "\u20ac", "a", '"', "\\", "\x1f"])
    ),
    st.sampled_from(["1.0,", "-0.0]", "e-7", ".0}", '":', "null"]),
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), INTEGERS, FLOATS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=6), st.dictionaries(TEXTS, inner, max_size=6)),
    max_leaves=25,
)


@pytest.mark.req("V7")
@given(JSON)
@example({"a": 1.0, "b": "1.0,"})
@example([{"\U00010000": 1, "\uffff": 2}])
@example({"text": "\U0001f600", "a": -0.0})
@settings(deadline=None, max_examples=700)
def test_every_value_is_written_as_the_reference_writes_it(value: Any) -> None:
    expected = rfc8785.dumps(value)
    assert canonical(value) == expected
    assert exact(value) == expected
    assert quick(value) in (None, expected)


@given(
    st.dictionaries(st.text(alphabet="abcé€", max_size=5), st.one_of(INTEGERS, st.text(alphabet="xyz.0,", max_size=9)))
)
@settings(deadline=None, max_examples=200)
def test_ordinary_data_never_leaves_the_fast_path(value: Any) -> None:
    assert quick(value) == rfc8785.dumps(value)


@pytest.mark.req("V7")
def test_decimals_and_whole_floats_stay_on_the_fast_path() -> None:
    value = {"prices": [1.0, 2.5, 0.0, -3.0, 1e-5, 123456.78], "label": "v1.5 e-mail"}
    assert quick(value) == b'{"label":"v1.5 e-mail","prices":[1,2.5,0,-3,0.00001,123456.78]}'


@pytest.mark.req("V7")
@given(JSON, st.integers())
@settings(deadline=None, max_examples=300)
def test_insertion_order_does_not_matter(value: Any, seed: int) -> None:
    assert canonical(shuffled(value, random.Random(seed))) == canonical(value)


@pytest.mark.req("V7")
@given(JSON)
@settings(deadline=None, max_examples=300)
def test_what_is_written_reads_back_and_is_written_alike(value: Any) -> None:
    written = canonical(value)
    assert canonical(parse(written, max_bytes=len(written), canonical_only=True)) == written


@pytest.mark.req("V7")
def test_the_document_of_the_rfc_becomes_the_printed_bytes() -> None:
    source = rb"""{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"""
    numbers = "333333333.3333333,1e+30,4.5,0.002,1e-27"
    string = '\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/'
    expected = f'{{"literals":[null,true,false],"numbers":[{numbers}],"string":"{string}"}}'
    assert canonical(parse(source)) == expected.encode()


@pytest.mark.req("V7")
def test_keys_are_ordered_by_their_utf16_units_as_the_rfc_shows() -> None:
    value = {
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\x80": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis",
    }
    assert list(orjson.loads(canonical(value))) == ["\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


@pytest.mark.req("V7")
def test_control_characters_have_their_short_escapes_and_nothing_else_is_escaped() -> None:
    value = "".join(map(chr, range(0x20))) + '\x7f"\\/\u2028'
    assert canonical(value) == rfc8785.dumps(value)
    assert b"\\b\\t\\n\\u000b\\f\\r\\u000e" in canonical(value)


@pytest.mark.req("V7")
def test_a_tuple_is_written_as_a_list() -> None:
    assert canonical({"a": (1, (2,))}) == b'{"a":[1,[2]]}'


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Text(str):
    pass


REFUSED: list[tuple[Any, str, str]] = [
    ({"a": [1, float("nan")]}, "/a/1", "nan is not a JSON number"),
    ({"a": float("inf")}, "/a", "inf is not a JSON number"),
    (float("-inf"), "", "-inf is not a JSON number"),
    ({"a/b": {"c~d": {1}}}, "/a~1b/c~0d", "a set is not JSON"),
    ([b"x"], "/0", "a bytes is not JSON"),
    ({"a": {1: 2}}, "/a", "its key 1 is a int"),
    ({None: 2}, "", "its key None is a NoneType"),
    ({Text("k"): 2}, "", "is a Text"),
    ([datetime.datetime(2026, 1, 1)], "/0", "a datetime is not JSON"),
    ([datetime.date(2026, 1, 1)], "/0", "a date is not JSON"),
    ([decimal.Decimal("1.1")], "/0", "a Decimal is not JSON"),
    ([uuid.UUID(int=1)], "/0", "a UUID is not JSON"),
    ([Colour.RED], "/0", "a Colour is not JSON"),
    ([Level.LOW], "/0", "a Level is not JSON"),
    ([Text("x")], "/0", "a Text is not JSON"),
    ([orjson.Fragment(b"{}")], "/0", "a Fragment is not JSON"),
    ([object()], "/0", "a object is not JSON"),
    ([2**53], "/0", "beyond"),
    ({"n": -(2**53)}, "/n", "beyond"),
    ([10**400], "/0", "beyond"),
    (["ok", "\ud800"], "/1", "a lone surrogate"),
    ({"\udfff": 1}, "/\\udfff", "a lone surrogate"),
    ({"a": 1.5, "b": "\udc00"}, "/b", "a lone surrogate"),
]


@pytest.mark.parametrize(("value", "path", "fact"), REFUSED, ids=[f"{p or 'root'}-{f}" for _, p, f in REFUSED])
def test_what_is_not_json_is_refused_with_its_path(value: Any, path: str, fact: str) -> None:
    with pytest.raises(SchemaViolationError) as caught:
        canonical(value)
    assert caught.value.data["path"] == path
    assert fact in str(caught.value)
    assert str(caught.value).startswith("Expected to write JSON value")


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_a_hundred_levels_are_written_and_one_more_is_refused() -> None:
    assert canonical(nested(100)) == exact(nested(100)) == b"[" * 100 + b"1" + b"]" * 100
    for depth in (101, 250, 5_000):
        with pytest.raises(SchemaViolationError, match="deeper than 100"):
            canonical(nested(depth))
    assert canonical({"a": [[]] * 3}) == b'{"a":[[],[],[]]}'


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(SchemaViolationError, match="deeper than 100"):
        canonical(loop)


def test_a_small_value_that_unfolds_into_millions_is_refused() -> None:
    bomb: list[Any] = ["x"]
    for _ in range(40):
        bomb = [bomb, bomb]
    with pytest.raises(SchemaViolationError, match="more than 1,000,000 values"):
        canonical(bomb)


def test_digests_are_sha256_raw_inside_and_prefixed_outside() -> None:
    text = digest_text(digest(b"abc"))
    assert text == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert parse_digest(text) == digest(b"abc")


@pytest.mark.parametrize("text", ["", "sha256:", "sha1:" + "0" * 64, "sha256:" + "A" * 64, "sha256:" + "0" * 64 + "\n"])
def test_a_text_that_is_not_a_digest_is_refused(text: str) -> None:
    with pytest.raises(SchemaViolationError, match="64 lower-case hex digits"):
        parse_digest(text)


def test_a_reference_is_known_by_its_scheme() -> None:
    assert is_reference("document://tenant/0b6e")
    assert is_reference("file:///var/data/a.pdf")
    for other in ("plain", "a:b", "://x", "document://", "document://a b", "1x://a", "document://a\n", 7, None):
        assert not is_reference(other)


def shuffled(value: Any, source: random.Random) -> Any:
    if isinstance(value, list):
        return [shuffled(item, source) for item in value]
    if isinstance(value, dict):
        names = list(value)
        source.shuffle(names)
        return {name: shuffled(value[name], source) for name in names}
    return value
