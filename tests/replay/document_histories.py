"""Short histories of documents that hold every entry, each once with every field filled."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from perdure.documents.machine import journal_entries as d
from perdure.documents.machine.document_state import Blob
from perdure.durations import Span
from tests.replay.histories import at

DETAILS, DATA, CONTENT, PARTS, FIELDS, NOTE = (
    sha256(each).digest() for each in (b"details", b"data", b"content", b"parts", b"fields", b"note")
)
SCAN = Blob(CONTENT, 2000, "application/pdf", PARTS)
OTHER = "01m7gzs4sbe9wthgme570ndjv1"


def created(**given: Any) -> d.DocumentCreated:
    return d.DocumentCreated("passport", "anna", "upload", OTHER, "task-7", Span(12, 0), at(0), "ada", **given)


def received(number: int, second: int) -> d.VersionReceived:
    return d.VersionReceived(
        number, at(second), "ada", ("rita",), "portal", DETAILS, DATA, SCAN, at(1), at(900), True, True, "task-7"
    )  # fmt: skip


DOCUMENTS: dict[str, tuple[tuple[str, int, tuple[Any, ...]], ...]] = {
    "scanned, extracted, verified, replaced and expired": (
        ("CreateDocument", at(0), (created(), received(1, 0))),
        ("RecordScan", at(1), (d.BlobScanned(1, at(1), True, "clean"),)),
        ("RecordExtraction", at(2), (d.FieldsExtracted(1, at(2), "perdure", FIELDS, 0.75, True),)),
        ("VerifyVersion", at(3), (d.VersionVerified(1, at(3), "olga", NOTE),)),
        ("RecordRead", at(4), (d.ContentRead(1, "data", at(4), "olga"),)),
        ("ReceiveVersion", at(5), (received(2, 5),)),
        ("VerifyVersion", at(6), (d.VersionVerified(2, at(6), "olga", NOTE), d.VersionSuperseded(1, at(6), 2))),
        ("FireTimer", at(900), (d.VersionExpired(2, at(900)),)),
    ),
    "rejected, superseded and erased": (
        ("CreateDocument", at(0), (created(), received(1, 0))),
        ("FailExtraction", at(1), (d.ExtractionFailed(1, at(1), "unreadable"),)),
        ("RejectVersion", at(2), (d.VersionRejected(1, at(2), "olga", "BLURRED", NOTE),)),
        ("SupersedeDocument", at(3), (d.DocumentSuperseded(OTHER, at(3), "olga", NOTE),)),
        ("EraseDocument", at(4), (d.DocumentErased(at(4), "perdure", "retention"),)),
    ),
}
DOCUMENTS["kept for a case"] = (
    ("CreateDocument", at(0), (created(), received(1, 0))),
    ("RejectVersion", at(2), (d.VersionRejected(1, at(2), "olga", "BLURRED", NOTE),)),
    ("KeepLonger", at(900), (d.RetentionRestarted(at(900)),)),
)
TAGS_OF_DOCUMENTS = {
    1: "DocumentCreated", 2: "VersionReceived", 3: "VersionVerified", 4: "VersionRejected", 5: "VersionExpired",
    6: "VersionSuperseded", 7: "DocumentSuperseded", 8: "ContentRead", 9: "FieldsExtracted", 10: "ExtractionFailed",
    11: "BlobScanned", 12: "DocumentErased",
    13: "RetentionRestarted",
}  # fmt: skip
"""Every number ever used. A line is added with an entry and never changed or removed, also when the entry goes."""
