"""Commands to a document."""

from __future__ import annotations

import msgspec

from perdure.documents.machine.document_state import Blob
from perdure.durations import Span


class NewVersion(msgspec.Struct, frozen=True, kw_only=True):
    """What a version holds, checked against its type; `data`, `details` are hashes of payloads brought along."""

    details: bytes
    data: bytes | None = None
    blob: Blob | None = None
    source: str = "upload"
    valid_from: int = 0
    valid_until: int = 0
    is_scanned: bool = False
    is_extracted: bool = False
    correlation: str = ""
    found_at: int = 0
    """When its blob was seen in storage; 0 without one."""


class DecisionRule(msgspec.Struct, frozen=True):
    """Who may decide on a version; the type declares it."""

    groups: tuple[str, ...] = ()
    four_eyes: bool = False
    agents: bool = False


class CreateDocument(msgspec.Struct, frozen=True, kw_only=True):
    type: str
    subject: str
    source: str = "upload"
    parent: str = ""
    correlation: str = ""
    keep: Span | None = None
    version: NewVersion | None = None


class ReceiveVersion(msgspec.Struct, frozen=True):
    version: NewVersion


class VerifyVersion(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    rule: DecisionRule
    note: bytes | None = None


class RejectVersion(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    reason: str
    rule: DecisionRule
    note: bytes | None = None


class SupersedeDocument(msgspec.Struct, frozen=True, kw_only=True):
    document: str
    rule: DecisionRule
    note: bytes | None = None


class FireTimer(msgspec.Struct, frozen=True):
    number: int
    kind: str
    due: int


class RecordRead(msgspec.Struct, frozen=True):
    number: int
    what: str


class RecordExtraction(msgspec.Struct, frozen=True):
    number: int
    extracted: bytes
    confidence: float
    is_settled: bool
    by: str = ""
    """The person who checked the fields; empty for a verb."""


class FailExtraction(msgspec.Struct, frozen=True):
    number: int
    code: str


class RecordScan(msgspec.Struct, frozen=True):
    number: int
    is_clean: bool
    code: str = ""


class EraseDocument(msgspec.Struct, frozen=True):
    reason: str


class KeepLonger(msgspec.Struct, frozen=True):
    """The time that data is kept is over, and a case still needs it: the time begins anew."""

    due: int


DocumentCommand = (
    CreateDocument
    | ReceiveVersion
    | VerifyVersion
    | RejectVersion
    | SupersedeDocument
    | FireTimer
    | RecordRead
    | RecordExtraction
    | FailExtraction
    | RecordScan
    | EraseDocument
    | KeepLonger
)
