"""The row journal: one record, in the same commit, for each change of a row that no aggregate answers for."""

from __future__ import annotations

from typing import Any

from perdure.journal.row_digests import row_digest, row_record

Statement = tuple[str, dict[str, Any]]

DEFINITION, ANSWER, CURSOR, LEASE, SERVES, QUARANTINE = (
    "definition",
    "answer",
    "cursor",
    "worker",
    "serves",
    "quarantine",
)
OUTBOX = "channel_outbox"
STORE = "store"
"""Of the store itself: its record `ANCHORED` parts rows that came before anchors from those that came after."""
ANCHORED = ("anchored",)
SEAL_KEY, IN_FORCE = "seal_key", ("in force",)
"""Of the key that seals are made with: a record for each key that came into force."""
GONE = b""
"""The digest of a row that is no more."""


def telling(
    table: str, place: tuple[str, ...], digest: bytes, now: int, query: str = "add_row_record", /, **more: Any
) -> Statement:
    """The statement that tells how a row stands from now on."""
    id, body, hash = row_record(table, place, digest, now)
    return query, {"aggregate": id, "body": body, "hash": hash, **more}


def definition_digest(hash: bytes, short: int, name: str, version: int, body: bytes, seen_at: int) -> bytes:
    return row_digest(DEFINITION, hash, short, name, version, body, seen_at)


def answer_digest(tenant: str, principal: str, key: str, request: bytes, status: int, body: bytes, at: int) -> bytes:
    return row_digest(ANSWER, tenant, principal, key, request, status, body, at)


def cursor_digest(tenant: str, name: str, value: str) -> bytes:
    return row_digest(CURSOR, tenant, name, value)


def lease_digest(number: int, host: str, process: str, schema: int, is_fenced: int) -> bytes:
    return row_digest(LEASE, number, host, process, schema, is_fenced)


def serves_digest(worker: int, definitions: list[int]) -> bytes:
    return row_digest(SERVES, worker, sorted(definitions))


def outbox_digest(
    tenant: str, effect_id: str, channel: str, recipient: str, correlation_id: str, body: str, created_at: int
) -> bytes:
    return row_digest(OUTBOX, tenant, effect_id, channel, recipient, correlation_id, body, created_at)


def quarantine_digest(aggregate: bytes, place: str, fact: str, found_at: int) -> bytes:
    return row_digest(QUARANTINE, aggregate, place, fact, found_at)
