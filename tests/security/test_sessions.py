"""Sessions by name of the attack: forgery across sites, fixation, theft after revocation, forged and stale cookies."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from perdure.access.principal import Principal
from perdure.access.signed_tokens import SESSION_SECONDS, login_token, make_session, read_session, session_token
from perdure.sources import SECOND, SystemSources
from perdure.surfaces.http.oidc import Provider
from tests.access.identity_provider import CALLBACK, Issuer
from tests.surfaces.http.in_process_server import SECRET, Served, served

pytestmark = pytest.mark.req("P3")
COOKIE = "perdure_session"
ACT = "/api/verbs/desk.note/calls"
NOTE = {"args": {"text": "hello"}}


class Movable(SystemSources):
    """The system's clock, which a test may set ahead."""

    ahead = 0

    def now(self) -> int:
        return super().now() + self.ahead


async def signed_in(server: Served, browser: httpx.AsyncClient, *roles: Any) -> tuple[Any, dict[str, Any]]:
    """A key, and the session that began with it in that browser."""
    key = await server.key(*(roles or ("operator",)))
    answer = await browser.post("/api/session", json={"key": key.text})
    assert answer.status_code == 201, answer.text
    return key, answer.json()


async def test_who_signs_in_with_a_key_acts_with_the_cookie_and_the_page_s_token() -> None:
    async with served() as server, server.client() as browser:
        key, session = await signed_in(server, browser)
        assert (session["principal"], session["kind"]) == ("operator-person", "person")
        assert "verb.call" in session["may"]
        assert "key.create" not in session["may"]
        assert (await browser.get("/api/session")).json() == session
        done = await browser.post(ACT, json=NOTE, headers={"X-CSRF-Token": session["csrf"]})
        assert done.status_code == 201, done.text
        assert key.text not in str(browser.cookies)


async def test_a_stolen_cookie_opens_nothing_once_its_owner_has_signed_out() -> None:
    async with served() as server, server.client() as browser, server.client() as thief:
        _, session = await signed_in(server, browser)
        thief.cookies.set(COOKIE, browser.cookies[COOKIE])
        theirs = {"X-CSRF-Token": session["csrf"]}
        assert (await thief.post(ACT, json=NOTE, headers=theirs)).status_code == 201
        assert (await browser.delete("/api/session", headers=theirs)).status_code == 204
        assert (await thief.get("/api/session")).status_code == 401
        assert (await thief.post(ACT, json=NOTE, headers=theirs)).status_code == 401
        _, again = await signed_in(server, browser)
        assert (await browser.get("/api/session")).json() == again


