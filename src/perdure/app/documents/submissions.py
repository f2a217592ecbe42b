"""Submissions: what somebody hands in, checked against its type and turned into a version with its payloads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import date, timedelta
from typing import Any

import msgspec

from perdure.blobs.media_types import OCTETS, agrees, media_type_of
from perdure.documents.machine.commands import NewVersion
from perdure.documents.machine.document_state import Blob
from perdure.documents.ports import Blobs, BlobStored
from perdure.durations import DAY, BusinessDays, later, parse_business_days, parse_span
from perdure.errors import PayloadTooLargeError, RejectedError, Rejection
from perdure.payload import BUDGET_BYTES, Cargo, cargo_of, digest_text, parse_digest
from perdure.sources import Micros
from perdure.verbs.compiled_schema import CompiledSchema
from perdure.verbs.document_types import DocumentType

MAX_NAME = 200
MAX_WORD = 200
"""Letters of a source, of an id elsewhere and of a note."""
MAX_NOTE = 2000
WAIVER = "waiver"
"""The source of a version that is a waiver, and the field of its data with the reason."""
_EPOCH = date(1970, 1, 1)
DayAfter = Callable[[BusinessDays, date], date]
HeldBack = Callable[[str, bytes], Awaitable[str]]


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """One version as somebody hands it in: structured data, a blob that was stored before, or both."""

    data: Any = None
    blob: str = ""
    media_type: str = ""
    name: str = ""
    source: str = "upload"
    source_ref: str = ""
    valid_from: str = ""
    valid_to: str = ""
    correlation_id: str = ""


class Checked(msgspec.Struct, frozen=True):
    """A version that fits its type, with the payloads it brings; the first is that of its details."""

    version: NewVersion
    payloads: list[tuple[bytes, bytes]]
    texts: list[bytes]
    """The bodies that the words of the version come from."""


class SubmissionChecks:
    """Checks submissions of one platform."""

    def __init__(self, blobs: Blobs, day_after: DayAfter, held: HeldBack) -> None:
        """`day_after` counts business days; `held` tells why content is kept from everybody."""
        self._blobs = blobs
        self._held = held
        self._day_after = day_after
        self._schemas: dict[str, CompiledSchema] = {}

    async def check(self, type: DocumentType, tenant: str, given: Submission, now: Micros) -> Checked:
        """The version that a submission makes, or a rejection that says what does not fit."""
        data = self._data(type, given.data)
        blob, parts = (None, None) if not given.blob else await self._blob(type, tenant, given)
        if data is None and blob is None:
            raise refused(type.name, "it holds neither data nor a file", "A version needs content.")
        if given.source == WAIVER:
            raise refused(type.name, f"its source is '{WAIVER}'", "A waiver is made by `document.waive` alone.")
        name = safe_name(given.name)
        details = cargo_of({"name": name, "source_ref": _word("source_ref", given.source_ref, type.name)})
        valid_from, valid_until = self._validity(type, given, now)
        version = NewVersion(
            details=details.hash,
            data=data.hash if data is not None else None,
            blob=blob,
            source=_word("source", given.source, type.name) or "upload",
            valid_from=valid_from,
            valid_until=valid_until,
            is_scanned=blob is not None and bool(type.scan),
            is_extracted=type.extraction is not None,
            correlation=_word("correlation_id", given.correlation_id, type.name),
            found_at=now if blob is not None else 0,
        )
        cargoes = [each for each in (details, data, parts) if each is not None]
        texts = [each.data for each in (details, data) if each is not None]
        return Checked(version, [(each.hash, each.data) for each in cargoes], texts)

    def waiver(self, type: DocumentType, reason: str, given: Submission, now: Micros) -> Checked:
        """The version by which people do without a document: the reason stands in place of data and file."""
        details, data = cargo_of({"name": "", "source_ref": ""}), cargo_of({WAIVER: reason})
        valid_from, valid_until = self._validity(type, given, now)
        version = NewVersion(
            details=details.hash, data=data.hash, source=WAIVER, valid_from=valid_from, valid_until=valid_until,
            correlation=_word("correlation_id", given.correlation_id, type.name),
        )  # fmt: skip
        return Checked(version, [(each.hash, each.data) for each in (details, data)], [details.data, data.data])

    def schema(self, type: DocumentType, which: str) -> CompiledSchema | None:
        """The compiled schema of a type's data or extracted fields."""
        schema = type.data_schema if which == "data" else type.extracted_schema
        if schema is None:
            return None
        key = f"{which}:{type.name}"
        if key not in self._schemas:
            self._schemas[key] = CompiledSchema(schema, "accept", f"{which} of document type", type.name)
        return self._schemas[key]

    def _data(self, type: DocumentType, given: Any) -> Cargo | None:
        if given is None:
            return None
        schema = self.schema(type, "data")
        if schema is None:
            raise refused(type.name, "documents of this type hold no structured data", "Hand in a file.")
        cargo = cargo_of(schema.check(given))
        if len(cargo.data) > BUDGET_BYTES:
            fact = f"its data has {len(cargo.data):,} bytes of at most {BUDGET_BYTES:,}"
            raise PayloadTooLargeError("receive", "document of type", type.name, fact, size=len(cargo.data))
        return cargo

    def _validity(self, type: DocumentType, given: Submission, now: Micros) -> tuple[Micros, Micros]:
        begin, end = _day("valid_from", given.valid_from, type.name), _day("valid_to", given.valid_to, type.name)
        if not end and type.validity:
            end = self._end(type.validity, begin or now // DAY * DAY)
        if begin and end and end <= begin:
            raise refused(type.name, f"its validity ends on {given.valid_to} and begins on {given.valid_from}")
        return begin, end

    def _end(self, validity: str, begin: Micros) -> Micros:
        """The beginning of the day on which a validity that began on another is over."""
        asked = parse_business_days(validity)
        if asked is None:
            return later(begin, parse_span(validity))
        return (self._day_after(asked, _EPOCH + timedelta(days=begin // DAY)) - _EPOCH).days * DAY

    async def _blob(self, type: DocumentType, tenant: str, given: Submission) -> tuple[Blob, Cargo]:
        if not type.media_types:
            raise refused(type.name, "documents of this type hold no file", "Hand in structured data.")
        hash = parse_digest(given.blob)
        stored = await self._blobs.describe(tenant, hash)
        if stored is None:
            fact, hint = f"no content is stored as '{given.blob}'", "Upload the file first, and name what that answers."
            raise refused(type.name, fact, hint, "not_found")
        if not type.scan and (fact := await self._held(tenant, hash)):
            raise refused(type.name, fact, "Hand it in as a document of a type that is scanned.", "blocked")
        media_type = checked_media_type(type, stored, given.media_type)
        parts = cargo_of([digest_text(each) for each in stored.parts])
        return Blob(stored.hash, stored.size, media_type, parts.hash), parts


def checked_media_type(type: DocumentType, stored: BlobStored, said: str) -> str:
    """The media type of content by what it shows, compared with what was said of it."""
    found, said = media_type_of(stored.head, stored.tail), said.partition(";")[0].strip().lower()
    if said and not agrees(said, found.media_type):
        fact = f"it is said to be {said[:80]} and its content is {found.media_type}"
        raise refused(type.name, fact, "Send the file as what it is.")
    media_type = said if said and said != OCTETS else found.media_type
    if not type.allows(media_type):
        fact = f"its content is {media_type} and it takes {', '.join(type.media_types)}"
        raise refused(type.name, fact, "Convert it, or send another file.")
    if not found.is_whole:
        raise refused(type.name, f"the end of the {media_type} is missing", "It was cut off on its way: send it again.")
    if stored.size > type.max_bytes:
        raise refused(type.name, f"it has {stored.size:,} bytes of at most {type.max_bytes:,}", "Send a smaller file.")
    return media_type


def safe_name(given: str) -> str:
    """The last part of a file's name without control characters: a label, never a path."""
    last = given.replace("\\", "/").rpartition("/")[2]
    shown = "".join(letter for letter in last if letter.isprintable()).strip().lstrip(".")
    return shown[:MAX_NAME]


def _day(field: str, text: str, name: str) -> Micros:
    if not text:
        return 0
    try:
        if len(text) != 10:
            raise ValueError
        return max(1, (date.fromisoformat(text) - _EPOCH).days * DAY)
    except ValueError:
        raise refused(name, f"'{field}' is not a date", "Write it as 2031-05-01.") from None


def _word(field: str, text: str, name: str) -> str:
    if len(text) > MAX_WORD or not text.isprintable():
        raise refused(name, f"'{field}' is longer than {MAX_WORD} letters or holds control characters")
    return text


def note_cargo(note: str) -> Cargo | None:
    """What somebody wrote beside a decision, as a payload that can be erased."""
    if len(note) > MAX_NOTE:
        raise refused("note", f"it is longer than {MAX_NOTE:,} letters")
    return cargo_of({"note": note}) if note else None


def note_text(value: Mapping[str, Any] | None) -> str:
    return str(value["note"]) if value is not None else ""


def refused(type: str, fact: str, hint: str = "", code: Any = "invalid") -> RejectedError:
    return RejectedError(Rejection(code, "receive", "document of type", type[:80], fact, hint))
