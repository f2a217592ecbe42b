"""Views of documents: plain values, the same in Python and in JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.blobs.partial_uploads import Progress
from perdure.documents.machine.document_state import Document, Version
from perdure.journal import DocumentRow
from perdure.payload import digest_text
from perdure.sources import Id, Micros, id_text, iso
from perdure.verbs.document_types import DocumentType, RejectionReason


class BlobView(msgspec.Struct, frozen=True):
    """Stored content: `blob` names it by its hash wherever a version is to refer to it."""

    blob: str
    size: int
    media_type: str


class UploadView(msgspec.Struct, frozen=True):
    """Content that comes in several requests: `offset` is the byte to go on from."""

    id: str
    size: int
    offset: int
    expires_at: str | None
    blob: BlobView | None = None
    """The blob that a finished upload became."""


class ReasonView(msgspec.Struct, frozen=True):
    """A rejection reason with its words for the client and for operators."""

    code: str
    category: str
    client: str
    operator: str
    next_action: str
    retryable: bool


class VersionView(msgspec.Struct, frozen=True):
    """One version without its content. `uri` names it for handlers."""

    number: int
    status: str
    uri: str
    received_at: str | None
    received_by: str
    source: str
    has_data: bool
    blob: BlobView | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    decided_at: str | None = None
    decided_by: str = ""
    reason: ReasonView | None = None
    extraction: str = ""
    confidence: float | None = None
    scan: str = ""


class DocumentView(msgspec.Struct, frozen=True):
    """A document with its versions, oldest first; `version` is the one that the status is of."""

    id: str
    uri: str
    type: str
    subject: str
    status: str
    sequence: int
    version: int | None
    versions: list[VersionView]
    parent: str = ""
    source: str = ""
    correlation_id: str = ""
    created_at: str | None = None
    created_by: str = ""
    valid_from: str | None = None
    valid_to: str | None = None
    superseded_by: str = ""
    erased_at: str | None = None


class DocumentItem(msgspec.Struct, frozen=True):
    """A document in a list."""

    id: str
    type: str
    subject: str
    status: str
    version: int | None
    valid_from: str | None = None
    valid_to: str | None = None
    created_at: str | None = None
    reason: str = ""
    parent: str = ""
    correlation_id: str = ""


class ContentView(msgspec.Struct, frozen=True):
    """The content of a version; reading it is an event of its document. `link` opens its blob for a short time."""

    id: str
    version: int
    name: str = ""
    source_ref: str = ""
    data: Any = None
    extracted: Any = None
    confidence: float | None = None
    note: str = ""
    link: str = ""
    link_expires_at: str | None = None


class DocumentTypeView(msgspec.Struct, frozen=True):
    """A declared type of documents."""

    name: str
    description: str
    media_types: list[str]
    max_bytes: int
    validity: str
    retention: str
    verify_groups: list[str]
    four_eyes: bool
    data_schema: dict[str, Any] | None = None
    extracted_schema: dict[str, Any] | None = None
    extraction: str = ""
    scan: str = ""


class CollectedView(msgspec.Struct, frozen=True):
    """Blobs that nothing refers to: how many there are, their bytes, and whether they were removed."""

    blobs: int
    bytes: int
    removed: bool


def upload_view(found: Progress) -> UploadView:
    done = found.finished
    blob = BlobView(done.blob, done.size, done.media_type) if done is not None else None
    return UploadView(found.id, found.opened.size, found.offset, iso(found.opened.expires_at), blob)


def reason_view(reason: RejectionReason) -> ReasonView:
    return ReasonView(
        reason.code, reason.category, reason.client, reason.operator, reason.next_action, reason.retryable
    )


def type_view(each: DocumentType) -> DocumentTypeView:
    verification = each.verification
    return DocumentTypeView(
        each.name, each.description, list(each.media_types), each.max_bytes, each.validity, each.retention,
        list(verification.groups), verification.four_eyes, each.data_schema, each.extracted_schema,
        each.extraction.verb if each.extraction is not None else "", each.scan,
    )  # fmt: skip


def item_view(id: Id, row: DocumentRow) -> DocumentItem:
    return DocumentItem(
        id_text(id), row.type, row.subject, row.status, row.version or None, day_text(row.valid_from),
        day_text(row.valid_until), iso(row.created_at), row.reason, row.parent, row.correlation,
    )  # fmt: skip


def document_view(
    id: Id, tenant: str, sequence: int, state: Document, reasons: dict[str, RejectionReason]
) -> DocumentView:
    letters, current = id_text(id), state.current
    return DocumentView(
        letters, f"document://{tenant}/{letters}", state.type, state.subject, state.status, sequence,
        current.number if current is not None else None,
        [_version_view(letters, tenant, each, reasons) for each in state.versions], state.parent, state.source,
        state.correlation, iso(state.created_at), state.created_by,
        day_text(current.valid_from) if current is not None else None,
        day_text(current.valid_until) if current is not None else None, state.superseded_by,
        iso(state.erased_at or None),
    )  # fmt: skip


def _version_view(letters: str, tenant: str, version: Version, reasons: dict[str, RejectionReason]) -> VersionView:
    blob = version.blob
    reason = None
    if version.reason:
        known = reasons.get(version.reason)
        reason = reason_view(known) if known is not None else ReasonView(version.reason, "", "", "", "", False)
    return VersionView(
        version.number, version.status, f"version://{tenant}/{letters}/{version.number}", iso(version.received_at),
        version.by, version.source, version.data is not None,
        BlobView(digest_text(blob.hash), blob.size, blob.media_type) if blob is not None else None,
        day_text(version.valid_from), day_text(version.valid_until), iso(version.decided_at or None),
        version.decided_by, reason, version.extraction, version.confidence if version.extracted else None, version.scan,
    )  # fmt: skip


def day_text(moment: Micros) -> str | None:
    """The day of a moment at its beginning, as dates of documents are kept."""
    return (iso(moment) or "")[:10] if moment else None
