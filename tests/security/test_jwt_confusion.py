"""JWT confusion over HTTP: tokens that look like those of the identity provider open nothing."""

from __future__ import annotations

import pytest

from perdure.app.configuration.server import OidcConfig
from tests.access.identity_provider import AUDIENCE, ISSUER, Issuer, encoded
from tests.surfaces.http.in_process_server import served

pytestmark = pytest.mark.req("P3")
WRONG: list[dict[str, object]] = [{"aud": "x"}, {"iss": "https://x.example"}, {"exp": 1}]
CONFIG = OidcConfig(ISSUER, AUDIENCE)


async def test_a_token_that_the_provider_signed_for_us_opens_what_its_roles_may() -> None:
    issuer = Issuer()
    provider = issuer.provider()
    try:
        async with served(authentication=("oidc",), oidc=CONFIG, tokens=provider) as found:
            async with found.client(issuer.sign()) as client:
                assert (await client.get("/api/verbs")).status_code == 200
                assert (await client.get("/api/session")).json()["principal"] == "ana"
            for token in confused(issuer):
                async with found.client(token) as client:
                    answer = await client.get("/api/verbs")
                    assert answer.status_code == 401, token
                    assert token not in answer.text
            key = await found.key("admin")
            async with found.client(key) as client:
                assert (await client.get("/api/verbs")).status_code == 401  # keys are not among the means here
    finally:
        await provider.close()


def confused(issuer: Issuer) -> list[str]:
    """No signature, another algorithm's, somebody else's, another audience, and texts that are no tokens."""
    head, body, signature = issuer.sign().split(".")
    none = encoded({"alg": "none", "typ": "JWT"})
    return [
        f"{none}.{body}.", f"{none}.{body}.{signature}", f"{encoded({'alg': 'HS256', 'kid': 'x'})}.{body}.{signature}",
        f"{head}.{encoded({'sub': 'root', 'tenant': 'acme', 'roles': ['admin']})}.{signature}",
        f"{head}.{body}.", f"{head}.{body}", head, "....", "perdure_", Issuer("theirs").sign(),
        *(issuer.sign({**issuer.claims(), **changed}) for changed in WRONG),
    ]  # fmt: skip
