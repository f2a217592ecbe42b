"""Sessions: who is signed in, signing in with a key or elsewhere, and signing out."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, Response, delete, get, post
from litestar.datastructures import Cookie

from perdure.access.key_text import read_key
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
from perdure.app.session_views import SessionView
from perdure.sources import Sources, fresh_secret
from perdure.surfaces.http.authorization import CHALLENGE
from perdure.surfaces.http.credentials import COOKIE, LOGIN, cookie_in, cookie_name
from perdure.surfaces.http.oidc import Provider
from perdure.surfaces.http.problem_details import RefusedRequest
from perdure.surfaces.http.route_decorators import public
from perdure.surfaces.http.route_parameters import Long, Word

TAGS = ("session",)
AnyRequest = Request[Any, Any, Any]


class SignIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The text of a key."""

    key: str


@public(get, "/session", tags=TAGS)
async def show_session(request: AnyRequest) -> SessionView:
    """Who is signed in; when nobody is, the problem says by which `authentication` one can be."""
    principal: Principal | None = request.scope["state"].get("principal")
    if principal is None:
        raise nobody(request)
    return _view(request, principal, request.scope["state"].get("session"))


@public(post, "/session", status_code=201, tags=TAGS)
async def sign_in(request: AnyRequest, data: SignIn) -> Response[SessionView]:
    """Sign in with a key: from now on the cookie says who asks, until the key is revoked or a working day is over."""
    state = request.app.state
    settings: ServerConfig = state.settings
    name = read_key(data.key)
    principal = await state.perdure.access.authenticate_key(data.key) if "keys" in settings.authentication else None
    if principal is None or name is None:
        state.failures.check(request.client.host if request.client is not None else "")
        raise nobody(request, "This key is not good here.", "It may be expired, revoked, or made for another server.")
    session, cookie = begun(request, principal, name.id)
    return Response(_view(request, session.principal, session), status_code=201, cookies=[cookie])


@public(delete, "/session", status_code=204, tags=TAGS)
async def sign_out(request: AnyRequest) -> Response[None]:
    """Sign out: the browser forgets the cookie."""
    settings: ServerConfig = request.app.state.settings
    return Response(None, status_code=204, cookies=[_cookie(settings, "", 0)])


@public(get, "/session/oidc", status_code=303, tags=TAGS)
async def sign_in_elsewhere(request: AnyRequest, to: Word = "/") -> Response[None]:
    """Go and sign in at the identity provider; `to` is the page to come back to."""
    state = request.app.state
    place, login = await _provider(request).begin_login(_callback(request), to)
    cookie = _cookie(state.settings, login_token(state.secret, login), LOGIN_SECONDS, LOGIN)
    return Response(None, status_code=303, headers={"Location": place}, cookies=[cookie])


@public(get, "/session/oidc/callback", status_code=303, tags=TAGS)
async def come_back(request: AnyRequest, code: Long = "", iss: Long = "") -> Response[None]:
    """Back from the identity provider: a session begins."""
    state = request.app.state
    sources: Sources = state.perdure.runtime.sources
    kept = cookie_in(request.headers.get("cookie", ""), cookie_name(state.settings, LOGIN))
    login = read_login(state.secret, kept, sources.now())
    if login is None:
        raise nobody(request, "No sign-in began in this browser, or it took too long.", "Sign in again.")
    answered = request.query_params.get("state", "")
    principal = await _provider(request).finish_login(
        login, code=code, state=answered, redirect_uri=_callback(request), issuer=iss
    )
    _, cookie = begun(request, principal, "")
    forgotten = _cookie(state.settings, "", 0, LOGIN)
    return Response(None, status_code=303, headers={"Location": login.back_to}, cookies=[cookie, forgotten])


def begun(request: AnyRequest, principal: Principal, key: str) -> tuple[Session, Cookie]:
    """A new session, whatever there was before: nobody can have known its id beforehand."""
    state = request.app.state
    sources: Sources = state.perdure.runtime.sources
    session = make_session(principal, sources.now(), fresh_secret(16).hex(), key)
    return session, _cookie(state.settings, session_token(state.secret, session), SESSION_SECONDS)


def _provider(request: AnyRequest) -> Provider:
    provider = request.app.state.tokens
    if not isinstance(provider, Provider):
        raise RefusedRequest(404, "access.no_sign_in", "Nobody can sign in here by an identity provider.")
    return provider


def _callback(request: AnyRequest) -> str:
    """The address the provider sends people back to; the provider knows it, so it cannot be talked into another."""
    base = request.app.state.settings.public_url or f"{request.url.scheme}://{request.url.netloc}"
    return f"{base}/api/session/oidc/callback"


def nobody(request: AnyRequest, detail: str = "Nobody is signed in.", hint: str = "") -> RefusedRequest:
    means = list(request.app.state.settings.authentication)
    return RefusedRequest(
        401, "access.unauthenticated", detail, hint, headers=CHALLENGE, more={"authentication": means}
    )  # fmt: skip


def _view(request: AnyRequest, principal: Principal, session: Session | None) -> SessionView:
    state = request.app.state
    csrf = csrf_token(state.secret, session) if session is not None else ""
    return SessionView(
        principal.name, principal.tenant, principal.kind, sorted(principal.roles), list(principal.groups), csrf,
        ",".join(state.settings.authentication) or "none", may(principal), list(principal.verbs),
    )  # fmt: skip


def _cookie(settings: ServerConfig, value: str, seconds: int, name: str = COOKIE) -> Cookie:
    return Cookie(
        cookie_name(settings, name), value=value, max_age=seconds, httponly=True, samesite="lax",
        secure=settings.is_secure,
    )  # fmt: skip


ROUTES: tuple[Any, ...] = (show_session, sign_in, sign_out, sign_in_elsewhere, come_back)
