"""Checksums and slots of stored rows, the same on both stores."""

from __future__ import annotations

from hashlib import blake2b, sha256

from perdure.errors import DamagedPayloadError, QuarantinedError
from perdure.journal import ParkedRow, link
from perdure.kernel.ports import APPLIED, Chain, InboxRow, Loaded, RecordRow
from perdure.sources import Id, id_text

SUM_BYTES = 16
BYTES = (bytes, bytearray, memoryview)
_SUM = blake2b(digest_size=SUM_BYTES)
SETTLED = "applied"
"""The answer of a message that was acted on later than it came."""
WAYS_ON = "It is quarantined; other work goes on. Restore it from a backup, amend its data or cancel it."


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


def stored_id(value: object) -> Id:
    """The id in a column; an error where an index or a row holds something else."""
    if isinstance(value, BYTES):
        return Id(bytes(value))
    raise QuarantinedError(
        "read", "row of the store by its", "id", "it holds no id where one was written",
        "Let the database check itself with `perdure db check`.", aggregate=b"", place="row",
    )  # fmt: skip


ENDED = frozenset({"completed", "failed", "cancelled", "terminated", "compensated", "compensation_failed", "erased"})
"""States in which data can be erased."""

AggregateRow = tuple[bytes, str, str, int, str, int, bytes, bytes, bytes]


def checked(row: AggregateRow) -> Loaded:
    """The aggregate behind a row, or an error that names the row."""
    id, tenant, kind, version, status, ended_at, state, head, stored = row
    id = stored_id(id)
    if not isinstance(state, BYTES) or not isinstance(head, BYTES) or isinstance(stored, str):
        raise damaged(id, "aggregate", "it holds something else where bytes were")
    state, head = bytes(state), bytes(head)
    if checksum(id, tenant, kind, version, status, ended_at, state, head) != stored:
        raise damaged(id, "aggregate", "its bytes no longer match their checksum")
    return Loaded(id, tenant, kind, version, state, head)


def is_erased(row: AggregateRow) -> bool:
    """Whether the tombstone of an aggregate is written: it ended, and the time that retention counts from is taken."""
    return row[4] in ENDED and row[5] == 0


def checked_payload(aggregate: bytes, hash: bytes, data: bytes) -> bytes:
    """The bytes behind a hash, or an error that names both."""
    if isinstance(data, str):
        raise damaged_payload(aggregate, hash, "text")
    if (actual := sha256(data).digest()) != hash:
        raise damaged_payload(aggregate, hash, f"sha256:{actual.hex()}")
    return data


def damaged_payload(aggregate: bytes, hash: bytes, actual: str, differs: str = "payload hash") -> DamagedPayloadError:
    """The error that names the payload which was written and what is there in its place."""
    expected = f"sha256:{hash.hex()}"
    return DamagedPayloadError(
        "read", "payload", id_text(aggregate), f"the {differs} differs: expected {expected}, actual {actual}",
        WAYS_ON, aggregate=aggregate, place="payload", differs=differs, expected=expected, actual=actual,
    )  # fmt: skip


def missing_payload(aggregate: bytes, hash: bytes) -> DamagedPayloadError:
    """The error that names a payload no row holds, although no tombstone erased it."""
    return damaged_payload(aggregate, hash, "no row", "payload")


def record_of(aggregate: bytes, row: tuple[int, bytes, bytes]) -> RecordRow:
    """A record as stored; one that holds something else than bytes is damaged."""
    sequence, body, hash = row
    if isinstance(body, BYTES) and isinstance(hash, BYTES):
        return RecordRow(sequence, bytes(body), bytes(hash))
    raise damaged(aggregate, "journal", f"record {sequence} holds no bytes")


def checked_chain(chain: Chain, after: int, previous: bytes, records: list[RecordRow]) -> list[RecordRow]:
    """Records that follow one another in hash and number up to the head, or an error that names where they do not."""
    for expected, record in enumerate(records, after + 1):
        if record.sequence != expected:
            raise damaged(chain.id, "journal", f"record {expected} is missing and record {record.sequence} follows")
        if link(previous, record.body) != record.hash:
            raise damaged(chain.id, "journal", f"record {expected} no longer matches its hash")
        if expected == chain.version and record.hash != chain.head:
            raise damaged(chain.id, "journal", f"record {expected} is not the head of the journal")
        previous = record.hash
    return records


def checked_entity(
    tenant: str, entity: str, key: str, data: bytes, hash: bytes, *, version: int = 0, is_erased: bool = False
) -> bytes:
    """The bytes of a record, or of one version of it, or an error that names entity and key; none when erased."""
    # A file edited by hand may hold text where bytes were: damage like any other.
    if not isinstance(data, str) and (sha256(data).digest() == bytes(hash) or (is_erased and not data)):
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
    """The error that names the rows of an aggregate which are not what was written."""
    return QuarantinedError("read", place, id_text(aggregate), fact, WAYS_ON, aggregate=aggregate, place=place)
