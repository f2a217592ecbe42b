"""The credentials a server takes: keys, bearer tokens of an identity provider, tokens of waits, sessions in cookies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from msgspec.structs import replace

from perdure.access.api_key_text import PREFIX
from perdure.access.principal import Principal, local
from perdure.access.signed_tokens import (
    Session,
    is_csrf,
    read_request_token,
    read_session,
    read_wait_token,
    request_principal,
    wait_principal,
)
from perdure.app.access.api_keys import KeyOperations
from perdure.app.configuration.server import ServerConfig
from perdure.sources import Sources
from perdure.surfaces.http.authorization import CHALLENGE
from perdure.surfaces.http.problem_details import RefusedRequest
from perdure.surfaces.http.rate_limits import Buckets

UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})
COOKIE = "perdure_session"
LOGIN = "perdure_login"
SECURE = "__Host-"
CSRF_HEADER = b"x-csrf-token"


class TokenReader(Protocol):
    """Whose token an identity provider signed; RefusedRequest for whatever it did not sign for us, or no longer."""

    async def authenticate(self, token: str) -> Principal: ...


class Open:
    """Everyone is the local person until there is a key: such a server listens on loopback only.

    Who shows a credential is whom it names. Where keys are good, who shows none is nobody: an agent that leaves its key
    out must not become the person who confirms its work.
    """

    def __init__(self, credentials: Credentials, has_keys: Callable[[], Awaitable[bool]]) -> None:
        self._credentials = credentials
        self._has_keys = has_keys

    async def identify(self, scope: Any) -> Principal | None:
        is_shown = any(name == b"authorization" for name, _ in scope["headers"])
        return await self._credentials.identify(scope) if is_shown or await self._has_keys() else local()


class Credentials:
    """Tells who asks from the headers, None when nobody says. A bad credential is refused, whatever is asked."""

    def __init__(
        self, access: KeyOperations, settings: ServerConfig, secret: bytes, sources: Sources,
        failures: Buckets, tokens: TokenReader | None = None,
    ) -> None:  # fmt: skip
        self._access = access
        self._secret = secret
        self._sources = sources
        self._has_keys = "keys" in settings.means
        self._tokens = tokens if "oidc" in settings.authentication else None
        self._cookie = cookie_name(settings)
        self._rates = Buckets(sources, settings.rate_per_second, settings.rate_burst)
        self._failures = failures

    async def identify(self, scope: Any) -> Principal | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"] if name in _WANTED}
        written = headers.get(b"authorization", "")
        principal = await (self._shown(scope, written) if written else self._signed_in(scope, headers))
        if principal is not None:
            self._rates.check(f"{principal.tenant}\0{principal.name}\0{principal.via}")
        return principal

    async def _shown(self, scope: Any, written: str) -> Principal:
        scheme, _, text = written.partition(" ")
        try:
            found = await self._recognised(scope, scheme.lower(), text.strip())
        except RefusedRequest as error:
            if error.status == 401:
                client = scope.get("client")
                self._failures.check(client[0] if client else "")
            raise
        return found

    async def _recognised(self, scope: Any, scheme: str, text: str) -> Principal:
        found: Principal | None = None
        if scheme == "wait":
            found = self._waiting(scope, text)
        elif scheme == "bearer" and text.startswith(PREFIX) and self._has_keys:
            found = await self._access.authenticate_key(text)
        elif scheme == "bearer" and self._tokens is not None and not text.startswith(PREFIX):
            found = await self._tokens.authenticate(text)
        if found is None:
            detail, hint = "The credential is not good here.", "It may be expired, revoked, or made for another server."
            raise RefusedRequest(401, "access.unauthenticated", detail, hint, headers=CHALLENGE)
        return found

    def _waiting(self, scope: Any, text: str) -> Principal | None:
        request = read_request_token(self._secret, text, self._sources.now())
        if request is not None:
            scope["state"]["asked"] = request
            return request_principal(request)
        name = read_wait_token(self._secret, text)
        if name is None:
            return None
        scope["state"]["wait"] = name
        return wait_principal(name)

    async def _signed_in(self, scope: Any, headers: dict[bytes, str]) -> Principal | None:
        """Whoever has a good cookie. One that is not good is as none: signing in anew must be possible."""
        token = cookie_in(headers.get(b"cookie", ""), self._cookie)
        session = read_session(self._secret, token, self._sources.now()) if token else None
        principal = await self._of_session(session) if session is not None else None
        if session is None or principal is None or await self._access.is_ended(session):
            return None
        scope["state"]["session"] = session
        if scope["method"] in UNSAFE and not is_csrf(self._secret, session, headers.get(CSRF_HEADER, "")):
            hint = "Send the `csrf` of GET /api/session as X-CSRF-Token."
            raise RefusedRequest(403, "access.csrf", "The request does not come from our own page.", hint)
        return principal

    async def _of_session(self, session: Session) -> Principal | None:
        """A session is worth what its key is worth now; of others what they were worth when they began."""
        if not session.key:
            return session.principal if self._tokens is not None else None
        if not self._has_keys:
            return None
        found = await self._access.principal_of_key(session.principal.tenant, session.key)
        return replace(found, via="session") if found is not None else None


_WANTED = frozenset({b"authorization", b"cookie", CSRF_HEADER})


def cookie_name(settings: ServerConfig, name: str = COOKIE) -> str:
    """Where browsers come by https, a name that no other host and no plain connection can set."""
    return f"{SECURE}{name}" if settings.is_secure else name


def cookie_in(header: str, name: str) -> str:
    """The value of a cookie; empty when there is none."""
    for each in header.split(";"):
        found, _, value = each.strip().partition("=")
        if found == name:
            return value
    return ""
