"""The engine codec: the only way a payload goes out to an engine and comes back."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, Any, NoReturn

import msgspec

from perdure.errors import PayloadIntegrityError, PayloadTooLargeError, PerdureError
from perdure.payload.canonical_json import canonical
from perdure.payload.envelope import TRAIL_LENGTH, DigestText, Envelope, Packed, SchemaName, TrailEntry
from perdure.payload.json_faults import pointer
from perdure.payload.json_reader import BUDGET_BYTES, not_canonical, parse

Check = Callable[[Any], None]
"""Validates data against its schema by raising; what it raises reaches the caller."""

Pair = tuple[str, str]


class _Wire(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The envelope as written: `data` is canonical text already, fields stand in the order of their names."""

    created_at: str
    data: msgspec.Raw
    last_modified_by: str
    schema: SchemaName
    schema_digest: DigestText
    schema_hash: str
    sub_verb_trail: Annotated[tuple[TrailEntry, ...], msgspec.Meta(max_length=TRAIL_LENGTH)]
    trail_ref: str | None


encode = msgspec.json.Encoder().encode
_decoder = msgspec.json.Decoder(_Wire)


def pack(envelope: Envelope, *, max_bytes: int = BUDGET_BYTES, check: Check | None = None) -> Packed:
    """The envelope as one canonical string and the hash of its bytes, its data checked, within the budget."""
    data = canonical(envelope.data)
    data_hash = "sha256:" + sha256(data).hexdigest()
    if envelope.schema_hash not in ("", data_hash):
        differs("pack", envelope.schema, "data hash", data_hash, envelope.schema_hash)
    if check is not None:
        check(envelope.data)
    written = _write(envelope, data, data_hash, is_sound=_is_sound_without_trail(envelope))
    if len(written) > max_bytes:
        too_large("pack", envelope.schema, written, max_bytes)
    return Packed(written.decode(), "sha256:" + sha256(written).hexdigest())


def _is_sound_without_trail(envelope: Envelope) -> bool:
    """Whether nothing but names and times is in it, and these can be read back."""
    created_at, by, schema, digest = (
        envelope.created_at, envelope.last_modified_by, envelope.schema, envelope.schema_digest,
    )  # fmt: skip
    is_bare = envelope.sub_verb_trail == () and envelope.trail_ref is None
    is_text = type(created_at) is type(by) is type(schema) is type(digest) is str
    return is_bare and is_text and _is_well_named(schema, digest)


@lru_cache(1024)
def _is_well_named(schema: str, schema_digest: str) -> bool:
    try:
        msgspec.convert((schema, schema_digest), tuple[SchemaName, DigestText])
    except msgspec.ValidationError:
        return False
    return True


def unpack(
    packed: Packed | Pair,
    *,
    expect_schema: str | None = None,
    expect_schema_digest: str | None = None,
    max_bytes: int = BUDGET_BYTES,
    check: Check | None = None,
) -> Envelope:
    """The envelope behind a packed string, every byte accounted for; PayloadIntegrityError says what differs."""
    text, expected_hash = packed if isinstance(packed, tuple) else (packed.domain_payload, packed.domain_payload_hash)
    written = _bytes_of(text)
    actual_hash = "sha256:" + sha256(written).hexdigest()
    if actual_hash != expected_hash:
        differs("unpack", _name(expect_schema), "payload hash", expected_hash, actual_hash)
    wire = _read(written, _name(expect_schema))
    if len(written) > max_bytes:
        too_large("unpack", wire.schema, written, max_bytes)
    if expect_schema not in (None, wire.schema):
        differs("unpack", wire.schema, "schema", expect_schema, wire.schema)
    if expect_schema_digest not in (None, wire.schema_digest):
        differs("unpack", wire.schema, "schema", expect_schema_digest, wire.schema_digest)
    envelope = _open(wire, written)
    if check is not None:
        check(envelope.data)
    return envelope


