"""Entries of documents: facts in the past tense. Data is named by hash only, so that it can be erased."""

from __future__ import annotations

from perdure.documents.machine.document_state import Blob, Compact
from perdure.durations import Span

ENTRY_VERSION = 2


class Fact(Compact, frozen=True, tag_field="entry"):
    """Documents have a type, so the tag has another name."""


class DocumentCreated(Fact, frozen=True, tag=1):
    """A document of a type about a subject; `keep` is how long its data outlives it."""

    type: str
    subject: str
    source: str
    parent: str
    correlation: str
    keep: Span | None
    at: int
    by: str


class VersionReceived(Fact, frozen=True, tag=2):
    """A version arrived; `behind` are others who stand behind whoever handed it in."""

    number: int
    at: int
    by: str
    behind: tuple[str, ...]
    source: str
    details: bytes
    data: bytes | None
    blob: Blob | None
    valid_from: int
    valid_until: int
    is_scanned: bool
    is_extracted: bool
    correlation: str = ""


class VersionVerified(Fact, frozen=True, tag=3):
    number: int
    at: int
    by: str
    note: bytes | None = None


class VersionRejected(Fact, frozen=True, tag=4):
    """A version was refused, or a verification taken back, for a coded reason."""

    number: int
    at: int
    by: str
    reason: str
    note: bytes | None = None


class VersionExpired(Fact, frozen=True, tag=5):
    number: int
    at: int


class VersionSuperseded(Fact, frozen=True, tag=6):
    """A newer version took the place of an older one."""

    number: int
    at: int
    by: int


class DocumentSuperseded(Fact, frozen=True, tag=7):
    """Another document took the place of this one."""

    document: str
    at: int
    by: str
    note: bytes | None = None


class ContentRead(Fact, frozen=True, tag=8):
    """Somebody was given the content of a version: its data, its blob or a link to the blob."""

    number: int
    what: str
    at: int
    by: str


class FieldsExtracted(Fact, frozen=True, tag=9):
    """Fields were read out of a version; below the confidence asked for, a person has yet to check them."""

    number: int
    at: int
    by: str
    extracted: bytes
    confidence: float
    is_settled: bool


class ExtractionFailed(Fact, frozen=True, tag=10):
    number: int
    at: int
    code: str


class BlobScanned(Fact, frozen=True, tag=11):
    """A scan let the content of a version pass, or refused it."""

    number: int
    at: int
    is_clean: bool
    code: str = ""


class DocumentErased(Fact, frozen=True, tag=12):
    at: int
    by: str
    reason: str


class RetentionRestarted(Fact, frozen=True, tag=13):
    """A case still needed the data when its time was over: the time is counted from now on."""

    at: int


DocumentEntry = (
    DocumentCreated
    | VersionReceived
    | VersionVerified
    | VersionRejected
    | VersionExpired
    | VersionSuperseded
    | DocumentSuperseded
    | ContentRead
    | FieldsExtracted
    | ExtractionFailed
    | BlobScanned
    | DocumentErased
    | RetentionRestarted
)
