"""Content that nothing refers to: nobody fills the disk with it, neither by a key nor by the link of a client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.access.signed_tokens import RequestName, request_token
from perdure.app.operations import requests
from perdure.blobs import content_allowance
from tests.documents.papers import DEFINITIONS, PDF
from tests.documents.test_solicit import LIFECYCLE, begun
from tests.lifecycles.onboarding import written
from tests.surfaces.http.sandbox_server import SECRET, Desk, Server, person, served

pytestmark = [pytest.mark.req("P3"), pytest.mark.req("T7")]
MILLION = 1_000_000
PEOPLE = [person("sam", "operator", tenant="other")]


def serving(folder: Path) -> Any:
    lifecycle = written(folder, LIFECYCLE)
    return served("sqlite://", DEFINITIONS, people=PEOPLE, blobs=folder / "blobs", lifecycles=[lifecycle])


async def send(desk: Desk, path: str, size: int, letter: bytes) -> int:
    content = PDF.replace(b"x" * 300, letter * size)
    answer = await desk.ask("POST", path, content=content, headers={"Content-Type": "application/pdf"})
    return answer.status_code


def kept(folder: Path) -> int:
    return sum(each.stat().st_size for each in (folder / "blobs").rglob("*") if each.is_file())


async def client_of(server: Server) -> Desk:
    id = await begun(server)
    (task,) = (await server.of("olga").get(f"/api/lifecycles/{id}"))["tasks"]
    return server.waiting(request_token(SECRET, RequestName("default", task["correlation_id"], 2**62)))


async def test_a_client_s_link_stores_little_that_is_of_no_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MOST_OF_CLIENT", 1)  # twice the largest file of the type, 24 MB, is allowed
    async with serving(tmp_path) as server:
        client, path = await client_of(server), "/api/document-request/content"
        assert await send(client, path, 4 * MILLION, b"a") == 201
        others = [await send(client, path, 4 * MILLION, b"%d" % each) for each in range(8)]
        assert (others[0], others[-1], set(others)) == (409, 429, {409, 429})
        assert await send(client, path, 4 * MILLION, b"a") == 429, "it is asked what came before it is read"
        assert kept(tmp_path) < 40 * MILLION
        await server.sandbox.advance("PT2H")
        assert await send(client, path, 4 * MILLION, b"a") == 201, "the same again is the same version"


async def test_a_key_stores_no_more_than_its_tenant_may_without_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content_allowance, "MOST_OF_TENANT", 5 * MILLION)
    async with serving(tmp_path) as server:
        olga = server.of("olga")
        for letter in (b"a", b"b"):
            assert await send(olga, "/api/blobs", 2 * MILLION, letter) == 201
        for _ in range(3):
            assert await send(olga, "/api/blobs", 2 * MILLION, b"b") in (201, 429)
        assert await send(olga, "/api/blobs", 2 * MILLION, b"c") == 429
        upload = await olga.post("/api/uploads", {"size": 4 * MILLION}, 201)
        part = f"/api/uploads/{upload['id']}/parts?offset=0"
        assert (await olga.ask("POST", part, content=b"d" * (4 * MILLION))).status_code == 200
        await olga.post(f"/api/uploads/{upload['id']}/finish", {}, 429)
        assert await send(server.of("sam"), "/api/blobs", 2 * MILLION, b"e") == 201


async def test_content_that_documents_refer_to_counts_for_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content_allowance, "MOST_OF_TENANT", 5 * MILLION)
    async with serving(tmp_path) as server:
        olga = server.of("olga")
        for number in range(8):
            made = await olga.post("/api/documents", {"type": "letter", "subject": f"s{number}"}, 201)
            path = f"/api/documents/{made['id']}/content"
            assert await send(olga, path, 2 * MILLION, b"%d" % number) == 201


async def test_the_journal_of_a_document_is_read_in_pages(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        ada = server.of("ada")
        made = await ada.post("/api/documents", {"type": "form", "data": {"title": "A"}}, 201)
        for _ in range(5):
            await ada.get(f"/api/documents/{made['id']}/versions/1")
        path, told, after = f"/api/documents/{made['id']}/events", [], 0
        while True:
            page = await ada.get(path, limit=2, after=after)
            told += [(each["sequence"], each["entry"]) for each in page["items"]]
            assert len(page["items"]) <= 3, "whole records"
            if page["next"] is None:
                break
            after = int(page["next"])
        assert len(told) == len(set(told)) and [each for each, _ in told] == sorted(each for each, _ in told)
        whole = await server.sandbox.documents.events(made["id"])
        assert [(each.sequence, each.entry) for each in whole] == told
        assert sum(entry == "ContentRead" for _, entry in told) == 5
