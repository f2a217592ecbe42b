"""Files to and from a server: they go on through lost connections and restarts, in both clients and by commands."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from perdure.client import Client
from perdure.client.asynchronous import documents as client_documents
from perdure.errors import BlobDamagedError, RejectedError
from perdure.surfaces.cli.application import run
from tests.client.lossy_server import House, housed
from tests.documents.papers import DEFINITIONS, PDF

PART = 50_000
CONTENT = b"%PDF-1.7\n" + bytes(range(256)) * (PART * 9 // 256 + 100) + b"\n%%EOF\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of ten parts."""
    monkeypatch.setattr(client_documents, "SENT_BYTES", PART)
    path = tmp_path / "scan.pdf"
    path.write_bytes(CONTENT)
    return path


def papers(tmp_path: Path) -> dict[str, str]:
    return {"papers": DEFINITIONS, "blobs": str(tmp_path / "blobs")}


@pytest.mark.req("T8", "P2")
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_an_upload_goes_on_through_lost_connections(
    sqlite_url: str, moment: str, file: Path, tmp_path: Path
) -> None:
    async with housed(sqlite_url, **papers(tmp_path)) as house, house.client(await house.key("operator")) as client:
        seen = list[tuple[int, int]]()

        def progress(done: int, size: int) -> None:
            seen.append((done, size))
            house.proxy.lose.append(moment)

        blob = await client.documents.upload(file, progress=progress)
        size = len(CONTENT)
        assert blob.size == size == seen[-1][0] and len(seen) == -(-size // PART)
        made = await client.documents.create("letter", "anna", blob=blob.blob)
        house.proxy.lose.clear()
        read = b"".join([part async for part in client.documents.download(made.id, 1)])
        assert read == CONTENT


@pytest.mark.req("T8", "P2")
async def test_an_upload_goes_on_after_the_server_and_after_the_program_was_stopped(
    sqlite_url: str, file: Path, tmp_path: Path
) -> None:
    async with housed(sqlite_url, **papers(tmp_path)) as house:
        key, ids = await house.key("operator"), list[str]()

        class Killed(BaseException):
            pass

        def progress(done: int, size: int) -> None:
            if done >= 5 * PART:
                raise Killed

        with pytest.raises(Killed):
            async with house.client(key) as client:
                await client.documents.upload(file, progress=progress, begun=ids.append)
        house.proxy.cut()
        await house.stop()
        await house.start()
        sent = list[int]()
        async with house.client(key) as client:
            await client.documents.upload(file, resume=ids[0], progress=lambda done, _: sent.append(done))
            assert sent[0] == 6 * PART, "what came is not sent again"
            other = tmp_path / "other.pdf"
            other.write_bytes(PDF)
            with pytest.raises(RejectedError, match="it was begun with"):
                await client.documents.upload(other, resume=ids[0])
            changed = tmp_path / "changed.pdf"
            changed.write_bytes(bytes(reversed(CONTENT)))
            with pytest.raises(Killed):
                await client.documents.upload(file, progress=progress, begun=ids.append)
            with pytest.raises(RejectedError, match="and was said to be"):
                await client.documents.upload(changed, resume=ids[1])


@pytest.mark.req("T8", "P2")
async def test_a_program_that_blocks_sends_and_receives_files(sqlite_url: str, file: Path, tmp_path: Path) -> None:
    async with housed(sqlite_url, **papers(tmp_path)) as house:
        key = await house.key("operator")
        await asyncio.to_thread(_blocking, house, key, file, tmp_path / "copy.pdf")


def _blocking(house: House, key: str, file: Path, copy: Path) -> None:
    with Client(house.proxy.url, key) as client:
        made = client.documents.create("letter", "anna", blob=client.documents.upload(file).blob)
        assert b"".join(client.documents.download(made.id, 1)) == CONTENT
        assert client.documents.save(made.id, 1, copy).size == len(copy.read_bytes())
        with pytest.raises(RejectedError, match="has no file"):
            client.documents.save(made.id, 2, copy)


@pytest.mark.req("T8", "P2")
async def test_a_file_that_is_cut_off_on_its_way_is_not_written(sqlite_url: str, file: Path, tmp_path: Path) -> None:
    async with housed(sqlite_url, **papers(tmp_path)) as house, house.client(await house.key("operator")) as client:
        made = await client.documents.create("letter", "anna", blob=(await client.documents.upload(file)).blob)
        original = client.documents.download

        async def short(id: str, version: int):  # type: ignore[no-untyped-def]
            async for data in original(id, version):
                yield data[:-1]

        client.documents.download = short  # type: ignore[method-assign]
        with pytest.raises(BlobDamagedError, match="are not those"):
            await client.documents.save(made.id, 1, tmp_path / "copy.pdf")
        assert _names(tmp_path) == ["blobs", "scan.pdf"]


@pytest.mark.req("T8", "P6")
async def test_files_travel_to_and_from_a_server_by_commands(
    sqlite_url: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    async with housed(sqlite_url, **papers(tmp_path)) as house:
        monkeypatch.setenv("PERDURE_SERVER", house.proxy.url)
        monkeypatch.setenv("PERDURE_KEY", await house.key("operator", "admin"))

        async def told(*words: str, code: int = 0) -> dict[str, object]:
            capfd.readouterr()
            assert await asyncio.to_thread(run, [*words, "--json"]) == code, capfd.readouterr()
            out, error = capfd.readouterr()
            found: dict[str, object] = json.loads((out or error).splitlines()[-1])
            return found

        stored = await told("documents", "upload", "scan.pdf")
        assert (stored["size"], stored["media_type"]) == (len(CONTENT), "application/pdf")
        made = await told("documents", "create", "letter", "--subject", "anna", "--file", "scan.pdf")
        await told("documents", "download", str(made["id"]), "--version", "1", "--to", "copy.pdf")
        assert (tmp_path / "copy.pdf").read_bytes() == CONTENT
        assert (await told("documents", "collect", "--dry-run"))["removed"] is False
        assert "cannot be read" in str(await told("documents", "upload", "nothing.pdf", code=2))
        (tmp_path / "empty").touch()
        assert "it is empty" in str(await told("documents", "upload", "empty", code=2))


def _names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())
