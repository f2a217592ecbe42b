"""OpenID Connect: tokens of an identity provider are checked with its own keys, and people sign in there."""

from __future__ import annotations

import asyncio
import logging
import os
from hashlib import sha256
from hmac import compare_digest
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import httpx
import msgspec

from perdure.access.api_key_text import to_letters
from perdure.access.principal import Kind, Principal
from perdure.access.signed_tokens import LOGIN_SECONDS, Login
from perdure.access.token_claims import ClaimNames, Expected, claims_fault, principal_of
from perdure.app.configuration.server import OidcConfig, is_loopback
from perdure.sources import SECOND, Micros, Sources, fresh_secret
from perdure.surfaces.http.jwt import KeyFound, read_header, read_keys, suiting, verified
from perdure.surfaces.http.problem_details import RefusedRequest
from perdure.typed_reading import convert

KNOWN_FOR: Micros = 3600 * SECOND
"""How long what the provider says about itself, and its keys, are believed."""
ASKED_AGAIN: Micros = 30 * SECOND
"""How soon at the earliest it is asked again because of a key that is not known, or because it did not answer."""
TIMEOUT_SECONDS = 5.0
MAX_ANSWER = 512 * 1024
SCOPES = "openid profile email"
log = logging.getLogger("perdure.http")


