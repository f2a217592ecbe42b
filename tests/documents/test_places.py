"""Documents whose files lie in a folder, in a bucket in memory and, in a deep run, on a real server of S3."""

from __future__ import annotations

import asyncio
import os
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from perdure.app import Perdure, runtime
from perdure.app.audit.store_audit import verify_store
from perdure.blobs.content_parts import PART_BYTES
from perdure.business_calendar import BusinessCalendar, Calendars
from perdure.errors import BlobDamagedError, DefinitionError, RejectedError, StoreSettingError
from perdure.sources import SECOND
from perdure.testing import Sandbox, VirtualSources
from perdure.verbs.loader import load_text
from tests.blobs.places import FolderPlace, Place, blob_names
from tests.documents.papers import DEFINITIONS, PDF, PNG

HOUR = 3600 * SECOND


class Stopped(BaseException):
    """The process is gone in the middle of something."""


def opened(place: Place, url: str = "sqlite://", **more: Any) -> Any:
    return Sandbox.open(url, definitions=load_text(DEFINITIONS), blobs=place.setting, **more)


async def with_letter(perdure: Sandbox, content: bytes = PDF) -> str:
    blob = await perdure.documents.upload(content)
    return (await perdure.documents.create("letter", "anna", blob=blob.blob)).id


@pytest.mark.req("T8")
@pytest.mark.parametrize(
    ("how", "code"), [("changed", "AUD036"), ("truncated", "AUD036"), ("swapped", "AUD036"), ("missing", "AUD037")]
)
async def test_a_file_that_was_tampered_with_is_found_by_the_audit_and_never_served(
    how: str, code: str, blob_place: Place
) -> None:
    async with opened(blob_place) as perdure:
        id = await with_letter(perdure)
        (name,) = await blob_names(blob_place)
        other = PDF.replace(b"x", b"y", 1)
        await with_letter(perdure, other)
        if how == "missing":
            await blob_place.delete(name)
        else:
            forged = {"changed": b"%PDF-9" + PDF[6:], "truncated": PDF[:-1], "swapped": other}
            await blob_place.write(name, forged[how])
        report = await verify_store(perdure, {}, is_dry=True)
        assert [(each.code, each.aggregate) for each in report.findings] == [(code, id)]
        with pytest.raises(BlobDamagedError):
            _ = [part async for part in perdure.documents.download(id, 1)]


class StopsAt:
    """A storage that ends the process before its n-th request: nothing is done from then on, no tidying either."""

    def __init__(self, inner: Any, at: int) -> None:
        self._inner, self._left = inner, at

    def _step(self) -> None:
        self._left -= 1
        if self._left <= 0:
            raise Stopped

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not name.endswith("_async") and name != "list":
            return found

        def asked(*given: Any, **more: Any) -> Any:
            self._step()
            return found(*given, **more)

        return asked


