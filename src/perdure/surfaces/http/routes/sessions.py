"""Sessions: who is signed in, signing in with a key or elsewhere, and signing out."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, Response, delete, get, post
from litestar.datastructures import Cookie

from perdure.access.keytexts import read_key
from perdure.access.principal import Kind, Principal
from perdure.access.roles import may
from perdure.access.tokens import SESSION_SECONDS, Session, csrf_token, make_session, session_token
from perdure.app.server_config import ServerConfig
from perdure.sources import Sources, fresh_secret, id_text
from perdure.surfaces.http.bodies import Body
from perdure.surfaces.http.credentials import cookie_name
from perdure.surfaces.http.guarding import CHALLENGE
from perdure.surfaces.http.making import public
from perdure.surfaces.http.problems import RefusedRequest

TAGS = ("session",)
AnyRequest = Request[Any, Any, Any]


class SessionView(msgspec.Struct, frozen=True):
    """Who is signed in and what they may do. Whatever changes something sends `csrf` as X-CSRF-Token."""

    principal: str
    tenant: str
    kind: Kind
    roles: list[str]
    groups: list[str]
    csrf: str
    authentication: str
    may: list[str]
    verbs: list[str]


class SignIn(Body, frozen=True):
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
    return begun(request, principal, id_text(name.id), 201)


@public(delete, "/session", status_code=204, tags=TAGS)
async def sign_out(request: AnyRequest) -> Response[None]:
    """Sign out: the browser forgets the cookie."""
    settings: ServerConfig = request.app.state.settings
    return Response(None, status_code=204, cookies=[_cookie(settings, "", 0)])


def begun(request: AnyRequest, principal: Principal, key: str, status: int) -> Response[SessionView]:
    """A new session, whatever there was before: nobody can have known its id beforehand."""
    state = request.app.state
    sources: Sources = state.perdure.runtime.sources
    session = make_session(principal, sources.now(), fresh_secret(16).hex(), key)
    cookie = _cookie(state.settings, session_token(state.secret, session), SESSION_SECONDS)
    return Response(_view(request, session.principal, session), status_code=status, cookies=[cookie])


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


def _cookie(settings: ServerConfig, value: str, seconds: int) -> Cookie:
    return Cookie(
        cookie_name(settings), value=value, max_age=seconds, httponly=True, samesite="lax",
        secure=settings.is_secure,
    )  # fmt: skip


ROUTES: tuple[Any, ...] = (show_session, sign_in, sign_out)
