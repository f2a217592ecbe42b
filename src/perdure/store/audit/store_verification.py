"""The audit of a whole store: walks everything page by page, names all it finds, sets damaged calls aside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import NamedTuple

from perdure.sources import Micros
from perdure.store.audit.aggregate_audit import AggregateAudit
from perdure.store.audit.audit_reader import PAGE, Reader, UnreadableError, plain
from perdure.store.audit.derived_rows import check_timers
from perdure.store.audit.document_audit import BlobCheck, check_blobs, check_texts
from perdure.store.audit.erased_ids import Machines
from perdure.store.audit.findings import Report, found
from perdure.store.audit.journalled_rows import Epoch
from perdure.store.audit.orphan_checks import check_loose, check_stretch
from perdure.store.audit.read_ahead import read_ahead
from perdure.store.audit.seal_audit import SealAudit
from perdure.store.audit.unique_keys import check_keys
from perdure.store.checksums import damaged
from perdure.store.quarantine import MOST
from perdure.store.signing_keys import PublicKeys
from perdure.store.store import Store

Progress = Callable[[str, int, int], None]
"""Told the stage, how much of it is done and how much there is (0: not known)."""

CHECKED_TOGETHER = 8
ENTITY = "entity"


class Anchor(NamedTuple):
    """A seal noted outside the database (`Report.last_seal`): the chain must still hold it."""

    number: int
    hash: str


async def verify(
    store: Store,
    machines: Machines,
    public_keys: PublicKeys,
    *,
    progress: Progress | None = None,
    full: bool = True,
    require_sealed: bool = False,
    anchor: Anchor | None = None,
    dry: bool = False,
    blobs: BlobCheck | None = None,
) -> Report:
    """Check everything stored against everything else; never stops at a finding.

    Runs beside workers: what changes while it is looked at is looked at again. Not `full`: rows, heads and the
    chain of seals only. Unless `dry`, aggregates with findings are entered in the quarantine, and, when everything
    was looked at, those without any are taken out. `blobs` says of a tenant's blob what is wrong with its bytes.
    """
    reader, report = Reader(store.driver), Report(findings=[])
    tell = progress or (lambda stage, done, total: None)
    seals = SealAudit(reader, public_keys, report, full)
    await _check_seals(seals, report, require_sealed, anchor)
    tell("seals", report.seals, report.seals)
    epoch = await _check_aggregates(reader, machines, report, full, tell)
    if full:
        await _check_the_rest(reader, machines, report, epoch, store.now())
        await check_texts(reader, report)
        if blobs is not None:
            await check_blobs(reader, report, blobs)
        tell("rows", report.timers + report.entities, 0)
    if not dry:
        await _quarantine(store, report)
        if full and not report.omitted:
            await _release(store, report)
    return report


async def check_heads(store: Store) -> Report:
    """The quickest audit there is: every row fits its checksum and the last record of its chain."""
    report = Report(findings=[])
    await _check_aggregates(Reader(store.driver), {}, report, False, lambda stage, done, total: None)
    return report


async def _check_seals(audit: SealAudit, report: Report, require_sealed: bool, anchor: Anchor | None) -> None:
    try:
        noted = await audit.check(anchor.number if anchor else 0)
    except UnreadableError as error:
        report.add([found("AUD025", "seal", str(error))])
        return
    if anchor is not None and (noted is None or noted.hex() != anchor.hash):
        report.add([found("AUD063", f"seal {anchor.number}", f"its hash was {anchor.hash}")])
    if report.unsealed and not require_sealed:
        report.warnings.append(_unsealed(report))
    if require_sealed and report.unsealed:
        report.add([found("AUD062", "journal", f"{report.unsealed} records after position {audit.cursor}")])


def _unsealed(report: Report) -> str:
    if not report.seals:
        return "Nothing is sealed yet: a history written anew as a whole would not be seen."
    are = "record is" if report.unsealed == 1 else "records are"
    return f"{report.unsealed} {are} younger than the last seal, and guarded by their chains alone."


async def _check_aggregates(reader: Reader, machines: Machines, report: Report, full: bool, tell: Progress) -> Epoch:
    total = await reader.number("count_aggregates")
    audit = AggregateAudit(reader, machines, report, full)
    if full:
        await audit.epoch.find(report)
    async for after, ids, until in _stretches(reader):
        ahead = await read_ahead(reader, after, until) if full else reader
        for start in range(0, len(ids), CHECKED_TOGETHER):
            await asyncio.gather(*[audit.check(id, ahead) for id in ids[start : start + CHECKED_TOGETHER]])
        if full:
            await check_stretch(reader, report, after, until)
            await audit.named.check()
        tell("aggregates", report.aggregates, total)
        await asyncio.sleep(0)  # a worker in the same process goes on meanwhile
    return audit.epoch


async def _stretches(reader: Reader) -> AsyncIterator[tuple[bytes, list[bytes], bytes]]:
    """All ids a page at a time, each with the bounds it stands for; together they leave nothing out."""
    after, is_last = b"", False
    while not is_last:
        rows = await reader.fetch("scan_ids", after=after, most=PAGE)
        ids = [plain(row)[0] for row in rows]
        is_last = len(ids) < PAGE
        until = b"\xff" * 17 if is_last else ids[-1]
        yield after, ids, until
        after = until


async def _check_the_rest(reader: Reader, machines: Machines, report: Report, epoch: Epoch, now: Micros) -> None:
    try:
        await check_timers(reader, machines, report)
    except UnreadableError as error:
        report.add([found("AUD025", "timer", str(error))])
    await check_loose(reader, report, epoch, now, machines)
    await check_keys(reader, report)


async def _quarantine(store: Store, report: Report) -> None:
    places: Iterable[tuple[bytes, str, str]] = {
        (each.id, each.place, each.sentence) for each in report.findings if each.id
    }
    for id, place, sentence in sorted(places):
        await store.quarantine(damaged(id, place, sentence.rstrip(".")))


async def _release(store: Store, report: Report) -> None:
    """Take out of the quarantine whatever was found whole."""
    damaged_ids, places = {each.id for each in report.findings}, {each.place for each in report.findings}
    for row in await store.quarantined(MOST):
        id, place = bytes(row[0]), row[1]
        if place.startswith(ENTITY):
            is_whole = not any(each.startswith(ENTITY) for each in places)
        else:
            is_whole = id not in damaged_ids and bool(await store.driver.fetch("is_aggregate", id=id))
        if is_whole:
            await store.set_aside.release(id)
