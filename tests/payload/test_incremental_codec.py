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
    Held,
    Packed,
    Sealed,
    TrailEntry,
    data_hash,
    digest,
    digest_text,
    pack,
    pack_change,
    pack_first,
    settled,
    unpack,
    unpack_and_keep,
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


def begun(data: Any = FIRST.data, **fields: Any) -> tuple[Sealed, Held]:
    given = {"created_at": FIRST.created_at, "by": "kyc.open-case", "schema": FIRST.schema} | fields
    return pack_first(data, **{"schema_digest": FIRST.schema_digest} | given)


def as_read(held: Held) -> Held:
    """As it is when it was read: how many it leaned on is not told by its bytes."""
    return msgspec.structs.replace(held, leans=0)


def packed_alone(before: Envelope, data: Any, **who: Any) -> Envelope:
    """The same change by hand, not packed yet."""
    entry = TrailEntry(hash_in=before.schema_hash, hash_out=data_hash(data), **who)
    return with_trail(with_data(before, data, by=who["verb"]), entry)


@given(objects, st.lists(objects, min_size=1, max_size=3))
@example({"\uffff": 1, "\U00010000": 2}, [{"\ue000": True, "\U0001f600": False}])
@example({"n": 1.0}, [{"n": -0.0, "deep": {"m": 1e20}}, {"text": "9" * 16}])
@settings(deadline=None, max_examples=150)
def test_whatever_changes_the_bytes_are_those_of_packing_it_alone(
    first: dict[str, Any], later: list[dict[str, Any]]
) -> None:
    (hash, written), current = begun(first)
    packed = pack(msgspec.structs.replace(FIRST, data=first))
    assert Packed(written.decode(), digest_text(hash)) == packed
    for data in later:
        packed = pack(packed_alone(unpack(packed), data, **WHO))
        (hash, written), current = pack_change(current, settled(data), **WHO)
        assert Packed(written.decode(), digest_text(hash)) == packed
        # Types and the order of fields too: 1.0 is read back as 1, a tuple as a list.
        assert repr(as_read(current)) == repr(unpack_and_keep(packed))


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.sampled_from(["%", "%b", "%%", '"', "\\"])
names = st.from_regex(r"[^\s/]{1,9}/v[1-9]", fullmatch=True).filter(lambda name: name.isprintable()) | st.just(
    "100%b/v1"
)


@given(st.lists(texts, min_size=6, max_size=6), names, st.none() | texts)
@example(["%", "%s", "%b", "%%", '"%', "\x00"], "%b%%/v1", "%b")
@settings(deadline=None)
def test_whoever_changes_it_the_bytes_are_those_of_packing_it_alone(
    given: list[str], schema: str, reference: str | None
) -> None:
    created_at, first_by, at, by, job_key, verb = given
    who = {"at": at, "by": by, "job_key": job_key, "verb": verb}
    fresh = msgspec.structs.replace(FIRST, created_at=created_at, last_modified_by=first_by, schema=schema)
    (hash, written), _ = begun(created_at=created_at, by=first_by, schema=schema)
    assert Packed(written.decode(), digest_text(hash)) == pack(fresh)
    packed = pack(msgspec.structs.replace(fresh, trail_ref=reference))
    (hash, written), current = pack_change(unpack_and_keep(packed), settled({"n": 1}), **who)
    packed = pack(packed_alone(unpack(packed), {"n": 1}, **who))
    assert Packed(written.decode(), digest_text(hash)) == packed
    assert repr(as_read(current)) == repr(unpack_and_keep(packed))


@pytest.mark.req("V5")
def test_the_trail_of_changes_keeps_the_last_twenty() -> None:
    packed, current = pack(FIRST), begun()[1]
    for number in range(TRAIL_LENGTH + 5):
        packed = pack(packed_alone(unpack(packed), {"n": number}, **{**WHO, "job_key": f"job-{number}"}))
        (_, written), current = pack_change(current, settled({"n": number}), **{**WHO, "job_key": f"job-{number}"})
        assert written.decode() == packed.domain_payload
        assert as_read(current) == unpack_and_keep(packed)
        assert current.sub_verb_trail == unpack(packed).sub_verb_trail
    assert [entry.job_key for entry in current.sub_verb_trail] == [f"job-{n}" for n in range(5, TRAIL_LENGTH + 5)]


