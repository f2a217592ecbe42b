"""Documents over HTTP: streamed in and out, by roles, narrow keys and signed links."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.documents.papers import DEFINITIONS, PDF, PNG
from tests.surfaces.http.sandbox_server import Server, person, served

PEOPLE = [
    person("clara", "reviewer", groups=("compliance",)),
    person("agent:robot", "reviewer", groups=("compliance",), kind="agent"),
    person("reader", "operator", verbs=("document.find",)),
]
BOUNDARY = "x-perdure-boundary"
NAMED = {"Content-Disposition": "attachment; filename*=UTF-8''Gr%C3%BC%C3%9Fe.pdf"}


def opened(tmp_path: Path, **more: Any) -> Any:
    return served(verbs=DEFINITIONS, people=PEOPLE, blobs=tmp_path / "blobs", **more)


def form(content: bytes, media_type: str = "application/pdf") -> tuple[bytes, dict[str, str]]:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n--{BOUNDARY}\r\n'
    head += (
        f'Content-Disposition: form-data; name="file"; filename="..\\..\\a b.pdf"\r\nContent-Type: {media_type}\r\n\r\n'
    )
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode(), {
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"
    }


async def in_pieces(body: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


async def letter(server: Server) -> str:
    made = await server.of("olga").post("/api/documents", {"type": "letter", "subject": "anna"}, 201)
    answer = await server.of("olga").ask(
        "POST",
        f"/api/documents/{made['id']}/content",
        content=PDF,
        headers={"Content-Type": "application/pdf", **NAMED},
    )
    assert answer.status_code == 201, answer.text
    return str(made["id"])


@pytest.mark.req("T8")
@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_a_file_is_streamed_in_raw_or_as_a_form_and_out_as_an_attachment(size: int, tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        olga = server.of("olga")
        raw = await olga.ask("POST", "/api/blobs", content=in_pieces(PDF, size * 50))
        assert raw.status_code == 201 and raw.json()["media_type"] == "application/pdf"
        content = PDF.replace(b"xxx", b"\r\n--x-perdure-boundarx\r\n-", 1)
        body, headers = form(content)
        id = await letter(server)
        sent = await olga.ask("POST", f"/api/documents/{id}/content", content=in_pieces(body, size), headers=headers)
        assert sent.status_code == 201, sent.text
        read = await olga.ask("GET", f"/api/documents/{id}/versions/2/blob")
        assert (read.content, read.headers["content-type"]) == (content, "application/pdf")
        assert read.headers["content-disposition"].startswith('attachment; filename="a b.pdf"')
        assert (
            read.headers["x-content-type-options"] == "nosniff" and "sandbox" in read.headers["content-security-policy"]
        )
        shown = await olga.get(f"/api/documents/{id}/versions/1")
        assert shown["name"] == "Grüße.pdf"


@pytest.mark.req("T8")
async def test_an_upload_that_does_not_fit_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        olga = server.of("olga")
        made = await olga.post("/api/documents", {"type": "passport", "subject": "anna"}, 201)
        path = f"/api/documents/{made['id']}/content"
        png = await olga.ask("POST", path, content=PNG, headers={"Content-Type": "application/pdf"})
        assert png.status_code == 422 and "said to be application/pdf" in png.json()["detail"]
        assert (await olga.ask("POST", path, content=b"")).status_code == 422
        body, headers = form(PDF)
        cut = await olga.ask("POST", path, content=body[:-60], headers=headers)
        assert (cut.status_code, cut.json()["code"]) == (400, "request.malformed")
        nothing = await olga.ask("POST", path, content=b"--x--", headers={"Content-Type": "multipart/form-data"})
        assert nothing.status_code == 400
        huge = await olga.ask("POST", path, content=in_pieces(b"%PDF-" + b"x" * 12_000_001, 1_000_000))
        assert huge.status_code == 422 and "more than 12,000,000 bytes" in huge.json()["detail"]
        assert not list((tmp_path / "blobs" / "incoming").iterdir())
        assert (await olga.get(f"/api/documents/{made['id']}"))["versions"] == []


@pytest.mark.req("T6")
async def test_the_right_to_decide_read_and_hand_in_are_three_rights(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        olga, clara, vera = server.of("olga"), server.of("clara"), server.of("vera")
        body = {"type": "passport", "subject": "anna", "data": {"name": "Anna"}}
        made = await olga.post("/api/documents", body, 201, headers={"Idempotency-Key": "k"})
        assert (await olga.post("/api/documents", body, 201, headers={"Idempotency-Key": "k"}))["id"] == made["id"]
        id = made["id"]
        await olga.post(f"/api/documents/{id}/verify", {"version": 1}, 403)
        await server.of("sue").post(f"/api/documents/{id}/verify", {"version": 1}, 403)
        told = await server.of("agent:robot").post(f"/api/documents/{id}/verify", {"version": 1}, 403)
        assert "is an agent" in told["detail"]
        assert (await clara.post(f"/api/documents/{id}/verify", {"version": 1}))["status"] == "verified"
        await clara.post("/api/documents", body, 403)
        assert (await vera.get(f"/api/documents/{id}"))["status"] == "verified"
        await vera.get(f"/api/documents/{id}/versions/1", 403)
        await vera.get("/api/documents", 200, text="anna")
        for path in (f"/api/documents/{id}", "/api/documents", f"/api/documents/{id}/events", "/api/document-types"):
            await server.of("narrow").get(path, 403)
        await server.of("narrow").post("/api/documents", body, 403)
        await server.of("reader").get(f"/api/documents/{id}/versions/1")
        await server.of("reader").post("/api/documents", body, 403)
        await server.of("eve").get(f"/api/documents/{id}", 404)
        unknown = await clara.post(f"/api/documents/{id}/reject", {"version": 1, "reason": "BLURED"}, 422)
        assert "Did you mean 'BLURRED'?" in str(unknown)
        await clara.post(f"/api/documents/{id}/erase", {"reason": "x"}, 403)
        assert (await server.of("ada").post(f"/api/documents/{id}/erase", {"reason": "asked"}))["erased_at"]


@pytest.mark.req("T6", "T8")
async def test_a_signed_link_opens_one_blob_for_a_short_time_and_each_use_is_an_event(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        id = await letter(server)
        link = (await server.of("olga").post(f"/api/documents/{id}/versions/1/link"))["link"]
        nobody = server.waiting("nothing")
        read = await nobody._client.get(link)
        assert (read.status_code, read.content) == (200, PDF)
        changed = link[:-3] + ("abc" if not link.endswith("abc") else "abd")
        assert (await nobody._client.get(changed)).status_code == 404
        events = [each for each in await _events(server, id) if each["entry"] == "ContentRead"]
        assert [(each["data"]["what"], each["principal"]) for each in events] == [
            ("link", "olga"),
            ("link used", "olga"),
        ]
        await server.sandbox.advance("PT6M")
        assert (await nobody._client.get(link)).status_code == 404


@pytest.mark.req("T8")
async def test_a_blob_changed_on_disk_is_refused_before_a_byte_of_it_is_sent(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        id = await letter(server)
        (file,) = [each for each in (tmp_path / "blobs").rglob("*") if each.is_file()]
        file.write_bytes(b"forged")
        read = await server.of("olga").ask("GET", f"/api/documents/{id}/versions/1/blob")
        assert (read.status_code, read.json()["code"]) == (409, "blob.damaged")
        assert b"forged" not in read.content


async def _events(server: Server, id: str) -> list[dict[str, Any]]:
    return list((await server.of("olga").get(f"/api/documents/{id}/events"))["items"])


@pytest.mark.req("T8")
async def test_a_link_shows_images_and_pdfs_in_a_frame_of_our_own_and_nothing_else(tmp_path: Path) -> None:
    drawings = "  drawing: {content: {media_types: ['text/*', image/svg+xml]}}\n"
    async with served(verbs=DEFINITIONS + drawings, people=PEOPLE, blobs=tmp_path / "blobs") as server:
        olga = server.of("olga")

        async def shown(type: str, content: bytes) -> Any:
            made = await olga.post("/api/documents", {"type": type, "subject": "anna"}, 201)
            sent = await olga.ask("POST", f"/api/documents/{made['id']}/content", content=content)
            assert sent.status_code == 201, sent.text
            link = (await olga.post(f"/api/documents/{made['id']}/versions/1/link"))["link"]
            return await olga.ask("GET", f"{link}?show=true")

        picture = await shown("passport", PNG)
        assert picture.headers["content-disposition"] == "inline"
        assert "sandbox" in picture.headers["content-security-policy"]
        for each in (picture, await shown("letter", PDF)):
            assert "frame-ancestors 'self'" in each.headers["content-security-policy"]
            assert (each.headers["x-frame-options"], each.headers["cache-control"]) == ("SAMEORIGIN", "no-store")
        for text in (b"<!doctype html><script>alert(1)</script>", b"<svg xmlns='http://www.w3.org/2000/svg'></svg>"):
            page = await shown("drawing", text)
            assert page.headers["content-disposition"].startswith("attachment")
            assert page.headers["content-type"] == "application/octet-stream"
            assert page.headers["x-frame-options"] == "DENY"
