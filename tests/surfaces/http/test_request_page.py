"""The page of a client behind a token: what is asked in plain words, taken without a script, shown to nobody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.documents.papers import PDF
from tests.documents.test_requests import begun, opened, token_of
from tests.surfaces.http.sandbox_server import Server

pytestmark = [pytest.mark.req("T13")]


class Browser:
    """A browser without scripts, signed in nowhere."""

    def __init__(self, server: Server) -> None:
        self._client = server.of("olga")._client

    async def get(self, path: str, **more: Any) -> httpx.Response:
        return await self._client.get(path, **more)

    async def send(self, path: str, content: bytes, name: str = "pass.pdf", **more: Any) -> httpx.Response:
        """Send the form: the camera was not used, which browsers tell by a file without a name."""
        files = [("file", ("", b"", "application/octet-stream")), ("file", (name, content, "application/pdf"))]
        return await self._client.post(path, files=files, **more)


def is_strict(answer: httpx.Response) -> bool:
    """Whether nothing is loaded into a page, nobody keeps it and its address is told to nobody else."""
    headers = answer.headers
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "noindex" in headers["x-robots-tag"]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    return "set-cookie" not in headers and headers["x-frame-options"] == "DENY"


async def test_a_client_sends_a_file_without_a_script_and_is_thanked(tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path) as server:
        _, asked = await begun(server)
        browser, path = Browser(server), f"/ask/{await token_of(server, asked)}"
        page = await browser.get(path)
        assert page.status_code == 200 and is_strict(page)
        for words in (
            "Your passport",
            "Passport of a natural person",
            "a photo (JPEG)",
            "up to 12 MB",
            "Please send it by",
        ):
            assert words in page.text
        for secret in ("anna", "onboarding", 'href="/', asked):
            assert secret not in page.text
        refused = await browser.send(path, b"no passport", "notes.txt")
        assert refused.status_code == 422 and is_strict(refused)
        assert "We could not take this" in refused.text and "<form" in refused.text
        sent = await browser.send(path, PDF)
        assert (sent.status_code, sent.headers["location"]) == (303, path)
        thanks = await browser.get(path)
        assert "Thank you" in thanks.text and "a PDF" in thanks.text and "<form" not in thanks.text
        assert (await browser.send(path, PDF)).status_code == 303
        other = await browser.send(path, PDF + b"\n", "other.pdf")
        assert other.status_code == 409 and "Thank you" in other.text


async def test_a_client_is_told_what_was_wrong_last_time_and_that_a_link_is_over(tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path) as server:
        id, first = await begun(server)
        browser, old = Browser(server), f"/ask/{await token_of(server, first)}"
        await browser.send(old, PDF)
        await server.idle()
        (paper,) = (await server.of("olga").get("/api/documents", subject="anna"))["items"]
        await server.of("clara").post(f"/api/documents/{paper['id']}/reject", {"version": 1, "reason": "BLURRED"})
        await server.idle()
        assert "Nothing to do" in (await browser.get(old)).text
        status = await server.of("olga").get(f"/api/lifecycles/{id}")
        path = f"/ask/{await token_of(server, status['tasks'][-1]['correlation_id'])}"
        page = await browser.get(path)
        assert "What was wrong last time" in page.text and "sharper" in page.text
        await server.sandbox.advance("P30D")
        late = await browser.get(path)
        assert late.status_code == 404 and is_strict(late) and "does not work any more" in late.text
        assert (await browser.send(path, PDF)).status_code == 404


async def test_a_token_that_is_not_ours_shows_nothing_and_a_session_changes_nothing(tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path) as server:
        _, asked = await begun(server)
        token = await token_of(server, asked)
        browser = Browser(server)
        for wrong in (token[:-1] + ("A" if token[-1] != "A" else "B"), "request_x", token.replace("request_", "wait_")):
            answer = await browser.get(f"/ask/{wrong}")
            assert answer.status_code == 404 and is_strict(answer) and "passport" not in answer.text
        entrance = await browser.get("/ask")
        assert entrance.status_code == 200 and is_strict(entrance) and "<noscript>" in entrance.text
        key = {"Authorization": "Bearer perdure_nonsense", "Cookie": "perdure_session=nonsense"}
        assert (await browser.get(f"/ask/{token}", headers=key)).status_code == 200
        elsewhere = await browser.send(f"/ask/{token}", PDF, headers={"Origin": "https://elsewhere.example"})
        assert elsewhere.status_code == 403


async def test_answers_that_are_data_are_given_in_plain_fields(tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path, type="form") as server:
        _, asked = await begun(server)
        browser, path = Browser(server), f"/ask/{await token_of(server, asked)}"
        page = await browser.get(path)
        assert 'name="amount"' in page.text and 'type="number"' in page.text and "<form" in page.text
        wrong = await browser._client.post(path, data={"title": "<b>x</b>", "amount": "many"})
        assert wrong.status_code == 422 and "We could not take this" in wrong.text and "<b>x" not in wrong.text
        assert (await browser._client.post(path, data={"title": "x", "amount": "3"})).status_code == 303
        (paper,) = (await server.of("olga").get("/api/documents", subject="anna"))["items"]
        content = await server.of("olga").get(f"/api/documents/{paper['id']}/versions/1")
        assert content["data"] == {"title": "x", "amount": 3}
