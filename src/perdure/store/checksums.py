"""Checksums and slots of stored rows, the same on both stores."""

from __future__ import annotations

from hashlib import blake2b, sha256

from perdure.errors import QuarantinedError
from perdure.journal import ParkedRow, link
from perdure.kernel.ports import APPLIED, InboxRow, Loaded, RecordRow
from perdure.sources import Id, id_text

SUM_BYTES = 16
_SUM = blake2b(digest_size=SUM_BYTES)
SETTLED = "applied"
"""The answer of a message that was acted on later than it came."""


def checksum(
    id: bytes, tenant: str, kind: str, version: int, status: str, ended_at: int, state: bytes, head: bytes
) -> bytes:
    """Sixteen bytes over every column of an aggregate's row."""
    text = f"{tenant}\0{kind}\0{version}\0{status}\0{ended_at}\0".encode("utf-8", "surrogateescape")
    sum = _SUM.copy()
    sum.update(id + head + text + state)
    return sum.digest()


def slot(row: ParkedRow, aggregate: bytes | bytearray) -> bytes:
    """Empty while a call waits; otherwise the token's own place, so that the key is free for others."""
    return b"" if row.status == 0 and row.kind == "call" else b"%s%d.%d" % (aggregate, row.step, row.token)


def message_sum(row: InboxRow) -> bytes:
    """Sixteen bytes over every column of a message's row."""
    *head, aggregate, body, name, expires_at = row
    text = "\0".join(map(str, (*head, name, expires_at))).encode("utf-8", "surrogateescape")
    data = b"".join(b"-" if each is None else b"+" + each for each in (aggregate, body))
    return blake2b(data + text, digest_size=SUM_BYTES).digest()


def message_sums(row: InboxRow) -> bytes:
    """The checksum of a row, and the one it has once it is settled: that happens without a look, whatever it was."""
    return message_sum(row) + message_sum(row._replace(status=APPLIED, answer=SETTLED, body=None))


def is_whole(row: InboxRow, sums: bytes) -> bool:
    """Whether a row is what was written; of one that is older than checksums nobody knows."""
    if not sums:
        return True
    if any(isinstance(each, str) for each in (row.aggregate, row.body, sums)):
        return False
    return (message_sums(row) if len(sums) > SUM_BYTES else message_sum(row)) == sums


AggregateRow = tuple[bytes, str, str, int, str, int, bytes, bytes, bytes]


def checked(row: AggregateRow) -> Loaded:
    """The aggregate behind a row, or an error that names the row."""
    id, tenant, kind, version, status, ended_at, state, head, stored = row
    id = bytes(id)
    if isinstance(state, str) or isinstance(head, str) or isinstance(stored, str):
        raise damaged(id, "aggregate", "it holds text where bytes were")
    state, head = bytes(state), bytes(head)
    if checksum(id, tenant, kind, version, status, ended_at, state, head) != stored:
        raise damaged(id, "aggregate", "its bytes no longer match their checksum")
    return Loaded(Id(id), tenant, kind, version, state, head)


def checked_payload(aggregate: bytes, hash: bytes, data: bytes) -> bytes:
    """The bytes behind a hash, or an error that names both."""
    if isinstance(data, str) or sha256(data).digest() != hash:
        raise damaged(aggregate, "payload", f"its bytes no longer have the hash sha256:{hash.hex()}")
    return data


def checked_chain(aggregate: bytes, previous: bytes, records: list[RecordRow]) -> list[RecordRow]:
    """Records that follow one another from a hash on, or an error that names the first that does not."""
    for record in records:
        if link(previous, record.body) != record.hash:
            raise damaged(aggregate, "journal", f"record {record.sequence} no longer matches its hash")
        previous = record.hash
    return records


def checked_entity(tenant: str, entity: str, key: str, data: bytes, hash: bytes, *, version: int = 0) -> bytes:
    """The bytes of a record, or of one version of it, or an error that names entity and key."""
    # A file edited by hand may hold text where bytes were: damage like any other.
    if not isinstance(data, str) and sha256(data).digest() == bytes(hash):
        return bytes(data)
    which = f"version {version} of the record" if version else "the record"
    fact = f"the bytes of {which} '{entity}/{key}' no longer have their hash"
    raise QuarantinedError(
        "read", "record", f"{entity}/{key}", fact,
        "Other records can be used. Compare with its history and a backup, then see `perdure audit verify`.",
        aggregate=sha256(f"{tenant}\0{entity}\0{key}".encode()).digest()[:16], place="entity",
        entity=entity, key=key, version=version,
    )  # fmt: skip


def damaged(aggregate: bytes, place: str, fact: str) -> QuarantinedError:
    return QuarantinedError(
        "read", place, id_text(aggregate), fact,
        "It is set aside; other work goes on. Compare with a backup, then see `perdure audit verify`.",
        aggregate=aggregate, place=place,
    )  # fmt: skip