@pytest.mark.parametrize("is_flat", [True, False])
def test_what_is_kept_is_nobody_elses(is_flat: bool) -> None:
    data: dict[str, Any] = {"n": 1} if is_flat else {"n": 1, "tags": ["a"], "inner": {"m": [1]}}
    first = begun(data)[1]
    second = pack_change(first, settled(data), **WHO)[1]
    data["n"] = 2
    if not is_flat:
        data["tags"].append("b")
        data["inner"]["m"][0] = 3
    assert first.data == second.data != data
    assert first.schema_hash == second.schema_hash == data_hash(second.data)
    assert not is_flat or first.data == {"n": 1}
    assert is_flat or second.data == {"n": 1, "tags": ["a"], "inner": {"m": [1]}}


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
    before = begun()[1]
    with pytest.raises(SchemaViolationError) as alone:
        pack(with_data(FIRST, data, by="v"))
    with pytest.raises(SchemaViolationError) as first:
        begun(data)
    with pytest.raises(SchemaViolationError) as changed:
        pack_change(before, settled(data), **WHO)
    assert str(changed.value) == str(first.value) == str(alone.value)
    assert changed.value.data == first.value.data == alone.value.data


def test_the_budget_of_a_change_is_exact() -> None:
    before, data = begun()[1], {"scan": "x" * 500, "notes": "y" * 90}
    (_, written), held = pack_change(before, settled(data), **WHO)
    assert held.size == len(written)
    assert pack_change(before, settled(data), **WHO, max_bytes=len(written))[0][1] == written
    with pytest.raises(PayloadTooLargeError) as alone:
        pack(packed_alone(unpack(pack(FIRST)), data, **WHO), max_bytes=len(written) - 1)
    with pytest.raises(PayloadTooLargeError) as changed:
        pack_change(before, settled(data), **WHO, max_bytes=len(written) - 1)
    assert str(changed.value) == str(alone.value)
    assert changed.value.data == alone.value.data


@pytest.mark.parametrize("wrong", [{"by": 7}, {"at": None}, {"job_key": ["key"]}, {"verb": 1.5}, {"by": object()}])
def test_who_changed_it_must_be_text(wrong: dict[str, Any]) -> None:
    before = begun()[1]
    with pytest.raises(PayloadIntegrityError, match="envelope field differs"):
        pack_change(before, settled({"n": 1}), **{**WHO, **wrong})


@pytest.mark.parametrize("field", WHO)
def test_who_changed_it_must_be_unicode(field: str) -> None:
    before = begun()[1]
    with pytest.raises(PayloadIntegrityError, match="envelope field differs"):
        pack_change(before, settled({"n": 1}), **{**WHO, field: "\ud800"})


@pytest.mark.parametrize(
    "wrong",
    [
        {"by": 7}, {"by": None}, {"by": "\ud800"}, {"created_at": None}, {"created_at": "\udfff"},
        {"schema": "no version"}, {"schema": ["a/v1"]}, {"schema": "\ud800/v1"}, {"schema": None},
        {"schema_digest": "sha256:"}, {"schema_digest": 5},
    ],
    ids=repr,
)  # fmt: skip
def test_what_packing_refuses_of_an_envelope_is_refused_when_it_is_the_first(wrong: dict[str, Any]) -> None:
    fields = {"last_modified_by" if name == "by" else name: value for name, value in wrong.items()}
    with pytest.raises(PayloadIntegrityError, match="envelope field differs"):
        pack(msgspec.structs.replace(FIRST, **fields))
    with pytest.raises(PayloadIntegrityError, match="envelope field differs"):
        begun(**wrong)


def test_the_budget_of_the_first_is_exact() -> None:
    (_, written), held = begun({"scan": "x" * 500})
    assert held.size == len(written)
    assert begun({"scan": "x" * 500}, max_bytes=len(written))[0][1] == written
    with pytest.raises(PayloadTooLargeError, match="/data/scan"):
        begun({"scan": "x" * 500}, max_bytes=len(written) - 1)
