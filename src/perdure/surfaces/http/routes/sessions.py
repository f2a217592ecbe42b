"""Sessions: who is signed in, signing in with a key or elsewhere, and signing out."""

from __future__ import annotations

from typing import Annotated

import msgspec

from perdure.access.api_key_text import read_key
from perdure.access.principal import Principal
from perdure.access.roles import may
from perdure.access.signed_tokens import (
    LOGIN_SECONDS,
    SESSION_SECONDS,
    Session,
    csrf_token,
    login_token,
    make_session,
    read_login,
    session_token,
)
from perdure.app.configuration.server import ServerConfig
from perdure.app.operations.request_fields import Word
from perdure.app.session_views import SessionView
from perdure.sources import fresh_secret
from perdure.surfaces.http.authorization import CHALLENGE
from perdure.surfaces.http.credentials import COOKIE, LOGIN, cookie_in, cookie_name
from perdure.surfaces.http.endpoint import public
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.json_response import Response, answer
from perdure.surfaces.http.oidc import Provider
from perdure.surfaces.http.problem_details import RefusedRequest
from perdure.surfaces.http.request_fields import read_fields

TAG = "session"
PATH = "/api/session"
Long = Annotated[str, msgspec.Meta(max_length=4000)]


class SignIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The text of a key."""

    key: str


class Destination(msgspec.Struct, frozen=True):
    """The page to come back to."""

    to: Word = "/"


class LoginAnswer(msgspec.Struct, frozen=True):
    """The answer of an identity provider."""

    code: Long = ""
    state: Long = ""
    iss: Long = ""


@public("GET", PATH, TAG, answer=SessionView)
async def show_session(request: JsonRequest) -> Response:
    """Who is signed in; when nobody is, the problem says by which `authentication` one can be."""
    principal: Principal | None = request.own.get("principal")
    if principal is None:
        raise nobody(request)
    return answer(_view(request, principal, request.own.get("session")))


@public("POST", PATH, TAG, request=SignIn, answer=SessionView, status=201)
async def sign_in(request: JsonRequest) -> Response:
    """Sign in with a key: from now on the cookie says who asks, until the key is revoked or a working day is over."""
    state = request.state
    data: SignIn = await read_fields(request, sign_in.fields)
    name, has_keys = read_key(data.key), "keys" in state.settings.means
    principal = await state.perdure.access.authenticate_key(data.key) if has_keys else None
    if principal is None or name is None:
        state.failures.check(request.client)
        raise nobody(request, "This key is not good here.", "It may be expired, revoked, or made for another server.")
    session, cookie = begun(request, principal, name.id)
    return answer(_view(request, session.principal, session), 201, cookies=[cookie])


@public("DELETE", PATH, TAG, status=204)
async def sign_out(request: JsonRequest) -> Response:
    """Sign out: the session ends at every server, whoever kept its cookie."""
    session: Session | None = request.own.get("session")
    if session is not None:
        person = session.principal
        await request.state.perdure.acting(tenant=person.tenant, principal=person.name).access.end_session(session)
    return Response(status=204, cookies=[_cookie(request.state.settings, "", 0)])


@public("GET", f"{PATH}/oidc", TAG, request=Destination, status=303)
async def sign_in_elsewhere(request: JsonRequest) -> Response:
    """Go and sign in at the identity provider; `to` is the page to come back to."""
    state = request.state
    asked: Destination = await read_fields(request, sign_in_elsewhere.fields)
    place, login = await _provider(request).begin_login(_callback(request), asked.to)
    cookie = _cookie(state.settings, login_token(state.secret, login), LOGIN_SECONDS, LOGIN)
    return Response(status=303, headers={"Location": place}, cookies=[cookie])


@public("GET", f"{PATH}/oidc/callback", TAG, request=LoginAnswer, status=303)
async def come_back(request: JsonRequest) -> Response:
    """Back from the identity provider: a session begins."""
    answered: LoginAnswer = await read_fields(request, come_back.fields)
    state = request.state
    kept = cookie_in(request.header(b"cookie") or "", cookie_name(state.settings, LOGIN))
    login = read_login(state.secret, kept, state.perdure.runtime.sources.now())
    if login is None:
        raise nobody(request, "No sign-in began in this browser, or it took too long.", "Sign in again.")
    principal = await _provider(request).finish_login(
        login, code=answered.code, state=answered.state, redirect_uri=_callback(request), issuer=answered.iss
    )
    _, cookie = begun(request, principal, "")
    forgotten = _cookie(state.settings, "", 0, LOGIN)
    return Response(status=303, headers={"Location": login.back_to}, cookies=[cookie, forgotten])


def begun(request: JsonRequest, principal: Principal, key: str) -> tuple[Session, str]:
    """A new session, whatever there was before: nobody can have known its id beforehand."""
    state = request.state
    session = make_session(principal, state.perdure.runtime.sources.now(), fresh_secret(16).hex(), key)
    return session, _cookie(state.settings, session_token(state.secret, session), SESSION_SECONDS)


def _provider(request: JsonRequest) -> Provider:
    provider = request.state.tokens
    if not isinstance(provider, Provider):
        raise RefusedRequest(404, "access.no_sign_in", "Nobody can sign in here by an identity provider.")
    return provider


def _callback(request: JsonRequest) -> str:
    """The address the provider sends people back to; the provider knows it, so it cannot be talked into another."""
    base = request.state.settings.public_url or f"{request.scope['scheme']}://{request.header(b'host') or ''}"
    return f"{base}/api/session/oidc/callback"


def nobody(request: JsonRequest, detail: str = "Nobody is signed in.", hint: str = "") -> RefusedRequest:
    more = {"authentication": list(request.state.settings.means)}
    return RefusedRequest(401, "access.unauthenticated", detail, hint, headers=CHALLENGE, more=more)


def _view(request: JsonRequest, principal: Principal, session: Session | None) -> SessionView:
    state = request.state
    csrf = csrf_token(state.secret, session) if session is not None else ""
    return SessionView(
        principal.name, principal.tenant, principal.kind, sorted(principal.roles), list(principal.groups), csrf,
        "none" if principal.is_at_machine else ",".join(state.settings.means), may(principal), list(principal.verbs),
    )  # fmt: skip


def _cookie(settings: ServerConfig, value: str, seconds: int, name: str = COOKIE) -> str:
    text = f"{cookie_name(settings, name)}={value}; HttpOnly; Max-Age={seconds}; Path=/; SameSite=lax"
    return f"{text}; Secure" if settings.is_secure else text


ENDPOINTS = (show_session, sign_in, sign_out, sign_in_elsewhere, come_back)
