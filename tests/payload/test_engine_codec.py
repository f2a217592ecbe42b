"""The crossing: what goes out comes back byte for byte, or the error says what differs."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import PayloadIntegrityError, PayloadTooLargeError, SchemaViolationError
from perdure.payload import (
    BUDGET_BYTES,
    TRAIL_LENGTH,
    Envelope,
    Packed,
    TrailEntry,
    data_hash,
    digest,
    digest_text,
    pack,
    unpack,
    with_data,
    with_trail,
)

DATA = {"entity": "Allianz SE", "amount": 12.5, "whole": 3.0, "großes": 1e21, "tags": ["a", "b"], "none": None}
SCHEMA_DIGEST = digest_text(digest(b"the schema"))


def envelope(data: Any = DATA, **fields: Any) -> Envelope:
    common = {"created_at": "2026-01-01T00:00:00Z", "last_modified_by": "kyc.open-case", "schema": "kyc.open-case/v1"}
    return Envelope(**{"data": data, "schema_digest": SCHEMA_DIGEST, **common, **fields})


def entry(number: int) -> TrailEntry:
    return TrailEntry(
        verb=f"kyc.step-{number}",
        at="2026-01-01T00:00:00Z",
        by="worker",
        hash_in=data_hash(number),
        hash_out=data_hash(number + 1),
        job_key=f"job-{number}",
    )


def signed(text: str) -> Packed:
    """A payload whose own hash is right, whatever it holds."""
    return Packed(text, digest_text(digest(text.encode())))


def rewritten(**fields: Any) -> Packed:
    """A canonical payload with fields of the envelope changed and its own hash right."""
    return signed(rfc8785.dumps({**json.loads(pack(envelope()).domain_payload), **fields}).decode())


@pytest.mark.req("V5")
def test_the_packed_form_is_the_canonical_envelope_and_the_hash_of_its_bytes() -> None:
    packed = pack(with_trail(envelope(trail_ref="events/1"), entry(1)))
    fields = json.loads(packed.domain_payload)
    assert packed.domain_payload.encode() == rfc8785.dumps(fields)
    assert packed.domain_payload_hash == digest_text(digest(packed.domain_payload.encode()))
    assert fields["schema_hash"] == data_hash(DATA)
    assert set(fields) == set(Envelope.__struct_fields__)
    assert set(fields["sub_verb_trail"][0]) == set(TrailEntry.__struct_fields__)


def test_what_was_packed_comes_back_whole() -> None:
    sent = with_trail(envelope(trail_ref="events/1"), entry(1))
    packed = pack(sent)
    received = unpack(packed, expect_schema="kyc.open-case/v1", expect_schema_digest=SCHEMA_DIGEST)
    assert received == msgspec.structs.replace(sent, schema_hash=data_hash(DATA))
    assert unpack((packed.domain_payload, packed.domain_payload_hash)) == received
    assert pack(received) == packed


@given(st.dictionaries(st.text(max_size=5), st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)))
@settings(deadline=None, max_examples=150)
def test_any_data_crosses_and_crosses_again_unchanged(data: dict[str, Any]) -> None:
    packed = pack(envelope(data))
    assert unpack(packed).data == data
    assert pack(unpack(packed)) == packed


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_any_single_changed_byte_is_detected(draw: st.DataObject) -> None:
    packed = pack(with_trail(envelope(), entry(1)))
    raw = bytearray(packed.domain_payload.encode())
    position = draw.draw(st.integers(0, len(raw) - 1))
    raw[position] ^= draw.draw(st.integers(1, 255))
    text = raw.decode("utf-8", "surrogateescape")
    with pytest.raises(PayloadIntegrityError) as caught:
        unpack((text, packed.domain_payload_hash))
    assert caught.value.data["differs"] in ("payload hash", "canonical form")


def test_every_truncation_is_detected() -> None:
    packed = pack(envelope())
    for length in range(len(packed.domain_payload)):
        with pytest.raises(PayloadIntegrityError, match="payload hash differs: expected sha256:"):
            unpack((packed.domain_payload[:length], packed.domain_payload_hash))


def altered(change: str) -> Packed:
    text = pack(envelope()).domain_payload
    fields = json.loads(text)
    match change:
        case "respaced":
            return signed(json.dumps(fields, ensure_ascii=False, sort_keys=True))
        case "reordered":
            turned = dict(reversed(fields.items()))
            return signed(json.dumps(turned, ensure_ascii=False, separators=(",", ":")))
        case "escaped":
            return signed(text.replace("kyc.open-case/v1", "kyc.open-case\\/v1"))
        case "repeated":
            return signed(text.replace('"trail_ref":null', '"trail_ref":null,"trail_ref":null'))
        case "truncated":
            return signed(text[:-1])
        case "deep":
            return signed("[" * 20_000)
        case other:
            raise AssertionError(other)


@pytest.mark.parametrize("change", ["respaced", "reordered", "escaped", "repeated", "truncated", "deep"])
def test_a_payload_that_was_reformatted_and_hashed_again_is_still_detected(change: str) -> None:
    with pytest.raises(PayloadIntegrityError) as caught:
        unpack(altered(change))
    assert caught.value.data["differs"] in ("canonical form", "data hash", "envelope field")
    assert "differs" in str(caught.value)


def test_respaced_data_with_its_hash_made_to_fit_is_not_canonical() -> None:
    text = pack(envelope({"a": 1, "b": 2})).domain_payload
    for spelling in ('{"a":1, "b":2}', '{"b":2,"a":1}', '{"a":1.0,"b":2}', '{"a":1,"a":1,"b":2}'):
        fitting = text.replace('{"a":1,"b":2}', spelling).replace(
            data_hash({"a": 1, "b": 2}), digest_text(digest(spelling.encode()))
        )
        with pytest.raises(PayloadIntegrityError) as caught:
            unpack(signed(fitting))
        assert caught.value.data["differs"] == "canonical form"


def test_data_an_engine_coerced_is_named_by_its_hash() -> None:
    coerced = rewritten(data={**DATA, "amount": "12.5"})
    with pytest.raises(PayloadIntegrityError) as caught:
        unpack(coerced)
    assert caught.value.data["differs"] == "data hash"
    assert caught.value.data["expected"] == data_hash(DATA)
    assert caught.value.data["actual"] == data_hash({**DATA, "amount": "12.5"})
    assert caught.value.data["expected"] in str(caught.value)
    assert caught.value.data["actual"] in str(caught.value)


@pytest.mark.parametrize(
    "fields",
    [
        {"schema": "no version"},
        {"schema": 7},
        {"schema_digest": "sha256:short"},
        {"created_at": None},
        {"trail_ref": 1},
        {"sub_verb_trail": [{}]},
        {"sub_verb_trail": [msgspec.to_builtins(entry(n)) for n in range(TRAIL_LENGTH + 1)]},
        {"unknown": 1},
    ],
    ids=str,
)
def test_a_wrong_envelope_field_is_named(fields: dict[str, Any]) -> None:
    with pytest.raises(PayloadIntegrityError) as caught:
        unpack(rewritten(**fields))
    assert caught.value.data["differs"] == "envelope field"
    assert next(iter(fields)) in str(caught.value)


def test_another_schema_than_expected_is_refused() -> None:
    packed = pack(envelope())
    with pytest.raises(PayloadIntegrityError, match=r"expected kyc\.close-case/v1, actual kyc\.open-case/v1"):
        unpack(packed, expect_schema="kyc.close-case/v1")
    with pytest.raises(PayloadIntegrityError, match="the schema differs: expected sha256:") as caught:
        unpack(packed, expect_schema_digest=data_hash("another"))
    assert caught.value.data["actual"] == SCHEMA_DIGEST


@pytest.mark.parametrize(
    "value", ["", "a", "kyc/v0", "kyc/v1 ", "kyc/v1\n", "\ud800/v1", "sha256:" + "A" * 64, None, 7, b"kyc/v1", []]
)
@pytest.mark.parametrize("field", ["created_at", "last_modified_by", "schema", "schema_digest", "trail_ref"])
def test_packing_refuses_what_unpacking_would_with_a_trail_and_without(field: str, value: Any) -> None:
    def outcome(sent: Envelope) -> str:
        try:
            return unpack(pack(sent)).schema
        except PayloadIntegrityError as error:
            return str(error)

    bare = envelope(**{field: value})
    assert outcome(bare) == outcome(bare)  # what was found once is found again
    assert outcome(bare) == outcome(with_trail(bare, entry(1)))


def test_packing_refuses_an_envelope_that_could_not_be_unpacked() -> None:
    with pytest.raises(PayloadIntegrityError, match="data hash differs"):
        pack(envelope(schema_hash=data_hash("other data")))
    for fields in ({"schema": "bad name"}, {"created_at": 5}, {"last_modified_by": "\ud800"}, {"trail_ref": object()}):
        with pytest.raises(PayloadIntegrityError, match="envelope field differs"):
            pack(envelope(**fields))
    with pytest.raises(SchemaViolationError, match="'/when'"):
        pack(envelope({"when": {1, 2}}))


def test_a_payload_that_is_not_text_is_refused() -> None:
    for text in (None, b"{}", 5, {"a": 1}):
        with pytest.raises(PayloadIntegrityError, match="expected a string"):
            unpack((text, "sha256:"))  # type: ignore[arg-type]


def require_entity(data: Any) -> None:
    if "entity" not in data:
        raise SchemaViolationError("accept", "data", "/entity", "it is missing")


def test_the_schema_check_runs_on_the_way_out_and_on_the_way_in() -> None:
    assert unpack(pack(envelope(), check=require_entity), check=require_entity).data == DATA
    with pytest.raises(SchemaViolationError, match="missing"):
        pack(envelope({}), check=require_entity)
    with pytest.raises(SchemaViolationError, match="missing"):
        unpack(pack(envelope({})), check=require_entity)


def test_a_payload_over_budget_names_its_three_largest_fields_and_the_way_out() -> None:
    data = {"scan": "x" * 60_000, "notes": "y" * 9_000, "history": ["z" * 100] * 50, "small": 1}
    with pytest.raises(PayloadTooLargeError) as caught:
        pack(envelope(data))
    largest = [("/data/scan", 60_002), ("/data/notes", 9_002), ("/data/history", 5_151)]
    assert caught.value.data["largest"] == largest
    assert "/data/scan (60,002 bytes), /data/notes (9,002 bytes)" in str(caught.value)
    assert "65,536" in str(caught.value)
    assert "call.resolve(uri)" in str(caught.value)


def test_the_budget_is_exact_and_holds_in_both_directions() -> None:
    packed = pack(envelope())
    size = len(packed.domain_payload.encode())
    assert pack(envelope(), max_bytes=size) == packed
    assert unpack(packed, max_bytes=size).data == DATA
    with pytest.raises(PayloadTooLargeError):
        pack(envelope(), max_bytes=size - 1)
    with pytest.raises(PayloadTooLargeError, match="largest fields are"):
        unpack(packed, max_bytes=size - 1)
    assert BUDGET_BYTES == 65_536


def test_data_that_is_one_big_text_is_named_as_such() -> None:
    with pytest.raises(PayloadTooLargeError) as caught:
        pack(envelope("x" * 70_000))
    assert caught.value.data["largest"][0] == ("/data", 70_002)


@pytest.mark.req("V5")
def test_the_trail_keeps_the_last_twenty_entries() -> None:
    current = envelope()
    for number in range(25):
        current = with_trail(current, entry(number))
    assert [one.verb for one in current.sub_verb_trail] == [f"kyc.step-{n}" for n in range(5, 25)]
    assert unpack(pack(current)).sub_verb_trail == current.sub_verb_trail


@pytest.mark.req("V5")
def test_new_data_gets_a_new_hash_and_names_who_changed_it() -> None:
    received = unpack(pack(envelope()))
    changed = unpack(pack(with_data(received, {"entity": "Other"}, by="kyc.assign-reviewer")))
    assert changed.schema_hash == data_hash({"entity": "Other"})
    assert changed.last_modified_by == "kyc.assign-reviewer"
    assert changed.created_at == received.created_at