class Told(msgspec.Struct, frozen=True):
    """What a provider says about itself."""

    issuer: str
    jwks_uri: str
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class Provider:
    """One identity provider, as configured. Asked rarely, and never where a token says to ask."""

    def __init__(self, config: OidcConfig, sources: Sources, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._config = config
        self._sources = sources
        self._client = httpx.AsyncClient(timeout=TIMEOUT_SECONDS, follow_redirects=False, transport=transport)
        self._names = ClaimNames(
            config.tenant_claim, config.roles_claim, config.groups_claim, config.name_claim, config.kind_claim
        )
        self._told: Told | None = None
        self._keys: list[KeyFound] = []
        self._asked_at: Micros = -KNOWN_FOR
        self._known_at: Micros = -KNOWN_FOR
        self._asking = asyncio.Lock()

    async def close(self) -> None:
        await self._client.aclose()

    async def authenticate(self, token: str) -> Principal:
        """Who a bearer token says it is, a service unless it says a person; refused when it is not good."""
        return await self._principal(token, self._config.audience, "service")

    async def _principal(self, token: str, audience: str, kind: Kind, nonce: str | None = None) -> Principal:
        claims = await self._claims(token)
        now = self._sources.now() / SECOND
        expected = Expected(self._config.issuer, audience, now, self._config.leeway_seconds, nonce)
        if fault := claims_fault(claims, expected):
            raise refused(fault)
        found = principal_of(claims, self._names, kind)
        if isinstance(found, str):
            raise refused(found)
        return found

    async def _claims(self, token: str) -> dict[str, Any]:
        header = read_header(token)
        if header is None:
            raise refused("it is no signed token of a kind that is accepted")
        await self._know()
        keys = suiting(self._keys, header)
        if not keys:
            await self._know(is_anew=True)  # the provider may have taken another key since
            keys = suiting(self._keys, header)
        claims = verified(token, header, keys)
        if claims is None:
            raise refused("none of the issuer's keys signed it")
        return claims

    async def _know(self, is_anew: bool = False) -> Told:
        """What it says and its keys, from memory for an hour; while it does not answer, what it said before holds."""
        asked = self._asked_at
        if self._is_due(is_anew):
            async with self._asking:
                if self._asked_at == asked:  # else somebody has asked meanwhile
                    await self._ask()
        if self._told is None:
            raise RefusedRequest(
                503, "access.provider_unavailable", "The identity provider does not answer.",
                "Ask again in a while, or use a key.", headers={"Retry-After": "30"},
            )  # fmt: skip
        return self._told

    def _is_due(self, is_anew: bool) -> bool:
        now = self._sources.now()
        if now < self._asked_at or now - self._asked_at >= KNOWN_FOR:
            return True
        is_old = is_anew or self._told is None or now - self._known_at >= KNOWN_FOR
        return is_old and now - self._asked_at >= ASKED_AGAIN

    async def _ask(self) -> None:
        self._asked_at = self._sources.now()
        issuer = self._config.issuer
        try:
            told = convert(await self._get(f"{issuer.rstrip('/')}/.well-known/openid-configuration"), Told)
            if told.issuer != issuer:
                raise ValueError("it names another issuer")
            keys = read_keys(await self._get(told.jwks_uri))
        except (httpx.HTTPError, httpx.InvalidURL, msgspec.MsgspecError, ValueError, RecursionError) as error:
            log.warning("the identity provider %s could not be asked: %s", issuer, type(error).__name__)
            return
        self._told, self._keys, self._known_at = told, keys, self._asked_at

    async def _get(self, url: str) -> Any:
        _require_safe(url)
        async with self._client.stream("GET", url, headers={"Accept": "application/json"}) as answer:
            return await _json(answer)

    async def begin_login(self, redirect_uri: str, back_to: str = "/") -> tuple[str, Login]:
        """Where to send somebody to sign in, and what to remember of it in their browser."""
        told = await self._know()
        if not self._config.client_id or not told.authorization_endpoint:
            raise RefusedRequest(404, "access.no_sign_in", "Nobody can sign in here by the identity provider.")
        state, nonce, verifier = (to_letters(fresh_secret()) for _ in range(3))
        login = Login(state, nonce, verifier, self._sources.now() + LOGIN_SECONDS * SECOND, local_path(back_to))
        asked = {
            "response_type": "code", "client_id": self._config.client_id, "redirect_uri": redirect_uri,
            "scope": SCOPES, "state": state, "nonce": nonce, "code_challenge_method": "S256",
            "code_challenge": to_letters(sha256(verifier.encode()).digest()),
        }  # fmt: skip
        _require_safe(told.authorization_endpoint)
        joint = "&" if urlsplit(told.authorization_endpoint).query else "?"
        return f"{told.authorization_endpoint}{joint}{urlencode(asked)}", login

    async def finish_login(
        self, login: Login, *, code: str, state: str, redirect_uri: str, issuer: str = ""
    ) -> Principal:
        """Who signed in: a person, unless the provider says otherwise. Refused unless it answers what was asked."""
        told = await self._know()
        if not code or not compare_digest(state.encode(errors="replace"), login.state.encode()):
            raise refused("it answers another request")
        if (issuer or told.authorization_response_iss_parameter_supported) and issuer != self._config.issuer:
            raise refused("another issuer answers")
        token = await self._exchange(told, code, login.verifier, redirect_uri)
        return await self._principal(token, self._config.client_id, "person", login.nonce)

    async def _exchange(self, told: Told, code: str, verifier: str, redirect_uri: str) -> str:
        client, secret = self._config.client_id, self._client_secret()
        form = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri, "code_verifier": verifier
        }  # fmt: skip
        auth: httpx.BasicAuth | None = None
        if secret and "client_secret_basic" in told.token_endpoint_auth_methods_supported:
            auth = httpx.BasicAuth(quote(client, safe=""), quote(secret, safe=""))
        else:
            form |= {"client_id": client} | ({"client_secret": secret} if secret else {})
        try:
            _require_safe(told.token_endpoint)
            async with self._client.stream("POST", told.token_endpoint, data=form, auth=auth) as answer:
                token = (await _json(answer)).get("id_token")
        except (httpx.HTTPError, httpx.InvalidURL, msgspec.MsgspecError, ValueError, AttributeError) as error:
            log.warning("the identity provider gave no token: %s", type(error).__name__)
            raise refused("the identity provider gave no token for it") from None
        if not isinstance(token, str):
            raise refused("the identity provider gave no token for it")
        return token

    def _client_secret(self) -> str:
        name = self._config.client_secret_env
        return os.environ.get(name, "") if name else ""


def refused(fact: str) -> RefusedRequest:
    """A token that is not good, and why; never what stands in it."""
    challenge = {"WWW-Authenticate": 'Bearer realm="perdure", error="invalid_token"'}
    return RefusedRequest(
        401, "access.unauthenticated", f"The token was refused: {fact}.", "Sign in again.", headers=challenge
    )


def local_path(text: str) -> str:
    """A path of this server to come back to; the start page for whatever could lead elsewhere."""
    is_local = text.startswith("/") and text.isprintable() and not text.startswith(("//", "/\\")) and len(text) <= 500
    return text if is_local and "\\" not in text else "/"


def _require_safe(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise ValueError("it is no https address")


async def _json(answer: httpx.Response) -> Any:
    answer.raise_for_status()
    if answer.is_redirect:
        raise ValueError("it leads elsewhere")
    body = b""
    async for part in answer.aiter_bytes():
        body += part
        if len(body) > MAX_ANSWER:
            raise ValueError("it is too long")
    return msgspec.json.decode(body)
