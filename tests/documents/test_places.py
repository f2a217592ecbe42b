"""Documents whose files lie in a folder, in a bucket in memory and, in a deep run, on a real server of S3."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from perdure.app.audit.store_audit import verify_store
from perdure.blobs.content_parts import PART_BYTES
from perdure.errors import BlobDamagedError
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
        assert (dry.blobs, dry.bytes, dry.removed) == (2, len(PNG) + len(PDF), False)
        assert len(await blob_names(blob_place)) == 3
        await perdure.documents.upload(PNG)
        assert (await perdure.documents.collect()).blobs == 1, "one was put there again"
        assert len(await blob_names(blob_place)) == 2
        assert b"".join([part async for part in perdure.documents.download(id, 1)]) == PDF


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
