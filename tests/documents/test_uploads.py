"""Uploads in several requests: they go on where they were, whoever was killed in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from perdure.blobs import partial_uploads
from perdure.blobs.content_parts import PART_BYTES
from perdure.blobs.partial_uploads import PartialUploads
from perdure.errors import RejectedError
from perdure.sources import SECOND
from perdure.testing.virtual_clock import VirtualSources
from tests.blobs.places import Place, blob_names
from tests.documents.papers import PDF
from tests.documents.test_http import in_pieces, opened
from tests.surfaces.http.sandbox_server import Server

HOUR = 3600 * SECOND
WHO = ("t", "anna")


async def broken_off(data: bytes) -> AsyncIterator[bytes]:
    yield data
    raise ConnectionError("the sender is gone")


@pytest.mark.req("T8")
async def test_an_upload_goes_on_from_where_a_killed_sender_or_server_left_it(blob_place: Place) -> None:
    clock = VirtualSources()
    content = bytes(range(256)) * 40_000
    uploads = PartialUploads(blob_place.opened(clock))
    await uploads.begin(*WHO, "u1", len(content), clock.now())
    with pytest.raises(ConnectionError):
        await uploads.send(*WHO, "u1", 0, broken_off(content[: PART_BYTES + 1000]), clock.now())
    uploads = PartialUploads(blob_place.opened(clock))  # another process
    assert (await uploads.show(*WHO, "u1", clock.now())).offset == PART_BYTES + 1000
    with pytest.raises(RejectedError, match=f"only {PART_BYTES + 1000:,} of its {len(content):,} bytes came"):
        await uploads.finish(*WHO, "u1", "", clock.now())
    for offset in (0, PART_BYTES, len(content)):
        with pytest.raises(RejectedError, match=f"the next byte of it is {PART_BYTES + 1000:,}"):
            await uploads.send(*WHO, "u1", offset, in_pieces(b"x" * 9, 3), clock.now())
    rest = content[PART_BYTES + 1000 :]
    assert (await uploads.send(*WHO, "u1", PART_BYTES + 1000, in_pieces(rest, 99_999), clock.now())).offset == len(
        content
    )
    done = await uploads.finish(*WHO, "u1", "sha256:" + sha256(content).hexdigest(), clock.now())
    assert (done.blob, done.size) == ("sha256:" + sha256(content).hexdigest(), len(content))
    assert await uploads.finish(*WHO, "u1", "", clock.now()) == done, "asked again, the answer is the same"
    assert len(await blob_names(blob_place)) == 1
    assert not [each for each in await blob_place.names() if "/parts/" in each]
    clock.move_to(clock.now() + 25 * HOUR)
    assert await uploads.tidy(clock.now()) == 1
    assert not [each for each in await blob_place.names() if each.startswith("uploads")]


@pytest.mark.req("T8")
async def test_of_two_who_send_at_once_one_is_refused_and_the_content_is_whole(blob_place: Place) -> None:
    clock, content = VirtualSources(), bytes(range(256)) * 40_000
    uploads = PartialUploads(blob_place.opened(clock))
    await uploads.begin(*WHO, "u1", len(content), clock.now())
    ended = await asyncio.gather(
        *(uploads.send(*WHO, "u1", 0, in_pieces(content, 70_000), clock.now()) for _ in range(2)),
        return_exceptions=True,
    )
    assert any(isinstance(each, RejectedError) for each in ended)
    found = await uploads.show(*WHO, "u1", clock.now())
    await uploads.send(*WHO, "u1", found.offset, in_pieces(content[found.offset :], 70_000), clock.now())
    assert (await uploads.finish(*WHO, "u1", "", clock.now())).blob == "sha256:" + sha256(content).hexdigest()


@pytest.mark.req("T8")
async def test_a_stop_between_any_two_steps_of_finishing_gives_the_same_blob(
    blob_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, stops = VirtualSources(), 0
    for at in range(1, 20):
        blobs = blob_place.opened(clock)
        uploads, id, content = PartialUploads(blobs), f"u{at}", PDF * at
        await uploads.begin(*WHO, id, len(content), clock.now())
        await uploads.send(*WHO, id, 0, in_pieces(content, 7_000), clock.now())
        left = [at]

        def counted(function: Any, left: list[int] = left) -> Any:
            async def asked(*given: Any) -> Any:
                left[0] -= 1
                if left[0] <= 0:
                    raise KeyboardInterrupt
                return await function(*given)

            return asked

        with monkeypatch.context() as stopping:
            for name in ("create", "fetch", "listed", "delete"):
                stopping.setattr(blobs.objects, name, counted(getattr(blobs.objects, name)))
            is_stopped = False
            try:
                await uploads.finish(*WHO, id, "", clock.now())
            except KeyboardInterrupt:
                is_stopped, stops = True, stops + 1
        found = await PartialUploads(blob_place.opened(clock)).finish(*WHO, id, "", clock.now())
        assert found.blob == "sha256:" + sha256(content).hexdigest()
        if not is_stopped:
            assert stops > 3
            return
    pytest.fail("no run came to its end")


async def begun(server: Server, size: int, who: str = "olga") -> str:
    return str((await server.of(who).post("/api/uploads", {"size": size}, 201))["id"])


@pytest.mark.req("T8")
async def test_a_file_is_uploaded_in_parts_over_http_and_handed_in(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        olga = server.of("olga")
        id = await begun(server, len(PDF))
        first = await olga.ask("POST", f"/api/uploads/{id}/parts", content=PDF[:100])
        assert (first.status_code, first.json()["offset"], first.json()["size"]) == (200, 100, len(PDF))
        assert (await olga.get(f"/api/uploads/{id}"))["offset"] == 100
        early = await olga.post(f"/api/uploads/{id}/finish", {}, 409)
        assert f"only 100 of its {len(PDF)} bytes came" in early["detail"]
        twice = await olga.ask("POST", f"/api/uploads/{id}/parts", content=PDF[:100])
        assert (twice.status_code, "the next byte of it is 100" in twice.text) == (409, True)
        rest = await olga.ask("POST", f"/api/uploads/{id}/parts", params={"offset": 100}, content=PDF[100:])
        assert rest.json()["offset"] == len(PDF)
        blob = await olga.post(f"/api/uploads/{id}/finish", {"sha256": "sha256:" + sha256(PDF).hexdigest()}, 201)
        assert (blob["size"], blob["media_type"]) == (len(PDF), "application/pdf")
        made = await olga.post("/api/documents", {"type": "letter", "subject": "anna", "blob": blob["blob"]}, 201)
        assert (await olga.ask("GET", f"/api/documents/{made['id']}/versions/1/blob")).content == PDF
        shown = await olga.get(f"/api/uploads/{id}")
        assert shown["blob"] == blob and shown["offset"] == len(PDF)


@pytest.mark.req("T8")
async def test_uploads_are_bounded_in_size_number_and_time_and_belong_to_whoever_began_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partial_uploads, "MOST_OPEN", 3)
    async with opened(tmp_path) as server:
        olga = server.of("olga")
        for size in (0, -1, 5_000_000_001):
            await olga.post("/api/uploads", {"size": size}, 422)
        id = await begun(server, 10)
        long = await olga.ask("POST", f"/api/uploads/{id}/parts", content=b"x" * 11)
        assert (long.status_code, "more than the 10 bytes" in long.text) == (422, True)
        for who in ("rico", "eve"):
            await server.of(who).get(f"/api/uploads/{id}", 404)
            assert (await server.of(who).ask("POST", f"/api/uploads/{id}/parts", content=b"x")).status_code == 404
            await server.of(who).post(f"/api/uploads/{id}/finish", {}, 404)
        for name in ("%2e%2e%2fopen", "0" * 26, "..%2F..%2Fx"):
            assert (await olga.ask("GET", f"/api/uploads/{name}")).status_code == 404
        wrong = await olga.ask("POST", f"/api/uploads/{id}/parts", content=b"0123456789")
        assert wrong.status_code == 200
        told = await olga.post(f"/api/uploads/{id}/finish", {"sha256": "sha256:" + "0" * 64}, 422)
        assert "and was said to be sha256:000" in told["detail"]
        assert (await olga.get(f"/api/uploads/{id}"))["offset"] == 0, "it begins again"
        await begun(server, 10)
        await begun(server, 10, "rico")
        full = await olga.post("/api/uploads", {"size": 10}, 423)
        assert "3 uploads are unfinished" in full["detail"]
        await server.sandbox.advance("P1D")
        late = await olga.ask("POST", f"/api/uploads/{id}/parts", content=b"x")
        assert (late.status_code, "it was not finished until" in late.text) == (409, True)
        await begun(server, 10)
        await server.of("ada").post("/api/blobs/collect", {})
        await olga.get(f"/api/uploads/{id}", 404)
        left = [each for each in (tmp_path / "blobs" / "uploads").rglob("*") if each.is_file()]
        assert len(left) == 1, "the one that is not over"
