"""Header injection: what a user sends never becomes a header of an answer by itself."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.surfaces.http.in_process_server import served

pytestmark = pytest.mark.req("P3")
LINES = "x\r\nSet-Cookie: perdure_session=planted\r\n\r\n<script>"


async def test_line_ends_in_paths_and_parameters_make_no_headers() -> None:
    async with served(authentication=(), on_socket=True) as found, found.client() as client:
        for path in (
            f"/api/runbooks/{quote(LINES)}/export", f"/api/verbs/{quote(LINES)}", f"/{quote(LINES)}",
            f"/api/session/oidc?to={quote(LINES)}", f"/api/runbooks?case={quote(LINES)}",
        ):  # fmt: skip
            answer = await client.get(path)
            assert "set-cookie" not in answer.headers, path
            assert answer.status_code < 500, path


async def test_line_ends_in_a_key_for_repeating_are_refused() -> None:
    async with served(authentication=()) as found, found.client() as client:
        answer = await client.post(
            "/api/drafts", json={"calls": []}, headers=[(b"Idempotency-Key", b"a\r\nX-Planted: 1")]
        )
        assert answer.json()["code"] == "idempotency.invalid"
        assert "x-planted" not in answer.headers


async def test_a_host_that_cannot_be_read_is_refused_and_breaks_nothing() -> None:
    async with served() as found, found.client() as client:
        for host in ("localhost:x", "[::1", "localhost:99999", "a/b", "a?b", "a#b", "me@localhost", "localhost:0"):
            for path in ("/api/verbs", "/nothing", "/api/session/oidc"):
                answer = await client.get(path, headers={"Host": host})
                assert (answer.status_code, answer.json()["code"]) == (400, "request.host"), host
            assert (await client.get("/metrics", headers={"Host": host})).status_code < 500, host


async def test_a_trace_that_is_none_is_written_nowhere() -> None:
    async with served() as found, found.client(await found.key("operator")) as client:
        good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        for trace, kept in ((good, good), ("evil' OR 1=1", ""), ("x" * 5000, "")):
            answer = await client.post(
                "/api/verbs/desk.note/calls", json={"args": {"text": "x"}}, headers={"traceparent": trace}
            )
            records = found.perdure.events(answer.json()["id"])
            assert {each.trace async for each in records} == {kept}


async def test_every_answer_says_how_browsers_are_to_treat_it() -> None:
    async with served() as found, found.client() as client:
        for path in ("/", "/api/verbs", "/api/docs", "/health", "/api/nothing", "/assets/none.js"):
            headers = (await client.get(path)).headers
            assert headers["x-content-type-options"] == "nosniff", path
            assert "script-src 'self';" in headers["content-security-policy"], path
            assert headers["x-frame-options"] == "DENY", path
            assert headers["x-request-id"], path
            if path.startswith("/api/"):
                wanted = ("no-cache", "no-store") if path == "/api/docs" else ("no-store",)
                assert headers["cache-control"] in wanted, path
