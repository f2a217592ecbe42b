"""Checks what documents are found by, and the blobs they need."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from perdure.errors import PerdureError, QuarantinedError
from perdure.journal import SearchedMachine
from perdure.payload import digest_text
from perdure.store.audit.audit_reader import PAGE, Reader, UnreadableError, plain
from perdure.store.audit.findings import Finding, Report, found
from perdure.store.delta_read import DeltaReader

BlobCheck = Callable[[str, bytes], Awaitable[str]]
"""Of a tenant and a hash: empty when the stored bytes have it, otherwise `missing` or `changed`."""
MOST = 100


async def compare_texts(reader: Reader, machine: SearchedMachine, id: bytes, state: Any) -> list[Finding]:
    """Make the words of every text again from the data, and compare them with those that are stored."""
    stored = {number: " ".join(sorted(words.split())) for number, words in await reader.fetch("texts_of", aggregate=id)}
    payloads, wanted = DeltaReader(reader.fetch), dict[int, str]()
    try:
        for number, hashes in machine.texts(state).items():
            wanted[number] = machine.words(state, number, [await _body(reader, payloads, id, hash) for hash in hashes])
    except (QuarantinedError, KeyError, ValueError):
        return []  # whatever is wrong with a payload is a finding of its own
    wrong = sorted(number for number in stored.keys() | wanted.keys() if stored.get(number) != wanted.get(number))
    return [found("AUD035", "document_text", f"text {wrong[0]} of {len(wanted)} differs", id)] if wrong else []


async def _body(reader: Reader, payloads: DeltaReader, id: bytes, hash: bytes) -> bytes:
    rows = await reader.fetch("read_payload", aggregate=id, hash=hash)
    if not rows:
        raise KeyError(hash)
    return await payloads.of(id, hash, plain(rows[0])[0])


async def check_texts(reader: Reader, report: Report) -> None:
    """Find texts of no document, and an index of words that is not that of its texts."""
    try:
        for number, version in map(plain, await reader.fetch("stray_texts", most=MOST)):
            report.add([found("AUD035", "document_text", f"text {version} belongs to no document ({number})")])
    except UnreadableError as error:
        report.add([found("AUD025", "document_text", str(error))])
    try:
        await reader.driver.write("check_texts")
    except PerdureError as error:
        await reader.driver.fetch("schema_version")
        report.add([found("AUD035", "document_text", f"the index of words is damaged ({error.fact})")])


async def check_blobs(reader: Reader, report: Report, check: BlobCheck) -> None:
    """Read every blob that a document needs and compare it with its hash."""
    after: tuple[str, bytes] = ("", b"")
    while True:
        rows = await reader.fetch("scan_blobs", after_tenant=after[0], after_hash=after[1], most=PAGE)
        for tenant, hash in map(plain, rows):
            after = (tenant, hash)
            report.blobs += 1
            if fault := await check(tenant, hash):
                await _report(reader, report, tenant, hash, "AUD037" if fault == "missing" else "AUD036")
        if len(rows) < PAGE:
            return


async def _report(reader: Reader, report: Report, tenant: str, hash: bytes, code: str) -> None:
    for (id,) in map(plain, await reader.fetch("documents_with_blob", tenant=tenant, hash=hash, most=MOST)):
        report.add([found(code, "blob", digest_text(hash), id)])
