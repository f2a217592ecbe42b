"""An identity provider made of keys of our own: it signs what a test asks for, and counts who asks it what."""

from __future__ import annotations

import functools
import json
import warnings
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs

import httpx
from joserfc import jws
from joserfc.errors import SecurityWarning
from joserfc.jwk import ECKey, OKPKey, RSAKey

from perdure.app.configuration.server import OidcConfig
from perdure.sources import SECOND
from perdure.surfaces.http.oidc import Provider
from perdure.testing.virtual_clock import VirtualSources

ISSUER = "https://login.example"
AUDIENCE = "https://perdure.example"
CLIENT = "dashboard"
CALLBACK = "https://perdure.example/api/session/oidc/callback"


@functools.cache
def rsa(name: str) -> RSAKey:
    """A key of that name, made once: it takes a while."""
    return RSAKey.generate_key(2048)


class Issuer:
    """Discovery, keys and tokens, over a transport that needs no network."""

    def __init__(self, name: str = "ours") -> None:
        self.sources = VirtualSources()
        self.keys: dict[str, RSAKey | ECKey | OKPKey] = {"rsa": rsa(name)}
        self.asked: Counter[str] = Counter()
        self.is_down = False
        self.told: dict[str, Any] = {
            "issuer": ISSUER, "jwks_uri": f"{ISSUER}/keys", "authorization_endpoint": f"{ISSUER}/authorize",
            "token_endpoint": f"{ISSUER}/token",
        }  # fmt: skip
        self.codes: dict[str, dict[str, str]] = {}
        self.answer: dict[str, Any] = {}
        self.forms: list[dict[str, list[str]]] = []
        self.headers: list[httpx.Headers] = []

    def provider(self, **words: Any) -> Provider:
        config = OidcConfig(ISSUER, AUDIENCE, client_id=CLIENT, **words)
        return Provider(config, self.sources, httpx.MockTransport(self._serve))

    def _serve(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.asked[f"{request.url.host}{path}"] += 1
        if self.is_down:
            raise httpx.ConnectError("nobody is there")
        match path:
            case "/.well-known/openid-configuration":
                return httpx.Response(200, json=self.told)
            case "/keys":
                return httpx.Response(200, json=self.jwks())
            case "/token":
                return self._token(request)
            case _:
                return httpx.Response(404)

    def jwks(self) -> dict[str, Any]:
        return {"keys": [{**key.as_dict(private=False), "kid": name, "use": "sig"} for name, key in self.keys.items()]}

    def _token(self, request: httpx.Request) -> httpx.Response:
        form = parse_qs(request.content.decode())
        self.forms.append(form)
        self.headers.append(request.headers)
        begun = self.codes.pop(form["code"][0], None)
        verifier = form["code_verifier"][0]
        challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        if begun is None or begun["code_challenge"] != challenge or begun["redirect_uri"] != form["redirect_uri"][0]:
            return httpx.Response(400, json={"error": "invalid_grant"})
        claims = {"aud": CLIENT, "nonce": begun["nonce"], **self.answer}
        return httpx.Response(200, json={"id_token": self.sign(self.claims(**claims)), "access_token": "opaque"})

    # --- tokens --------------------------------------------------------------------------------------------------

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Those of a good token of ana's; None takes one away."""
        now = self.sources.now() // SECOND
        claims: dict[str, Any] = {
            "iss": ISSUER, "aud": AUDIENCE, "sub": "ana", "exp": now + 300, "nbf": now, "iat": now,
            "tenant": "acme", "roles": ["operator", "janitor"], "groups": ["night"], **changes,
        }  # fmt: skip
        return {name: value for name, value in claims.items() if value is not None}

    def sign(
        self, claims: dict[str, Any] | None = None, *, key: str = "rsa", algorithm: str = "RS256", **header: Any
    ) -> str:
        """A token signed by one of the keys; further words go into its header, None takes one away."""
        whole = {"alg": algorithm, "kid": key, "typ": "JWT", **header}
        whole = {name: value for name, value in whole.items() if value is not None}
        payload = json.dumps(claims or self.claims())
        registry = jws.JWSRegistry(algorithms=[algorithm], strict_check_header=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecurityWarning)
            return jws.serialize_compact(whole, payload, self.keys[key], algorithms=[algorithm], registry=registry)


def encoded(value: Any) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> Any:
    return json.loads(urlsafe_b64decode(text + "=="))