def _open(wire: _Wire, written: bytes) -> Envelope:
    raw = bytes(wire.data)
    data_hash = "sha256:" + sha256(raw).hexdigest()
    if data_hash != wire.schema_hash:
        differs("unpack", wire.schema, "data hash", wire.schema_hash, data_hash)
    rewritten = encode(wire)
    if rewritten != written:
        raise not_canonical(written, rewritten)
    try:
        data = parse(raw, max_bytes=len(raw), canonical_only=True)
    except PayloadIntegrityError:
        raise
    except PerdureError as error:
        differs("unpack", wire.schema, "canonical form", "canonical data", error.fact, cause=error)
    return Envelope(
        created_at=wire.created_at,
        data=data,
        last_modified_by=wire.last_modified_by,
        schema=wire.schema,
        schema_digest=wire.schema_digest,
        schema_hash=wire.schema_hash,
        sub_verb_trail=wire.sub_verb_trail,
        trail_ref=wire.trail_ref,
    )


def _write(envelope: Envelope, data: bytes, data_hash: str, *, is_sound: bool) -> bytes:
    """The canonical bytes, read back once unless sound: a struct does not check its fields when it is made."""
    wire = _Wire(
        envelope.created_at,
        msgspec.Raw(data),
        envelope.last_modified_by,
        envelope.schema,
        envelope.schema_digest,
        data_hash,
        envelope.sub_verb_trail,
        envelope.trail_ref,
    )
    try:
        written = encode(wire)
        if not is_sound:
            _decoder.decode(written)
    except (msgspec.MsgspecError, TypeError, UnicodeEncodeError) as error:
        differs("pack", str(envelope.schema)[:80], "envelope field", "a well-formed envelope", str(error), cause=error)
    return written


def _read(written: bytes, name: str) -> _Wire:
    try:
        return _decoder.decode(written)
    except msgspec.ValidationError as error:
        differs("unpack", name, "envelope field", "a well-formed envelope", str(error), cause=error)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        differs("unpack", name, "canonical form", "canonical JSON", str(error), cause=error)


def _bytes_of(text: Any) -> bytes:
    if type(text) is not str:
        differs("unpack", "(unread)", "canonical form", "a string", f"a {type(text).__name__}")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        differs("unpack", "(unread)", "canonical form", "Unicode text", "a lone surrogate", cause=error)


def _name(expected: str | None) -> str:
    return expected or "(unread)"


def differs(do: str, name: str, what: str, expected: Any, actual: str, *, cause: Exception | None = None) -> NoReturn:
    fact = f"the {what} differs: expected {expected}, actual {actual}"
    raise PayloadIntegrityError(do, "payload", name, fact, differs=what, expected=expected, actual=actual) from cause


def too_large(do: str, name: str, written: bytes, max_bytes: int) -> NoReturn:
    largest = _largest(written)
    fields = ", ".join(f"{path} ({size:,} bytes)" for path, size in largest)
    raise PayloadTooLargeError(
        do,
        "payload",
        name,
        f"its {len(written):,} bytes exceed the budget of {max_bytes:,}; the largest fields are {fields}",
        "Keep big data elsewhere and send a reference; handlers fetch it with call.resolve(uri).",
        largest=largest,
        size=len(written),
        max_bytes=max_bytes,
    )


def _largest(written: bytes) -> list[tuple[str, int]]:
    """The three largest of the data's fields and the envelope's own, by their bytes as written."""
    fields = {(name,): raw for name, raw in msgspec.json.decode(written, type=dict[str, msgspec.Raw]).items()}
    data = bytes(fields.get(("data",), b""))
    if data.startswith(b"{") and data != b"{}":
        del fields["data",]
        inner = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        fields |= {("data", name): raw for name, raw in inner.items()}  # type: ignore[misc]
    sizes = [(pointer(path), len(bytes(raw))) for path, raw in fields.items()]
    return sorted(sizes, key=lambda field: (-field[1], field[0]))[:3]
