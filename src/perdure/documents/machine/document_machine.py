"""The document machine: commands become entries, entries become the state and the rows it stands for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, assert_never

import msgspec
from msgspec.structs import replace

from perdure.documents.machine import commands as c
from perdure.documents.machine import decisions
from perdure.documents.machine import journal_entries as e
from perdure.documents.machine.document_state import ENDED, STATE_VERSION, Document, Version
from perdure.documents.machine.text_words import text_words
from perdure.durations import later
from perdure.errors import InvariantBroken, Rejection
from perdure.identifiers import id_text
from perdure.journal import BlobRow, Decision, DocumentRow, Notice, Origin, RecordCodec, Rows, TimerRow, read_form
from perdure.journal.facts import fact_key, fact_notice
from perdure.journal.notice_routes import PREFIX, FactEvent, StepRoute
from perdure.journal.upcasters import grown

PLATFORM = "perdure"
"""Who records what verbs found."""
EXPIRY, RETENTION = "expiry", "retention"
UPCASTERS = (grown(1),)
TOLD = (
    e.DocumentCreated, e.VersionReceived, e.VersionVerified, e.VersionRejected, e.VersionExpired, e.VersionSuperseded,
    e.DocumentSuperseded,
)  # fmt: skip
"""Entries that change what guards know of a document."""
HAPPENED: dict[type, str] = {
    e.VersionReceived: "received", e.VersionVerified: "verified", e.VersionRejected: "rejected",
    e.VersionExpired: "expired", e.DocumentSuperseded: "superseded",
}  # fmt: skip
"""The last word of the event that an entry is."""
ARRIVED = "document_arrived"
"""The kind of the notice that a verb is to check a version."""
ANSWERED = "request_answered"
"""The kind of the notice that a version came for a request, or was decided on."""

_STATE = msgspec.msgpack.Decoder(Document)


class DocumentMachine:
    """Pure: the same state, command and time always give the same entries."""

    kind: ClassVar[str] = "document"
    semantics: ClassVar[int] = 1

    def __init__(self) -> None:
        self.records: RecordCodec[e.DocumentEntry] = RecordCodec(e.DocumentEntry, e.ENTRY_VERSION, UPCASTERS)
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = _STATE

    def decide(
        self, id: bytes, state: Document | None, command: c.DocumentCommand, origin: Origin, now: int, chance: float
    ) -> Decision | Rejection:
        if isinstance(command, c.CreateDocument):
            return decisions.create(id, command, origin, now)
        if state is None:
            return Rejection("not_found", "find", "document", id_text(id), "there is no such document")
        if isinstance(command, c.EraseDocument):
            return decisions.erase(state, command, origin, now)
        if isinstance(command, c.KeepLonger):
            return decisions.keep_longer(state, command, now)
        if state.erased_at:
            return Rejection("wrong_state", "change", "document", id_text(id), "its data was erased")
        return decisions.decide(id, state, command, origin, now)

    def apply(self, state: Document | None, entry: e.DocumentEntry) -> Document:
        if isinstance(entry, e.DocumentCreated):
            return Document(
                STATE_VERSION, entry.type, entry.subject, entry.at, entry.by, entry.source, entry.parent,
                entry.correlation, entry.keep, changes=1,
            )  # fmt: skip
        if state is None:
            raise InvariantBroken("apply", "entry", type(entry).__name__, "no document has been created")
        if isinstance(entry, e.ContentRead):
            return state
        if isinstance(entry, e.RetentionRestarted):
            return replace(state, ended_at=entry.at, changes=state.changes + 1)
        after = _changed(state, entry)
        is_over = after.status in ENDED
        ended_at = (after.ended_at or entry.at) if is_over else 0
        return replace(after, ended_at=ended_at, changes=state.changes + 1)

    def rows(self, id: bytes, state: Document) -> Rows:
        current = state.current
        version, valid_from, valid_until, decided_at, reason = (
            (current.number, current.valid_from, current.valid_until, current.decided_at, current.reason)
            if current is not None
            else (0, 0, 0, 0, "")
        )
        row = DocumentRow(
            state.type, state.subject, state.status, version, valid_from, valid_until, state.created_at, decided_at,
            reason, state.parent, state.correlation,
        )  # fmt: skip
        if state.erased_at:
            return Rows(documents=(row,))
        hashes = sorted({each.blob.hash for each in state.versions if each.blob is not None})
        return Rows(timers=_timers(state), documents=(row,), blobs=tuple(BlobRow(hash) for hash in hashes))

    def notices(self, id: bytes, state: Document, entries: tuple[e.DocumentEntry, ...]) -> tuple[Notice, ...]:
        letters = id_text(id)
        notices = [
            Notice(f"{PREFIX}{letters}/check/{number}/{state.changes}", ARRIVED, StepRoute(number))
            for number in _to_check(entries)
        ]
        notices += [
            Notice(f"{PREFIX}{letters}/request/{number}/{state.changes}", ANSWERED, StepRoute(number))
            for number in _answering(state, entries)
        ]
        if state.subject and any(isinstance(each, TOLD) for each in entries):
            key = fact_key(self.kind, state.subject, state.type)
            notices.append(fact_notice(letters, state.changes, [key], list(_events(letters, state, entries, key))))
        return tuple(notices)

    def encode(self, state: Document) -> bytes:
        return self._encoder.encode(state)

    def decode(self, data: bytes) -> Document:
        return read_form(data, self._decoder, STATE_VERSION, ())

    def status(self, state: Document) -> tuple[str, int]:
        """Documents have retention of their own, by a timer: the time that calls are counted from is always 0."""
        return ("erased" if state.erased_at else state.status), 0

    def payloads(self, state: Document) -> tuple[tuple[bytes, ...], bool]:
        hashes = [hash for each in state.versions for hash in _payloads_of(each)]
        return tuple(dict.fromkeys(hashes)), bool(state.erased_at)

    def texts(self, state: Document) -> dict[int, tuple[bytes, ...]]:
        """Text 0 holds type and subject alone; that of a version its file name, data and extracted fields as well."""
        if state.erased_at:
            return {}
        found: dict[int, tuple[bytes, ...]] = {0: ()}
        for each in state.versions:
            hashes = (each.details, each.data, each.extracted)
            found[each.number] = tuple(hash for hash in hashes if hash is not None)
        return found

    def words(self, state: Document, number: int, bodies: Sequence[bytes]) -> str:
        return text_words(state.type, state.subject, bodies)


def _events(letters: str, state: Document, entries: tuple[e.DocumentEntry, ...], key: str) -> Iterator[FactEvent]:
    """What happened to the document, in words that begin lifecycles."""
    fields = {"document_type": state.type, "document_id": letters}
    for each in entries:
        word = HAPPENED.get(type(each))
        if word:
            yield FactEvent(f"document.{word}", state.subject, key, each.at, fields)


def _to_check(entries: tuple[e.DocumentEntry, ...]) -> list[int]:
    """Versions that a verb is to check now: new ones, and those whose scan is done."""
    return [
        each.number
        for each in entries
        if (isinstance(each, e.VersionReceived) and (each.is_scanned or each.is_extracted))
        or (isinstance(each, e.BlobScanned) and each.is_clean)
    ]


def _answering(state: Document, entries: tuple[e.DocumentEntry, ...]) -> list[int]:
    """Versions that came for a request, or that were decided on and had come for one."""
    numbers = [
        each.number for each in entries if isinstance(each, e.VersionReceived | e.VersionVerified | e.VersionRejected)
    ]
    return [number for number in dict.fromkeys(numbers) if state.versions[number - 1].correlation]


def _timers(state: Document) -> tuple[TimerRow, ...]:
    timers = [
        TimerRow(each.number, EXPIRY, each.valid_until) for each in state.versions if each.is_open and each.valid_until
    ]
    if state.ended_at and state.keep is not None:
        timers.append(TimerRow(0, RETENTION, later(state.ended_at, state.keep)))
    return tuple(timers)


def _payloads_of(version: Version) -> list[bytes]:
    parts = version.blob.parts if version.blob is not None else None
    hashes = (version.details, version.data, parts, version.extracted, version.note)
    return [hash for hash in hashes if hash is not None]


def _changed(state: Document, entry: e.DocumentEntry) -> Document:
    match entry:
        case e.VersionReceived():
            return replace(state, versions=(*state.versions, _new(entry)))
        case e.VersionVerified():
            return _with(
                state, entry.number, status="verified", decided_at=entry.at, decided_by=entry.by, note=entry.note,
                reason="",
            )  # fmt: skip
        case e.VersionRejected():
            return _with(
                state, entry.number, status="rejected", decided_at=entry.at, decided_by=entry.by, reason=entry.reason,
                note=entry.note,
            )  # fmt: skip
        case e.VersionExpired():
            return _with(state, entry.number, status="expired")
        case e.VersionSuperseded():
            return _with(state, entry.number, status="superseded")
        case e.DocumentSuperseded():
            versions = tuple(replace(each, status="superseded") if each.is_open else each for each in state.versions)
            return replace(state, versions=versions, superseded_by=entry.document, superseded_at=entry.at)
        case e.FieldsExtracted():
            done = "done" if entry.is_settled else "waiting"
            # Who corrected the fields had a hand in what is to be verified, as who handed it in had.
            behind = state.versions[entry.number - 1].behind
            behind = behind if entry.by == PLATFORM or entry.by in behind else (*behind, entry.by)
            return _with(
                state, entry.number, extracted=entry.extracted, confidence=entry.confidence, extraction=done,
                behind=behind,
            )  # fmt: skip
        case e.ExtractionFailed():
            return _with(state, entry.number, extraction="refused")
        case e.BlobScanned():
            return _with(state, entry.number, scan="done" if entry.is_clean else "refused")
        case e.DocumentErased():
            return replace(state, erased_at=entry.at)
        case e.DocumentCreated() | e.ContentRead() | e.RetentionRestarted():
            raise InvariantBroken("apply", "entry", type(entry).__name__, "it changes no version")
        case _:
            assert_never(entry)


def _new(entry: e.VersionReceived) -> Version:
    return Version(
        entry.number, entry.at, entry.by, entry.behind, entry.source, entry.details, entry.data, entry.blob,
        entry.valid_from, entry.valid_until, extraction="waiting" if entry.is_extracted else "",
        scan="waiting" if entry.is_scanned else "", correlation=entry.correlation,
    )  # fmt: skip


def _with(state: Document, number: int, **changes: object) -> Document:
    if not 0 < number <= len(state.versions):
        raise InvariantBroken("apply", "entry of version", str(number), f"there are {len(state.versions)} versions")
    changed = replace(state.versions[number - 1], **changes)
    return replace(state, versions=(*state.versions[: number - 1], changed, *state.versions[number:]))
