"""Session fixation, and what a session is worth when its key is not good any more."""

from __future__ import annotations

import pytest

from perdure.access.signed_tokens import make_session, session_token
from perdure.sources import SECOND
from tests.surfaces.http.in_process_server import SECRET, served

pytestmark = pytest.mark.req("P3")
COOKIE = "perdure_session"


async def test_each_sign_in_begins_another_session_whatever_cookie_came_with_it() -> None:
    async with served() as found, found.client() as client:
        key = await found.key("viewer")
        first = (await client.post("/api/session", json={"key": key.text})).cookies[COOKIE]
        csrf = (await client.get("/api/session")).json()["csrf"]
        again = await client.post("/api/session", json={"key": key.text}, headers={"X-CSRF-Token": csrf})
        assert again.cookies[COOKIE] != first
        assert again.json()["csrf"] != csrf


async def test_a_cookie_that_was_planted_is_as_none() -> None:
    async with served() as found:
        for value in ("x", "", "a.b", "e30." + "A" * 43, "." * 50, "ÿ".encode().hex()):
            async with found.client(Cookie=f"{COOKIE}={value}") as client:
                assert (await client.get("/api/session")).status_code == 401


async def test_a_revoked_key_ends_its_sessions() -> None:
    async with served() as found, found.client() as client:
        key = await found.key("viewer")
        await client.post("/api/session", json={"key": key.text})
        assert (await client.get("/api/verbs")).status_code == 200
        await found.perdure.access.revoke_key(key.id, "lost")
        assert (await client.get("/api/verbs")).status_code == 401


async def test_a_session_that_is_over_or_signed_elsewhere_is_as_none() -> None:
    async with served() as found:
        key = await found.key("viewer")
        principal = await found.perdure.access.authenticate_key(key.text)
        assert principal is not None
        now = found.perdure.runtime.sources.now()
        past = make_session(principal, now - 9 * 3600 * SECOND, "a", key.id)
        forged = make_session(principal, now, "a", key.id)
        for token in (session_token(SECRET, past), session_token(b"another secret of the same length", forged)):
            async with found.client(Cookie=f"{COOKIE}={token}") as client:
                assert (await client.get("/api/verbs")).status_code == 401
        async with found.client(Cookie=f"{COOKIE}={session_token(SECRET, forged)}") as client:
            assert (await client.get("/api/verbs")).status_code == 200


async def test_a_session_never_brings_more_than_its_key() -> None:
    async with served() as found, found.client() as client:
        key = await found.key("viewer")
        told = (await client.post("/api/session", json={"key": key.text})).json()
        assert told["roles"] == ["viewer"] and "verb.call" not in told["may"]
        answer = await client.post(
            "/api/verbs/desk.note/calls", json={"args": {"text": "x"}}, headers={"X-CSRF-Token": told["csrf"]}
        )
        assert answer.json()["code"] == "access.forbidden"