async def test_request_forgery_a_cookie_alone_changes_nothing() -> None:
    async with served() as server, server.client() as browser, server.client() as other:
        await signed_in(server, browser)
        _, theirs = await signed_in(server, other)
        for headers in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "x"}, {"X-CSRF-Token": theirs["csrf"]}):
            refused = await browser.post(ACT, json=NOTE, headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (403, "access.csrf")
        away = await browser.post(ACT, json=NOTE, headers={"Origin": "https://evil.example"})
        assert away.status_code == 403
        assert (await browser.get("/api/verbs")).status_code == 200


async def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites() -> None:
    async with served() as server, server.client() as browser:
        key = await server.key("viewer")
        answer = await browser.post("/api/session", json={"key": key.text})
        written = answer.headers["set-cookie"].lower()
        assert "httponly" in written
        assert "samesite=lax" in written
        assert "secure" not in written
    async with served(public_url="https://perdure.example") as server, server.client() as browser:
        key = await server.key("viewer")
        answer = await browser.post("/api/session", json={"key": key.text})
        written = answer.headers["set-cookie"]
        assert written.startswith(f"__Host-{COOKIE}=")
        assert "secure" in written.lower()
        assert "domain" not in written.lower()
        assert "path=/" in written.lower()


async def test_session_fixation_each_sign_in_begins_another_session() -> None:
    async with served() as server:
        seen = set()
        key = await server.key("viewer")
        for planted in ("planted", session_token(SECRET, make_session(_ana(), 1, "planted"))):
            async with server.client(Cookie=f"{COOKIE}={planted}") as browser:
                answer = await browser.post("/api/session", json={"key": key.text})
                assert answer.status_code == 201
                token = answer.cookies[COOKIE]
                session = read_session(SECRET, token, server.perdure.runtime.sources.now())
                assert session is not None
                assert session.id != "planted"
                seen.add(session.id)
        assert len(seen) == 2


async def test_a_revoked_key_ends_its_sessions() -> None:
    async with served() as server, server.client() as browser:
        key, session = await signed_in(server, browser)
        await server.perdure.access.revoke_key(key.id)
        assert (await browser.get("/api/verbs")).status_code == 401
        late = await browser.post(ACT, json=NOTE, headers={"X-CSRF-Token": session["csrf"]})
        assert late.status_code == 401


async def test_a_session_ends_after_a_working_day() -> None:
    clock = Movable()
    async with served(sources=clock) as server, server.client() as browser:
        await signed_in(server, browser)
        clock.ahead = (SESSION_SECONDS - 1) * SECOND
        assert (await browser.get("/api/verbs")).status_code == 200
        clock.ahead = SESSION_SECONDS * SECOND
        assert (await browser.get("/api/verbs")).status_code == 401


async def test_forged_cookies_are_nobody_s() -> None:
    async with served(authentication=("keys", "oidc")) as server:
        now = server.perdure.runtime.sources.now()
        root = make_session(_ana("admin"), now, "s")
        forged = [
            session_token(b"another secret of thirty-two byte", root),
            session_token(SECRET, root)[:-2],
            session_token(SECRET, make_session(_ana("admin"), now, "s", "0" * 26)),
            login_token(SECRET, root),  # type: ignore[arg-type]
            "", ".", "x", "a.b",
        ]  # fmt: skip
        for token in forged:
            async with server.client(Cookie=f"{COOKIE}={token}") as browser:
                assert (await browser.get("/api/verbs")).status_code == 401, token


async def test_a_session_of_an_identity_provider_is_nobody_s_once_it_is_not_trusted_any_more() -> None:
    async with served(authentication=("keys",)) as server:
        token = session_token(SECRET, make_session(_ana("admin"), server.perdure.runtime.sources.now(), "s"))
        async with server.client(Cookie=f"{COOKIE}={token}") as browser:
            assert (await browser.get("/api/verbs")).status_code == 401


async def test_wrong_keys_begin_no_session_and_are_not_told_why() -> None:
    async with served() as server, server.client() as browser:
        key = await server.key("viewer")
        await server.perdure.access.revoke_key(key.id)
        told = []
        for text in (key.text, key.text[:-1] + ("A" if key.text[-1] != "A" else "B"), "perdure_x", "", "é" * 2000):
            answer = await browser.post("/api/session", json={"key": text})
            assert (answer.status_code, answer.cookies) == (401, httpx.Cookies())
            told.append(answer.json()["detail"])
        assert len(set(told)) == 1


# --- by an identity provider ------------------------------------------------------------------------------------------


async def begun(browser: httpx.AsyncClient, issuer: Issuer) -> dict[str, str]:
    sent = await browser.get("/api/session/oidc", params={"to": "/inbox"})
    assert sent.status_code == 303, sent.text
    asked = {name: values[0] for name, values in parse_qs(urlsplit(sent.headers["location"]).query).items()}
    assert asked["redirect_uri"] == CALLBACK
    issuer.codes["the-code"] = asked
    return asked


async def test_a_person_signs_in_elsewhere_and_comes_back_signed_in() -> None:
    issuer = Issuer()
    provider = issuer.provider()
    async with beside(issuer, provider) as server, https(server) as browser:
        asked = await begun(browser, issuer)
        back = await browser.get("/api/session/oidc/callback", params={"code": "the-code", "state": asked["state"]})
        assert (back.status_code, back.headers["location"]) == (303, "/inbox")
        session = (await browser.get("/api/session")).json()
        assert (session["principal"], session["tenant"], session["kind"]) == ("ana", "acme", "person")
        assert session["roles"] == ["operator"]
    await provider.close()


async def test_an_answer_planted_in_another_browser_signs_nobody_in() -> None:
    issuer = Issuer()
    provider = issuer.provider()
    async with beside(issuer, provider) as server, https(server) as attacker, https(server) as victim:
        asked = await begun(attacker, issuer)
        answer = {"code": "the-code", "state": asked["state"]}
        alone = await victim.get("/api/session/oidc/callback", params=answer)
        assert alone.status_code == 401
        await begun(victim, issuer)
        crossed = await victim.get("/api/session/oidc/callback", params=answer)
        assert crossed.status_code == 401
        assert (await victim.get("/api/session")).status_code == 401
    await provider.close()


def https(server: Served) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(server.edge)
    return httpx.AsyncClient(base_url="https://perdure.example", transport=transport, timeout=30)


def beside(issuer: Issuer, provider: Provider) -> AbstractAsyncContextManager[Served]:
    """A server that lives at the same time as the issuer."""
    clock = SystemSources()
    issuer.sources._now = clock.now()
    return served(authentication=("oidc",), tokens=provider, public_url="https://perdure.example", sources=clock)


def _ana(*roles: Any) -> Principal:
    return Principal("default", "ana", "person", frozenset(roles))
