"""Exports one call as a document that says what happened and can be checked without the store."""

from __future__ import annotations

import asyncio
import base64
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from perdure.errors import RejectedError, Rejection
from perdure.journal import Machine, Record
from perdure.payload import canonical
from perdure.sources import Id, id_text, iso
from perdure.store.audit.audit_reader import Reader, plain
from perdure.store.audit.erased_ids import Machines
from perdure.store.audit.payload_references import named_by
from perdure.store.audit.store_verification import Progress
from perdure.store.audit.stored_states import stored_state
from perdure.store.checksums import checked
from perdure.store.delta_read import DeltaReader
from perdure.store.seal_keys import key_changes, known_keys, told_changes
from perdure.store.seals.merkle import proof
from perdure.store.seals.seal import SEALED_AT_ONCE, Leaf, Seal, heads_of
from perdure.store.signing_keys import PublicKeys
from perdure.store.store import Store

FORMAT = "perdure.export/1"
IDS_AT_ONCE = 500
LONGEST = 2**53 - 1
"""Integers beyond this lose digits in many readers of JSON."""
SEALS_HELD = 8


async def export(
    store: Store,
    machines: Machines,
    ids: Iterable[Id] | None,
    out: Path,
    public_keys: PublicKeys,
    *,
    progress: Progress | None = None,
) -> int:
    """Write `<id>.json` into a folder for each call, for all of them when `ids` is None; returns how many."""
    await asyncio.to_thread(out.mkdir, parents=True, exist_ok=True)
    written = 0
    for id in ids if ids is not None else ():
        written += await _write(store, machines, id, out, public_keys)
    if ids is None:
        async for (each,) in Reader(store.driver).pages("scan_ids", b"", 0, IDS_AT_ONCE):
            written += await _write(store, machines, Id(each), out, public_keys)
            if progress is not None:
                progress("calls", written, 0)
    return written


async def _write(store: Store, machines: Machines, id: Id, out: Path, public_keys: PublicKeys) -> int:
    document = await document_of(store, machines, id, public_keys)
    await asyncio.to_thread((out / f"{id_text(id)}.json").write_bytes, document)
    return 1


async def document_of(store: Store, machines: Machines, id: Id, public_keys: PublicKeys) -> bytes:
    """The document of one call as canonical JSON; raises when there is no such call."""
    reader = Reader(store.driver)
    rows = await reader.fetch("load_aggregate", id=id)
    if not rows:
        raise RejectedError(Rejection("not_found", "export", "call", id_text(id), "there is no such call"))
    loaded = checked(plain(rows[0]))
    machine = machines[loaded.kind]
    records = [
        (sequence, body, hash)
        async for sequence, body, hash in reader.pages("read_records", 0, 0, aggregate=id)
        if sequence <= loaded.version
    ]
    summary = summary_of(machine, await stored_state(reader, machine, id, loaded.state))
    seals = await SealReader(reader).of(id, loaded.version)
    signers = {each["key_id"] for each in seals}
    changes = await key_changes(reader.fetch)
    known = known_keys(public_keys, changes)
    content = {
        "format": FORMAT,
        "id": id_text(id),
        "tenant": loaded.tenant,
        "kind": loaded.kind,
        "summary": summary,
        "history": [history_item(machine, *record) for record in records],
        "payloads": [] if summary["is_erased"] else await _payloads(reader, id),
        "seals": seals,
        "public_keys": {name: known[name].hex() for name in signers & set(known)},
        "key_changes": told_changes(changes),
    }
    return sealed_document(content)


def sealed_document(content: dict[str, Any]) -> bytes:
    """The document with the digest over all the rest of it."""
    return canonical({**content, "digest": digest_of(content)})


def digest_of(content: dict[str, Any]) -> str:
    return f"sha256:{sha256(canonical(content)).hexdigest()}"


