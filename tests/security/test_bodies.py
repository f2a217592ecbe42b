"""Bodies that are too large, too slow, too deep, or no JSON at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest

from perdure.surfaces.http import middleware
from tests.surfaces.http.in_process_server import served

pytestmark = pytest.mark.req("P3")
PATH = "/api/runbooks/plan"
JSON = {"Content-Type": "application/json"}


async def test_a_body_that_is_too_large_is_refused_whether_its_length_is_told_or_not() -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b" " * 4096

    async with served(authentication=(), on_socket=True, max_body_bytes=10_000) as found, found.client() as client:
        for path in (PATH, "/api/drafts"):
            for key in ({}, {"Idempotency-Key": "k"}):
                told = await client.post(path, content=b" " * 20_000, headers={**JSON, **key})
                assert told.json()["code"] == "request.too_large", (path, key)
                untold = await client.post(path, content=parts(), headers={**JSON, **key})
                assert untold.json()["code"] == "request.too_large", (path, key)


async def test_a_body_that_does_not_come_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "BODY_SECONDS", 0.05)
    async with served(authentication=(), on_socket=True) as found:
        place = urlsplit(found.base)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        head = f"POST {PATH} HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\nContent-Length: 50"
        writer.write(f"{head}\r\n\r\n{{".encode())
        answer = await reader.read(65536)
        assert b" 408 " in answer.split(b"\r\n")[0] and b"request.too_slow" in answer
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize(
    "body",
    [b"[" * 100_000, b'{"a":' * 100_000, b'{"variables": ' + b"[" * 65 + b"]" * 65 + b"}"],
    ids=["lists", "objects", "closed"],
)
async def test_a_body_that_is_nested_too_deep_is_refused(body: bytes) -> None:
    async with served(authentication=()) as found, found.client() as client:
        answer = await client.post(PATH, content=body, headers=JSON)
        assert (answer.status_code, answer.json()["code"]) == (400, "request.too_deep")


async def test_brackets_in_texts_are_no_nesting() -> None:
    async with served(authentication=()) as found, found.client() as client:
        text = '[{"' * 200
        answer = await client.post("/api/verbs/desk.note/calls", json={"args": {"text": text}})
        assert answer.json()["result"] == {"noted": text}


@pytest.mark.parametrize("body", [b"{", b"\xff", b'{"a": 1}x', b"NaN", b'"\\ud800"', b"[]", b"1", b"null"])
async def test_what_is_no_object_of_the_right_form_is_refused(body: bytes) -> None:
    async with served(authentication=()) as found, found.client() as client:
        answer = await client.post("/api/drafts", content=body, headers=JSON)
        assert answer.status_code in (400, 422), answer.text
        assert answer.headers["content-type"] == "application/problem+json"


async def test_a_field_that_is_not_known_is_refused() -> None:
    async with served(authentication=()) as found, found.client() as client:
        answer = await client.post("/api/drafts", json={"calls": [], "cse": "C-1"})
        assert answer.status_code == 422 and "cse" in answer.text