def _stop_in(perdure: Sandbox, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """End the process before its n-th step on files, whatever the storage is."""
    from perdure.blobs import folder_storage  # noqa: PLC0415

    blobs: Any = perdure.runtime.blobs
    if hasattr(blobs, "_store"):
        stops = StopsAt(blobs._store, at)
        monkeypatch.setattr(blobs, "_store", stops)
        monkeypatch.setattr(blobs.objects, "_store", stops)
        return
    steps = StopsAt(None, at)
    for owner, name in (
        (folder_storage, "_begin"), (folder_storage, "_finish"), (folder_storage, "_described"),
        (folder_storage.os, "utime"), (folder_storage.os, "fsync"), (Path, "rename"), (Path, "unlink"),
        (folder_storage, "_sync"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, _counted(getattr(owner, name), steps))


def _counted(function: Any, steps: StopsAt) -> Any:
    def asked(*given: Any, **more: Any) -> Any:
        steps._step()
        return function(*given, **more)

    return asked


@pytest.mark.req("T8")
@pytest.mark.parametrize("size", [300, PART_BYTES + 300])
async def test_a_stop_between_any_two_steps_of_receiving_loses_nothing_and_is_repeated_safely(
    blob_place: Place, size: int, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, stops = VirtualSources(), 0
    for at in range(1, 60):
        content = b"%PDF-1.7\n" + b"%d" % at * size + b"\n%%EOF\n"

        async def send(perdure: Sandbox, key: str = f"k{at}", content: bytes = content) -> str:
            blob = await perdure.documents.upload(content)
            made = await perdure.documents.create("letter", "anna", blob=blob.blob, idempotency_key=key)
            return made.id

        is_stopped = False
        async with opened(blob_place, sqlite_url, clock=clock) as perdure:
            with monkeypatch.context() as stopping:
                _stop_in(perdure, at, stopping)
                try:
                    await send(perdure)
                except Stopped:
                    is_stopped, stops = True, stops + 1
        async with opened(blob_place, sqlite_url, clock=clock) as perdure:
            id = await send(perdure)
            assert b"".join([part async for part in perdure.documents.download(id, 1)]) == content
            assert (await verify_store(perdure, {}, is_dry=True)).findings == []
            clock.move_to(clock.now() + 48 * HOUR)
            await perdure.documents.collect()
            assert len(await blob_names(blob_place)) == len(await perdure.documents.find(limit=100)) == at
            left = [each for each in await blob_place.names() if each.startswith("incoming")]
            assert not left or isinstance(blob_place, FolderPlace), "a disk ages files by a clock of its own"
        if not is_stopped:
            assert stops >= 4
            return
    pytest.fail("no run came to its end")


@pytest.mark.req("T8")
async def test_files_that_nothing_refers_to_are_collected_after_a_while(blob_place: Place) -> None:
    async with opened(blob_place) as perdure:
        id = await with_letter(perdure)
        await perdure.documents.upload(PNG)
        await perdure.acting(tenant="other").documents.upload(PDF)
        assert (await perdure.documents.collect()).blobs == 0, "their commits may be under way"
        await perdure.advance("PT2H")
        dry = await perdure.documents.collect(dry=True)
        assert (dry.blobs, dry.bytes, dry.removed) == (1, len(PNG), False)
        assert len(await blob_names(blob_place)) == 3
        await perdure.documents.upload(PNG)
        assert (await perdure.documents.collect()).blobs == 0, "it was put there again"
        assert (await perdure.acting(tenant="other").documents.collect()).blobs == 1
        await perdure.advance("PT2H")
        assert (await perdure.runtime.document_duties.collect()).blobs == 1
        assert len(await blob_names(blob_place)) == 1
        assert b"".join([part async for part in perdure.documents.download(id, 1)]) == PDF


@pytest.mark.req("T8")
async def test_a_commit_that_comes_too_late_after_its_file_was_seen_is_refused(blob_place: Place) -> None:
    async with opened(blob_place) as perdure:
        blobs, clock = perdure.runtime.blobs, perdure.clock
        describe, blob = blobs.describe, await perdure.documents.upload(PDF)

        async def slow(*given: Any) -> Any:
            found = await describe(*given)
            clock.move_to(clock.now() + HOUR + SECOND)
            await perdure.runtime.document_duties.collect()
            return found

        blobs.describe = slow  # type: ignore[method-assign]
        with pytest.raises(RejectedError, match="its file was looked at more than half an hour ago"):
            await perdure.documents.create("letter", "anna", blob=blob.blob)
        assert await blob_names(blob_place) == [] and await perdure.documents.find() == []


@pytest.mark.req("T8")
async def test_workers_collect_files_that_nothing_refers_to(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "COLLECTION_PAUSE", 1)
    place = FolderPlace(tmp_path / "blobs")
    async with Perdure.open(sqlite_url, definitions=load_text(DEFINITIONS), blobs=place.setting) as perdure:
        removed, remove = asyncio.Event(), perdure.runtime.blobs.remove

        async def watched(*given: Any) -> bool:
            is_gone = await remove(*given)
            removed.set()
            return is_gone

        perdure.runtime.blobs.remove = watched  # type: ignore[method-assign]
        await perdure.documents.upload(PDF)
        (name,) = await blob_names(place)
        os.utime(tmp_path / "blobs" / name, (1, 1))
        async with asyncio.timeout(30):
            await removed.wait()
        assert await blob_names(place) == []


WEEK = """
documents:
  extract:
    content: {media_types: [application/pdf]}
    validity: 3 business days in london
"""
LONDON = BusinessCalendar(zone="Europe/London", holidays=frozenset({date(2026, 12, 25), date(2026, 12, 28)}))


@pytest.mark.req("T11", "T6")
async def test_a_validity_in_business_days_ends_by_the_calendar_of_the_project(tmp_path: Path) -> None:
    calendars, declared = Calendars({"london": LONDON}), load_text(WEEK)
    async with Sandbox.open("sqlite://", definitions=declared, blobs=tmp_path, calendars=calendars) as perdure:
        blob = (await perdure.documents.upload(PDF)).blob

        async def ends(begin: str) -> str | None:
            made = await perdure.documents.create("extract", "anna", blob=blob, valid_from=begin)
            return made.valid_to

        assert await ends("2026-12-21") == "2026-12-24", "Monday to Thursday"
        assert await ends("2026-12-24") == "2026-12-31", "a weekend and two holidays lie between"
        assert await ends("2026-12-26") == "2027-01-01", "a Saturday counts from the next working day, Tuesday"
        made = await perdure.documents.create("extract", "bo", blob=blob)
        await perdure.advance("P10D")
        assert (await perdure.documents.get(made.id)).status == "expired"


async def test_a_validity_by_a_calendar_that_nobody_declared_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(StoreSettingError, match="it is valid for '3 business days in london', and of the calendar"):
        async with Sandbox.open("sqlite://", definitions=load_text(WEEK), blobs=tmp_path):
            pass
    with pytest.raises(DefinitionError, match=r"Write e\.g\. P10Y or 30 business days"):
        load_text(WEEK.replace("3 business days in london", "three business days"))


@pytest.mark.req("T8")
async def test_a_store_in_memory_keeps_its_files_in_a_temporary_folder_that_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(there))
    async with Sandbox.open("sqlite://", definitions=load_text(DEFINITIONS)) as perdure:
        await with_letter(perdure)
        (folder,) = there.iterdir()
        assert folder.stat().st_mode & 0o077 == 0 and not list(here.iterdir())
    assert not list(there.iterdir()) and not list(here.iterdir())
