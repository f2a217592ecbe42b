"""A payload made of another one is written as if it were packed alone, and kept as if it were unpacked."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from perdure.errors import PayloadIntegrityError, PayloadTooLargeError, SchemaViolationError
from perdure.payload import (
    TRAIL_LENGTH,
    Envelope,
    TrailEntry,
    data_hash,
    digest,
    digest_text,
    pack,
    pack_and_keep,
    pack_change,
    unpack,
    with_data,
    with_trail,
)

FIRST = Envelope(
    created_at="2026-01-01T00:00:00Z",
    data={"entity": "Allianz SE"},
    last_modified_by="kyc.open-case",
    schema="kyc.open-case/v1",
    schema_digest=digest_text(digest(b"the schema")),
)
WHO = {"at": "2026-01-01T00:00:01Z", "by": "ada", "job_key": "case/check/1", "verb": "kyc.check"}

# Beyond the BMP, just below it, escaped, not ASCII: RFC 8785 orders them by UTF-16 unit.
keys = st.sampled_from(["a", "b", "ä", "\ue000", "\uffff", "\U0001f600", "\U00010000", '"', "\\", "\x00", ""])
numbers = st.sampled_from([1.0, -0.0, 0.0, 1e15, 1e16, 2.0**53, 1e20, 1e21, 1e-7, 2**53 - 1, 1 - 2**53, 5e-324])
scalars = st.none() | st.booleans() | st.integers(1 - 2**53, 2**53 - 1) | numbers | st.text(max_size=5)
scalars |= st.floats(allow_nan=False, allow_infinity=False) | st.just("1" * 20)
lists = st.lists(scalars, max_size=3) | st.tuples(scalars)
values = scalars | lists | st.dictionaries(keys, scalars | lists, max_size=3)
objects = st.dictionaries(keys, scalars, max_size=5) | st.dictionaries(keys, values, max_size=3)


def packed_alone(before: Envelope, data: Any, **who: Any) -> Envelope:
    """The same change by hand, not packed yet."""
    entry = TrailEntry(hash_in=before.schema_hash, hash_out=data_hash(data), **who)
    return with_trail(with_data(before, data, by=who["verb"]), entry)


@given(objects, st.lists(objects, min_size=1, max_size=3), st.sampled_from([None, "events/1"]))
@example({"\uffff": 1, "\U00010000": 2}, [{"\ue000": True, "\U0001f600": False}], None)
@example({"n": 1.0}, [{"n": -0.0, "deep": {"m": 1e20}}, {"text": "9" * 16}], "events/1")
@settings(deadline=None, max_examples=150)
@pytest.mark.req("V5")
@pytest.mark.req("V8")
def test_whatever_changes_the_bytes_are_those_of_packing_it_alone(
    first: dict[str, Any], later: list[dict[str, Any]], reference: str | None
) -> None:
    fresh = msgspec.structs.replace(FIRST, data=first, trail_ref=reference)
    written, current = pack_and_keep(fresh)
    assert written.decode() == pack(fresh).domain_payload
    for data in later:
        packed = pack(packed_alone(current, data, **WHO))
        written, current = pack_change(current, data, **WHO)
        assert written.decode() == packed.domain_payload
        # Types and the order of fields too: 1.0 is read back as 1, a tuple as a list.
        assert repr(current) == repr(unpack(packed))


@pytest.mark.req("V5")
def test_the_trail_of_changes_keeps_the_last_twenty() -> None:
    current = pack_and_keep(FIRST)[1]
    for number in range(TRAIL_LENGTH + 5):
        packed = pack(packed_alone(current, {"n": number}, **{**WHO, "job_key": f"job-{number}"}))
        written, current = pack_change(current, {"n": number}, **{**WHO, "job_key": f"job-{number}"})
        assert written.decode() == packed.domain_payload
        assert current == unpack(packed)
    assert [entry.job_key for entry in current.sub_verb_trail] == [f"job-{n}" for n in range(5, TRAIL_LENGTH + 5)]


@pytest.mark.req("V8")
@pytest.mark.parametrize("is_flat", [True, False])
def test_what_is_kept_is_nobody_elses(is_flat: bool) -> None:
    data: dict[str, Any] = {"n": 1} if is_flat else {"n": 1, "tags": ["a"], "inner": {"m": [1]}}
    first = pack_and_keep(with_data(FIRST, data, by="v"))[1]
    second = pack_change(first, data, **WHO)[1]
    data["n"] = 2
    if not is_flat:
        data["tags"].append("b")
        data["inner"]["m"][0] = 3
    assert first.data == second.data != data
    assert first.schema_hash == second.schema_hash == data_hash(second.data)
    assert not is_flat or first.data == {"n": 1}
    assert is_flat or second.data == {"n": 1, "tags": ["a"], "inner": {"m": [1]}}


@pytest.mark.req("V8")
@pytest.mark.parametrize(
    "data",
    [
        {"a": {1, 2}},
        {"a": float("nan")},
        {"a": [float("inf")]},
        {"a": "\ud800"},
        {"\ud800": 1},
        {"a": {"\udfff": 1}},
        {1: "a"},
        {"a": {None: 1}},
        {"a": 2**53},
        {"a": [-(2**64)]},
        {"a": b"bytes"},
        {"a": type("Text", (str,), {})("a")},
        type("Object", (dict,), {})(a=1),
        {"a": msgspec.json.decode("[" * 100 + "]" * 100)},
    ],
    ids=lambda data: repr(data)[:30],
)
def test_what_packing_refuses_a_change_refuses_in_the_same_words(data: Any) -> None:
    before = pack_and_keep(FIRST)[1]
    with pytest.raises(SchemaViolationError) as alone:
        pack(with_data(FIRST, data, by="v"))
    with pytest.raises(SchemaViolationError) as changed:
        pack_change(before, data, **WHO)
    assert str(changed.value) == str(alone.value)
    assert changed.value.data == alone.value.data


@pytest.mark.req("V9")
def test_the_budget_of_a_change_is_exact() -> None:
    before, data = pack_and_keep(FIRST)[1], {"scan": "x" * 500, "notes": "y" * 90}
    written, _ = pack_change(before, data, **WHO)
    assert pack_change(before, data, **WHO, max_bytes=len(written))[0] == written
    with pytest.raises(PayloadTooLargeError) as alone:
        pack(packed_alone(before, data, **WHO), max_bytes=len(written) - 1)
    with pytest.raises(PayloadTooLargeError) as changed:
        pack_change(before, data, **WHO, max_bytes=len(written) - 1)
    assert str(changed.value) == str(alone.value)
    assert changed.value.data == alone.value.data


@pytest.mark.req("V5")
@pytest.mark.req("V8")
@pytest.mark.parametrize("wrong", [{"by": 7}, {"at": None}, {"job_key": ["key"]}, {"verb": 1.5}, {"by": object()}])
def test_who_changed_it_must_be_text(wrong: dict[str, Any]) -> None:
    before = pack_and_keep(FIRST)[1]
    with pytest.raises(PayloadIntegrityError, match="envelope field differs"):
        pack_change(before, {"n": 1}, **{**WHO, **wrong})


@pytest.mark.req("V8")
@pytest.mark.parametrize("field", WHO)
def test_who_changed_it_must_be_unicode(field: str) -> None:
    before = pack_and_keep(FIRST)[1]
    with pytest.raises(PayloadIntegrityError, match="envelope field differs"):
        pack_change(before, {"n": 1}, **{**WHO, field: "\ud800"})


@pytest.mark.req("V8")
def test_what_was_never_packed_is_not_taken_for_checked() -> None:
    with pytest.raises(PayloadIntegrityError, match="envelope field differs"):
        pack_change(FIRST, {"n": 1}, **WHO)
