"""The state of a document: its identity and its numbered versions, as the kernel stores it."""

from __future__ import annotations

from typing import Literal

import msgspec

from perdure.durations import Span

STATE_VERSION = 1
MAX_VERSIONS = 999
"""Versions of one document."""

Status = Literal["pending", "verified", "rejected", "expired", "superseded"]
STATUSES: tuple[Status, ...] = ("pending", "verified", "rejected", "expired", "superseded")
ENDED: frozenset[str] = frozenset({"rejected", "expired", "superseded"})
"""Statuses of documents that are no evidence any more: their retention has begun."""
Check = Literal["", "waiting", "done", "refused"]
"""A check that a verb makes of a version: not asked for, under way, done, or ended with a refusal."""


class Compact(msgspec.Struct, frozen=True, array_like=True):
    """Stored as a list."""


class Blob(Compact, frozen=True):
    """Content outside the database: its hash, its size, its media type, and the hash of the list of its parts."""

    hash: bytes
    size: int
    media_type: str
    parts: bytes


class Version(Compact, frozen=True):
    """One submission; `data`, `details`, `extracted` and `note` are hashes of payloads."""

    number: int
    received_at: int
    by: str
    behind: tuple[str, ...]
    source: str
    details: bytes
    """The name of the file and the id in the system it came from."""
    data: bytes | None = None
    blob: Blob | None = None
    valid_from: int = 0
    valid_until: int = 0
    status: Status = "pending"
    decided_at: int = 0
    decided_by: str = ""
    reason: str = ""
    note: bytes | None = None
    extracted: bytes | None = None
    confidence: float = 0.0
    extraction: Check = ""
    scan: Check = ""
    correlation: str = ""
    """The key of the task that asked for it."""

    @property
    def is_open(self) -> bool:
        """Whether it is, or may still become, evidence."""
        return self.status in ("pending", "verified")

    @property
    def is_readable(self) -> bool:
        """Whether anybody may read it: what must be scanned is read by nobody before."""
        return self.scan in ("", "done")


class Document(Compact, frozen=True):
    """A document with all its versions."""

    version: int
    type: str
    subject: str
    created_at: int
    created_by: str
    source: str
    parent: str = ""
    correlation: str = ""
    keep: Span | None = None
    versions: tuple[Version, ...] = ()
    changes: int = 0
    """Changes of status, validity or version so far: each one is told to whoever waits for the document."""
    ended_at: int = 0
    superseded_by: str = ""
    superseded_at: int = 0
    erased_at: int = 0

    @property
    def current(self) -> Version | None:
        """The version that the status of the document is of."""
        verified = next((each for each in reversed(self.versions) if each.status == "verified"), None)
        return verified or (self.versions[-1] if self.versions else None)

    @property
    def takes_more(self) -> bool:
        """Whether the next version is one of this document: nothing came so far, or what came was rejected."""
        return not self.versions or self.status == "rejected"

    @property
    def status(self) -> Status:
        if self.superseded_at:
            return "superseded"
        current = self.current
        return "pending" if current is None else current.status
