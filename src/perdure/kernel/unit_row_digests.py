"""Row digests (anchors) of a unit: one for each row it brings along, the same when written and when audited."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from perdure.journal import Anchor, Notice
from perdure.journal.notice_routes import route_body
from perdure.journal.row_digests import row_digest
from perdure.kernel.ports import PENDING, Attachments, EntityWrite, InboxRow

MESSAGE, SETTLED, START, INDEX, REINDEX, ENTITY = "inbox", "settled", "idempotency", "index_entry", "reindex", "entity"
_CHANGE = b"\0"
"""Payloads that are changes of others begin with it; JSON never does."""


def notice_row(tenant: str, id: bytes | None, at: int, notice: Notice) -> InboxRow:
    """The row that tells another aggregate of a notice."""
    return InboxRow(tenant, notice.message_id, notice.kind, "", at, PENDING, "", id, route_body(notice.route))


def has_rows(brought: Attachments) -> bool:
    """Whether a command brings rows that need an anchor; most bring payloads alone, which entries name."""
    is_message = brought.inbox is not None or brought.settles is not None or brought.dispatched is not None
    return bool(is_message or brought.index or brought.idempotency or brought.entities or brought.reindexes)


def anchors_of(
    tenant: str, id: bytes, at: int, attachments: Sequence[Attachments], notices: Sequence[Notice]
) -> list[Anchor]:
    """The anchors of everything that is committed with the records of one aggregate."""
    anchors: list[Anchor] = []
    for brought in attachments:
        if (row := brought.inbox) is not None:
            anchors.append(Anchor(MESSAGE, row.message_id, message_digest(row)))
        for settled in (brought.settles, brought.dispatched):
            if settled is not None:
                anchors.append(Anchor(SETTLED, settled[1], b""))
        if brought.idempotency is not None:
            key, request = brought.idempotency
            anchors.append(Anchor(START, key, start_digest(tenant, key, id, request)))
        if brought.reindexes:
            anchors.append(Anchor(REINDEX, "", b""))
        if brought.index:
            _add_index(anchors, tenant, id, brought)
        for write in brought.entities:
            anchors.append(Anchor(ENTITY, "", written_digest(tenant, id, at, write)))
    for notice in notices:
        anchors.append(Anchor(MESSAGE, notice.message_id, message_digest(notice_row(tenant, id, at, notice))))
    return anchors


def _add_index(anchors: list[Anchor], tenant: str, id: bytes, brought: Attachments) -> None:
    """A short value could be guessed from its digest once it is erased, so the data it comes from is the key."""
    origins = brought.payloads if brought.index_source is None else [brought.index_source]
    source = secret = b""
    for hash, data in origins:
        if not data.startswith(_CHANGE):
            source, secret = hash, index_secret(data)
            break
    for verb, field, value in brought.index:
        digest = index_digest(secret, tenant, verb, field, value, id)
        anchors.append(Anchor(INDEX, f"{verb}\0{field}", source + digest))


def message_digest(row: InboxRow) -> bytes:
    body = None if row.body is None else sha256(row.body).digest()
    return row_digest(MESSAGE, *row[:8], body, *row[9:])


def settled_digest(tenant: str, message_id: str) -> bytes:
    """Of a message that was acted on, whatever else it was."""
    return row_digest(SETTLED, tenant, message_id)


def start_digest(tenant: str, key: str, id: bytes, request: bytes) -> bytes:
    return row_digest(START, tenant, key, id, request)


def index_secret(data: bytes) -> bytes:
    """What nobody knows any more once the data is erased."""
    return sha256(b"perdure\0index\0" + data).digest()


def index_digest(secret: bytes, tenant: str, verb: str, field: str, value: str, id: bytes) -> bytes:
    return row_digest(INDEX, secret, tenant, verb, field, value, id)


def written_digest(tenant: str, id: bytes, at: int, write: EntityWrite) -> bytes:
    hash = sha256(write.data).digest()
    version = write.expected + 1
    return version_digest(
        tenant, write.entity, write.key, version, int(write.is_deleted), hash, id, at, write.principal
    )


def version_digest(
    tenant: str, entity: str, key: str, version: int, is_deleted: int, hash: bytes, id: bytes, at: int, principal: str
) -> bytes:
    return row_digest(ENTITY, tenant, entity, key, version, is_deleted, hash, id, at, principal)
