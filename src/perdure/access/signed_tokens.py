"""Signed tokens: a server signs tokens of waits for outsiders and sessions of people in a browser.

Pure functions of a secret and of the time. Each purpose has a key of its own, derived from the secret: what was signed
for one is worth nothing to another.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from perdure.access.api_key_text import from_letters, to_letters
from perdure.access.principal import Principal
from perdure.errors import RejectedError, Rejection
from perdure.sources import SECOND, Micros
from perdure.typed_reading import read_json

WAIT: Final = b"perdure wait 3"
SESSION: Final = b"perdure session 1"
CSRF: Final = b"perdure csrf 1"
LOGIN: Final = b"perdure login 1"
LINK: Final = b"perdure link 1"
REQUEST: Final = b"perdure request 1"

WAIT_PREFIX = "wait_"
WAIT_OPERATIONS = ("completion.send", "progress.send")
REQUEST_PREFIX = "request_"
REQUEST_OPERATIONS = ("request.read", "request.submit")
SESSION_SECONDS = 8 * 3600
LOGIN_SECONDS = 600
LINK_SECONDS = 300
"""How long a link to content works."""
SKEW: Micros = 60 * SECOND
MAX_TOKEN = 4000
"""What a browser keeps of a cookie; no wait token is longer."""


class Session(msgspec.Struct, frozen=True, array_like=True):
    """Who signed in, until when, and by which key; a new `id` each time somebody does."""

    id: str
    principal: Principal
    signed_in_at: Micros
    expires_at: Micros
    key: str = ""
    """The key that was shown: when it is revoked the session ends. Empty for who came by OIDC."""


class Login(msgspec.Struct, frozen=True, array_like=True):
    """What a server remembers, in the browser, of somebody it has sent to sign in elsewhere."""

    state: str
    nonce: str
    verifier: str
    expires_at: Micros
    back_to: str = "/"


class ContentLink(msgspec.Struct, frozen=True, array_like=True):
    """Whose link opens the blob of which version, and until when."""

    tenant: str
    document: str
    version: int
    principal: str
    expires_at: Micros
    key: str = ""
    """The key that was shown for it: once that opens nothing, neither does the link."""


class WaitName(msgspec.Struct, frozen=True):
    """Which wait a token may end."""

    tenant: str
    key: str
    wait: str = ""
    """The name of the wait itself: a later one under the same key is another. Empty where the key is never reused."""
    makers: tuple[str, ...] = ()
    """Who had the token made, with who stands behind them."""


class RequestName(msgspec.Struct, frozen=True, array_like=True):
    """Which request for a document a token answers, until when, and who had the token made."""

    tenant: str
    correlation_id: str
    expires_at: Micros
    makers: tuple[str, ...] = ()


# --- waits ------------------------------------------------------------------------------------------------------------


def wait_token(secret: bytes, name: WaitName) -> str:
    """What an outsider shows to end one wait, or to say how it goes; worth nothing once the wait is over."""
    body = ".".join(to_letters(each.encode()) for each in (name.tenant, name.key, name.wait, *name.makers))
    return f"{WAIT_PREFIX}{body}.{_signature(secret, WAIT, body)}"


def read_wait_token(secret: bytes, token: str) -> WaitName | None:
    """The wait a token was made for; None for whatever this server did not sign."""
    if len(token) > MAX_TOKEN or not token.startswith(WAIT_PREFIX):
        return None
    body, _, signature = token.removeprefix(WAIT_PREFIX).rpartition(".")
    if not _is_signed(secret, WAIT, body, signature):
        return None
    names = [read.decode() for each in body.split(".") if (read := from_letters(each)) is not None]
    if len(names) < 3:
        return None
    tenant, key, wait, *makers = names
    return WaitName(tenant, key, wait, tuple(makers))


def wait_principal(name: WaitName) -> Principal:
    """Whoever shows a wait's token: may send its completion and its progress, and no more than who had it made.

    Which wait, the operation checks.
    """
    return Principal(
        name.tenant, f"wait:{name.key}"[:200], "service", frozenset({"operator"}), operations=WAIT_OPERATIONS,
        via="wait", behind=name.makers,
    )  # fmt: skip


# --- requests for documents -------------------------------------------------------------------------------------------


def request_token(secret: bytes, name: RequestName) -> str:
    """What a client shows to see one request for a document and to answer it; worth nothing once that is over."""
    return REQUEST_PREFIX + _sealed(secret, REQUEST, name)


def read_request_token(secret: bytes, token: str, now: Micros) -> RequestName | None:
    """The request that a token was made for; None when it was not signed here, or its time is over."""
    if not token.startswith(REQUEST_PREFIX):
        return None
    name = _opened(secret, REQUEST, token.removeprefix(REQUEST_PREFIX), RequestName)
    return name if name is not None and now < name.expires_at else None


def request_principal(name: RequestName) -> Principal:
    """Whoever shows the token of a request: may see what is asked and hand it in, and no more than who had it made."""
    return Principal(
        name.tenant, f"request:{name.correlation_id}"[:200], "service", frozenset({"operator"}),
        operations=REQUEST_OPERATIONS, via="wait", behind=name.makers, expires_at=name.expires_at,
    )  # fmt: skip


# --- sessions ---------------------------------------------------------------------------------------------------------


def make_session(principal: Principal, now: Micros, id: str, key: str = "") -> Session:
    """A session that begins now. `id` must be fresh each time, so that nobody can fix it beforehand."""
    return Session(id, replace(principal, via="session"), now, now + SESSION_SECONDS * SECOND, key)


def session_token(secret: bytes, session: Session) -> str:
    """A session as the cookie holds it: signed, readable by its owner, unchangeable."""
    token = _sealed(secret, SESSION, session)
    if len(token) > MAX_TOKEN:
        fact = f"what is known of them takes {len(token):,} letters and a cookie holds {MAX_TOKEN:,}"
        hint = "They belong to too many groups: let the identity provider tell fewer."
        raise RejectedError(Rejection("blocked", "begin session of", "principal", session.principal.name, fact, hint))
    return token


def read_session(secret: bytes, token: str, now: Micros) -> Session | None:
    """The session behind a cookie; None when it was not signed here, is over, or begins later than clocks differ."""
    session = _opened(secret, SESSION, token, Session)
    if session is None or not session.signed_in_at - SKEW <= now < session.expires_at:
        return None
    return session


def csrf_token(secret: bytes, session: Session) -> str:
    """What a page of that session must send with whatever changes something; no other site can know it."""
    return _signature(secret, CSRF, session.id)


def is_csrf(secret: bytes, session: Session, token: str) -> bool:
    return _is_signed(secret, CSRF, session.id, token)


# --- signing in elsewhere ---------------------------------------------------------------------------------------------


def login_token(secret: bytes, login: Login) -> str:
    return _sealed(secret, LOGIN, login)


def read_login(secret: bytes, token: str, now: Micros) -> Login | None:
    """What was remembered of a sign-in that began here; None when it was not, or too long ago."""
    login = _opened(secret, LOGIN, token, Login)
    return login if login is not None and now < login.expires_at else None


# --- content --------------------------------------------------------------------------------------------------------


def link_token(secret: bytes, link: ContentLink) -> str:
    return _sealed(secret, LINK, link)


def read_link(secret: bytes, token: str, now: Micros) -> ContentLink | None:
    """What a link opens; None when it was not signed here, or its time is over."""
    link = _opened(secret, LINK, token, ContentLink)
    return link if link is not None and now < link.expires_at else None


# --- signing ----------------------------------------------------------------------------------------------------------


def _signature(secret: bytes, purpose: bytes, body: str) -> str:
    key = hmac.digest(secret, purpose, sha256)
    return to_letters(hmac.digest(key, body.encode(), sha256))


def _is_signed(secret: bytes, purpose: bytes, body: str, signature: str) -> bool:
    # Compared as bytes: texts with letters beyond ASCII would not be compared but raise.
    return hmac.compare_digest(_signature(secret, purpose, body).encode(), signature.encode(errors="replace"))


def _sealed(secret: bytes, purpose: bytes, value: msgspec.Struct) -> str:
    body = to_letters(msgspec.json.encode(value, order="deterministic"))
    return f"{body}.{_signature(secret, purpose, body)}"


T = TypeVar("T", bound=msgspec.Struct)


def _opened(secret: bytes, purpose: bytes, token: str, kind: type[T]) -> T | None:
    body, _, signature = token.rpartition(".")
    if len(token) > MAX_TOKEN or not _is_signed(secret, purpose, body, signature):
        return None
    data = from_letters(body)
    try:
        return read_json(data, kind) if data is not None else None
    except msgspec.DecodeError:
        return None  # an older release of ours signed it