def summary_of(machine: Machine[Any, Any, Any], state: Any) -> dict[str, Any]:
    """How it stands, as replaying the history must give it again."""
    status, ended_at = machine.status(state)
    named = named_by(machine, state)
    return {
        "status": status,
        "ended_at": iso(ended_at) if ended_at else None,
        "is_erased": named.is_erased,
        "payloads": sorted(f"sha256:{hash.hex()}" for hash in named.needed),
        "state": base64.b64encode(machine.encode(state)).decode(),
    }


def history_item(machine: Machine[Any, Any, Any], sequence: int, body: bytes, hash: bytes) -> dict[str, Any]:
    """One record in words, with the bytes it was made from."""
    record: Record[Any] = machine.records.decode(body)
    return {
        "sequence": sequence,
        "at": iso(record.at),
        "command": record.command,
        "principal": record.principal,
        "trace": record.trace,
        "entries": [{"name": type(entry).__name__, "fields": words(entry)} for entry in record.entries],
        "body": base64.b64encode(body).decode(),
        "hash": hash.hex(),
    }


def words(value: Any) -> Any:
    """Any stored value as JSON: hashes and long numbers as text, structs by the names of their fields."""
    if isinstance(value, bytes):
        return f"sha256:{value.hex()}"
    if isinstance(value, int) and abs(value) > LONGEST:
        return str(value)
    if isinstance(value, (tuple, list)):
        return [words(each) for each in value]
    if isinstance(value, dict):
        return {str(key): words(each) for key, each in value.items()}
    if hasattr(value, "__struct_fields__"):
        return {field: words(getattr(value, field)) for field in value.__struct_fields__}
    return value


async def _payloads(reader: Reader, id: bytes) -> list[dict[str, str]]:
    wholes, kept = DeltaReader(reader.fetch), {}
    async for _, hash, data in reader.pages("payload_page", 0, 0, 20, aggregate=id):
        kept[hash] = base64.b64encode(await wholes.of(id, hash, data)).decode()
    return [{"hash": f"sha256:{hash.hex()}", "data": kept[hash]} for hash in sorted(kept)]


class SealReader:
    """Finds the seals that list an aggregate. What a seal covers is read once for all that it lists."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._covered: OrderedDict[int, list[Leaf]] = OrderedDict()

    async def of(self, id: bytes, version: int) -> list[dict[str, Any]]:
        """Each seal that lists the call, with the way from the call's head to the seal's root."""
        found: list[dict[str, Any]] = []
        covered = 0
        async for sequence, position in self._reader.pages("record_positions", 0, 0, aggregate=id):
            if sequence <= covered or sequence > version:
                continue
            rows = await self._reader.fetch("seal_over", position=position)
            if not rows:
                break
            seal = Seal.from_row(rows[0])
            leaves = await self._leaves(seal)
            place = bisect_left(leaves, id, key=lambda leaf: leaf.aggregate)
            if place == len(leaves) or leaves[place].aggregate != id or leaves[place].sequence > version:
                break
            covered = leaves[place].sequence
            found.append(seal_item(seal, leaves, place))
        return found

    async def _leaves(self, seal: Seal) -> list[Leaf]:
        known = self._covered.get(seal.number)
        if known is None:
            before = await self._reader.fetch("read_seals", after=seal.number - 2, most=1) if seal.number > 1 else []
            after = before[0][2] if before else 0
            rows = await self._reader.fetch("journal_since", after=after, most=SEALED_AT_ONCE)
            known = self._covered[seal.number] = heads_of(plain(row) for row in rows if row[0] <= seal.cursor)
            if len(self._covered) > SEALS_HELD:
                self._covered.popitem(last=False)
        return known


def seal_item(seal: Seal, leaves: list[Leaf], place: int) -> dict[str, Any]:
    return {
        "number": seal.number,
        "at": seal.at,
        "cursor": seal.cursor,
        "root": seal.root.hex(),
        "previous": seal.previous.hex(),
        "hash": seal.hash.hex(),
        "key_id": seal.key_id,
        "signature": seal.signature.hex(),
        "sequence": leaves[place].sequence,
        "proof": [
            {"side": "left" if step.is_left else "right", "hash": step.hash.hex()}
            for step in proof([leaf.data() for leaf in leaves], place)
        ],
    }
