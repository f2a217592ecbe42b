"""Forged requests: a page of another site makes a browser that is signed in act."""

from __future__ import annotations

import httpx
import pytest

from tests.surfaces.http.in_process_server import Served, served

pytestmark = pytest.mark.req("P3")


async def signed_in(found: Served, client: httpx.AsyncClient) -> str:
    """Sign in with a key; the token that pages of ours send."""
    key = await found.key("operator")
    answer = await client.post("/api/session", json={"key": key.text})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["csrf"])


NOTE = {"args": {"text": "x"}}


async def test_a_session_acts_only_with_the_token_of_its_own_page() -> None:
    async with served() as found, found.client() as client:
        csrf = await signed_in(found, client)
        path = "/api/verbs/desk.note/calls"
        assert (await client.post(path, json=NOTE)).json()["code"] == "access.csrf"
        assert (await client.post(path, json=NOTE, headers={"X-CSRF-Token": csrf[::-1]})).status_code == 403
        assert (await client.post(path, json=NOTE, headers={"X-CSRF-Token": csrf})).status_code == 201


async def test_the_token_of_another_session_is_worth_nothing() -> None:
    async with served() as found, found.client() as client, found.client() as other:
        await signed_in(found, client)
        foreign = await signed_in(found, other)
        answer = await client.post("/api/verbs/desk.note/calls", json=NOTE, headers={"X-CSRF-Token": foreign})
        assert answer.json()["code"] == "access.csrf"


async def test_reading_needs_no_token_and_signing_out_does() -> None:
    async with served() as found, found.client() as client:
        csrf = await signed_in(found, client)
        assert (await client.get("/api/verbs")).status_code == 200
        assert (await client.delete("/api/session")).status_code == 403
        assert (await client.delete("/api/session", headers={"X-CSRF-Token": csrf})).status_code == 204
        assert (await client.get("/api/verbs")).status_code == 401


async def test_a_page_of_another_site_may_not_act_even_with_everything_else_right() -> None:
    async with served() as found, found.client() as client:
        csrf = await signed_in(found, client)
        for origin in ("https://evil.example", "null", "http://localhost.evil.example", "http://localhost:81"):
            headers = {"X-CSRF-Token": csrf, "Origin": origin}
            answer = await client.post("/api/verbs/desk.note/calls", json=NOTE, headers=headers)
            assert answer.json()["code"] == "request.origin", origin


async def test_a_form_of_another_site_is_not_read() -> None:
    """What a form can send without the browser asking us first is never taken for JSON."""
    async with served(authentication=()) as found, found.client() as client:
        for media in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
            headers = {"Content-Type": media} if media else {}
            answer = await client.post("/api/verbs/desk.note/calls", content=b'{"args": {}}', headers=headers)
            assert answer.status_code == 415, media


async def test_the_cookie_is_out_of_reach_of_scripts_and_of_other_sites() -> None:
    async with served(public_url="https://perdure.example") as found, found.client() as client:
        key = await found.key("viewer")
        cookie = (await client.post("/api/session", json={"key": key.text})).headers["set-cookie"].lower()
        assert cookie.startswith("__host-perdure_session=")
        assert {"httponly", "secure", "samesite=lax", "path=/"} <= {each.strip() for each in cookie.split(";")}
        assert "domain" not in cookie
