"""Tokens of an identity provider: which are believed, which are not, and how seldom the provider is asked."""

from __future__ import annotations

import asyncio
import hmac
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import ECKey, OctKey, OKPKey

from perdure.access.principal import Principal
from perdure.access.token_claims import ClaimNames, Expected, claims_fault, principal_of
from perdure.sources import SECOND
from perdure.surfaces.http.jwt import read_header, read_keys
from perdure.surfaces.http.oidc import ASKED_AGAIN, KNOWN_FOR, local_path
from perdure.surfaces.http.problem_details import RefusedRequest
from tests.access.identity_provider import AUDIENCE, CALLBACK, CLIENT, ISSUER, Issuer, decoded, encoded, rsa

pytestmark = pytest.mark.req("P3")


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


async def refusal(issuer: Issuer, token: str, **words: Any) -> str:
    """Why a token is refused; it must be, with 401."""
    provider = issuer.provider(**words)
    try:
        with pytest.raises(RefusedRequest) as caught:
            await provider.authenticate(token)
    finally:
        await provider.close()
    assert (caught.value.status, caught.value.code) == (401, "access.unauthenticated")
    assert token not in caught.value.detail
    return caught.value.detail


async def accepted(issuer: Issuer, token: str, **words: Any) -> Principal:
    provider = issuer.provider(**words)
    try:
        return await provider.authenticate(token)
    finally:
        await provider.close()


async def test_a_good_token_says_who_it_is_and_unknown_roles_are_ignored(issuer: Issuer) -> None:
    found = await accepted(issuer, issuer.sign())
    assert found == Principal("acme", "ana", "service", frozenset({"operator"}), ("night",), via="oidc")


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (rsa("second"), "RS256"),
        (rsa("second"), "PS256"),
        (ECKey.generate_key("P-256"), "ES256"),
        (OKPKey.generate_key("Ed25519"), "EdDSA"),
        (OKPKey.generate_key("Ed25519"), "Ed25519"),
    ],
    ids=["RS256", "PS256", "ES256", "EdDSA", "Ed25519"],
)
async def test_each_allowed_algorithm_works(issuer: Issuer, key: Any, algorithm: str) -> None:
    issuer.keys["own"] = key
    assert (await accepted(issuer, issuer.sign(key="own", algorithm=algorithm))).name == "ana"
    assert (await accepted(issuer, issuer.sign(key="own", algorithm=algorithm, kid=None))).name == "ana"


# --- confusion --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["none", "None", "NONE", "nOnE", "", None, 7, ["RS256"]])
async def test_a_token_without_a_signature_is_refused(issuer: Issuer, name: Any) -> None:
    body = encoded(issuer.claims())
    signature = issuer.sign().rpartition(".")[2]
    for header in ({"alg": name, "kid": "rsa"}, {"alg": name}):
        for end in ("", signature, encoded(b"x")):
            assert "no signed token" in await refusal(issuer, f"{encoded(header)}.{body}.{end}")


@pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
async def test_a_public_key_is_no_shared_secret(issuer: Issuer, algorithm: str) -> None:
    key = issuer.keys["rsa"]
    public = key.raw_value.public_key() if hasattr(key.raw_value, "public_key") else key.raw_value
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    der = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    for secret in (pem, pem.strip(), der, encoded(issuer.jwks()["keys"][0]).encode(), b""):
        body = f"{encoded({'alg': algorithm, 'kid': 'rsa'})}.{encoded(issuer.claims())}"
        token = f"{body}.{encoded(hmac.digest(secret, body.encode(), sha256))}"
        assert "no signed token" in await refusal(issuer, token)


async def test_a_shared_secret_among_the_provider_s_keys_is_not_used(issuer: Issuer) -> None:
    shared = OctKey.generate_key(256)
    document = {"keys": [{**shared.as_dict(private=True), "kid": "oct"}, *issuer.jwks()["keys"]]}
    assert [each.id for each in read_keys(document)] == ["rsa"]


@pytest.mark.parametrize("word", ["jku", "x5u", "jwk", "x5c"])
async def test_a_token_that_brings_its_own_key_is_not_believed(issuer: Issuer, word: str) -> None:
    mine = rsa("mine")
    issuer.keys["mine"] = mine
    brought: Any = {"jku": "https://evil.example/keys", "x5u": "https://evil.example/cert", "x5c": ["AAAA"]}.get(
        word, mine.as_dict(private=False)
    )
    forged = issuer.sign(key="mine", kid="rsa", **{word: brought})
    good = issuer.sign(**{word: brought})
    del issuer.keys["mine"]
    assert "none of the issuer's keys" in await refusal(issuer, forged)
    assert (await accepted(issuer, good)).name == "ana"
    assert not any("evil" in asked for asked in issuer.asked)


async def test_a_token_of_another_key_under_a_known_name_is_refused(issuer: Issuer) -> None:
    forged = Issuer("theirs").sign()
    assert "none of the issuer's keys" in await refusal(issuer, forged)
    assert "none of the issuer's keys" in await refusal(issuer, Issuer("theirs").sign(kid=None))


async def test_an_algorithm_that_is_not_the_key_s_is_refused(issuer: Issuer) -> None:
    issuer.keys["curve"] = ECKey.generate_key("P-256")
    issuer.keys["wide"] = ECKey.generate_key("P-384")
    body = encoded(issuer.claims())
    for name, algorithm in (("rsa", "ES256"), ("curve", "RS256"), ("wide", "ES256"), ("curve", "EdDSA")):
        token = f"{encoded({'alg': algorithm, 'kid': name})}.{body}.{encoded(b'x' * 64)}"
        assert "none of the issuer's keys" in await refusal(issuer, token)


async def test_a_key_made_for_one_algorithm_checks_no_other(issuer: Issuer) -> None:
    assert [each.algorithm for each in read_keys({"keys": [{**issuer.jwks()["keys"][0], "alg": "PS256"}]})] == ["PS256"]
    jwks = {"keys": [{**each, "alg": "PS256"} for each in issuer.jwks()["keys"]]}
    issuer.jwks = lambda: jwks  # type: ignore[method-assign]
    assert "none of the issuer's keys" in await refusal(issuer, issuer.sign(algorithm="RS256"))
    assert (await accepted(issuer, issuer.sign(algorithm="PS256"))).name == "ana"


def test_keys_for_encrypting_private_ones_and_weak_ones_are_passed_over(issuer: Issuer) -> None:
    public = issuer.jwks()["keys"][0]
    weak = {**public, "n": encoded(b"\xff" * 128)}
    wrong = [
        {**public, "use": "enc"},
        issuer.keys["rsa"].as_dict(private=True),
        weak,
        {"kty": "RSA"},
        {"kty": ["RSA"]},
        {},
        7,
        None,
    ]
    assert read_keys({"keys": wrong}) == []
    for document in (None, [], {"keys": None}, {"keys": {}}, "keys"):
        assert read_keys(document) == []


async def test_a_token_changed_in_its_claims_is_refused(issuer: Issuer) -> None:
    header, body, signature = issuer.sign().split(".")
    promoted = encoded({**decoded(body), "roles": ["admin"]})
    assert "none of the issuer's keys" in await refusal(issuer, f"{header}.{promoted}.{signature}")


@pytest.mark.parametrize(
    "header",
    ['{"alg":"RS256","alg":"none"}', '{"alg":"none","alg":"RS256"}', '{"alg":"RS256","crit":["x"],"x":1}', "[]", "7"],
)
async def test_a_header_that_can_be_read_in_two_ways_is_refused(issuer: Issuer, header: str) -> None:
    _, body, signature = issuer.sign().split(".")
    assert "no signed token" in await refusal(issuer, f"{encoded(header.encode())}.{body}.{signature}")


@given(st.text(max_size=60) | st.from_regex(r"[A-Za-z0-9_-]{0,20}\.[A-Za-z0-9_-]{0,20}\.[A-Za-z0-9_-]{0,20}"))
def test_no_text_breaks_the_reading_of_a_token(text: str) -> None:
    assert read_header(text) is None


def test_a_token_too_long_is_not_even_read() -> None:
    assert read_header(Issuer().sign(padding="x" * 20_000)) is None


# --- for us, now ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "fact"),
    [
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"iss": ISSUER + "/"}, "another issuer"),
        ({"iss": None}, "another issuer"),
        ({"aud": "https://other.example"}, "meant for somebody else"),
        ({"aud": []}, "meant for somebody else"),
        ({"aud": None}, "meant for somebody else"),
        ({"aud": {"a": AUDIENCE}}, "meant for somebody else"),
        ({"aud": AUDIENCE + "/x"}, "meant for somebody else"),
        ({"exp": None}, "its 'exp' is no time"),
        ({"exp": "soon"}, "its 'exp' is no time"),
        ({"exp": True}, "its 'exp' is no time"),
        ({"exp": 1e300}, "its 'exp' is no time"),
        ({"tenant": None}, "names no tenant"),
        ({"tenant": ""}, "names no tenant"),
        ({"tenant": ["acme"]}, "names no tenant"),
        ({"sub": None}, "names nobody"),
        ({"sub": "perdure"}, "is the name of the platform"),
        ({"sub": "agent:judge"}, "is the name of an agent"),
        ({"sub": "a\nb"}, "names nobody"),
        ({"groups": [f"g{n}" for n in range(600)]}, "600 groups"),
    ],
)
async def test_a_token_that_is_not_for_us_is_refused(issuer: Issuer, changes: dict[str, Any], fact: str) -> None:
    assert fact in await refusal(issuer, issuer.sign(issuer.claims(**changes)))


@pytest.mark.parametrize(
    ("name", "seconds", "is_good"),
    [
        ("exp", -59, True), ("exp", -60, False), ("exp", -3600, False),
        ("nbf", 60, True), ("nbf", 61, False), ("nbf", 3600, False),
        ("iat", 60, True), ("iat", 61, False), ("iat", -3600, True),
    ],
)  # fmt: skip
def test_clocks_may_differ_by_the_leeway_and_no_more(name: str, seconds: int, is_good: bool) -> None:
    claims = {
        "iss": ISSUER,
        "aud": [AUDIENCE, "x"],
        "exp": 10_300,
        "nbf": 10_000,
        "iat": 10_000,
        name: 10_000 + seconds,
    }
    assert (claims_fault(claims, Expected(ISSUER, AUDIENCE, 10_000.0, 60.0)) == "") == is_good


async def test_an_expired_token_and_one_from_the_future_are_refused(issuer: Issuer) -> None:
    token = issuer.sign()
    assert (await accepted(issuer, token)).name == "ana"
    issuer.sources._now += 361 * SECOND
    assert "it has expired" in await refusal(issuer, token)
    issuer.sources._now -= 3600 * SECOND
    assert "it is not good yet" in await refusal(issuer, token)


# --- what claims say --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claims", "kind", "name"),
    [
        ({}, "service", "ana"),
        ({"kind": "person"}, "person", "ana"),
        ({"kind": "agent"}, "agent", "agent:ana"),
        ({"kind": "agent", "sub": "agent:judge"}, "agent", "agent:judge"),
        ({"kind": "root"}, "service", "ana"),
    ],
)
def test_a_token_is_a_service_s_unless_it_says_otherwise(claims: dict[str, Any], kind: str, name: str) -> None:
    found = principal_of({"tenant": "acme", "sub": "ana", **claims}, ClaimNames(), "service")
    assert isinstance(found, Principal)
    assert (found.kind, found.name, found.roles) == (kind, name, frozenset())


def test_claims_are_found_by_their_name_or_inside_others() -> None:
    names = ClaimNames("https://x.example/tenant", "realm.roles", "groups", "preferred_username")
    claims = {
        "https://x.example/tenant": "acme", "realm": {"roles": ["admin", 7]}, "groups": "night",
        "preferred_username": "ana", "sub": "1234",
    }  # fmt: skip
    found = principal_of(claims, names, "person")
    assert found == Principal("acme", "ana", "person", frozenset({"admin"}), ("night",), via="oidc")


@given(
    st.dictionaries(
        st.sampled_from(["tenant", "sub", "roles", "groups", "kind", "realm"]),
        st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8), st.lists),
    )
)
def test_no_claims_break_us_and_none_give_roles_that_are_not_said(claims: dict[str, Any]) -> None:
    found = principal_of(claims, ClaimNames(), "person")
    if isinstance(found, Principal):
        said = claims.get("roles")
        assert found.tenant == claims["tenant"]
        assert all(role in (said if isinstance(said, list) else [said]) for role in found.roles)
        assert found.groups == () or "groups" in claims


# --- asking the provider ----------------------------------------------------------------------------------------------


async def test_the_provider_is_asked_once_for_many_tokens(issuer: Issuer) -> None:
    provider = issuer.provider()
    token = issuer.sign()
    await asyncio.gather(*(provider.authenticate(token) for _ in range(50)))
    assert set(issuer.asked.values()) == {1}
    issuer.sources._now += KNOWN_FOR
    await provider.authenticate(issuer.sign())
    assert set(issuer.asked.values()) == {2}
    await provider.close()


async def test_a_key_that_is_new_is_fetched_and_a_key_that_went_is_not_believed(issuer: Issuer) -> None:
    provider = issuer.provider()
    before = issuer.sign()
    await provider.authenticate(before)
    issuer.keys = {"next": rsa("next")}
    issuer.sources._now += ASKED_AGAIN
    assert (await provider.authenticate(issuer.sign(key="next"))).name == "ana"
    with pytest.raises(RefusedRequest, match="none of the issuer's keys"):
        await provider.authenticate(before)
    await provider.close()


async def test_tokens_of_unknown_keys_make_us_ask_at_most_every_so_often(issuer: Issuer) -> None:
    provider = issuer.provider()
    await provider.authenticate(issuer.sign())
    for number in range(20):
        with pytest.raises(RefusedRequest):
            await provider.authenticate(issuer.sign(kid=f"unknown-{number}"))
    assert set(issuer.asked.values()) == {1}
    issuer.sources._now += ASKED_AGAIN
    with pytest.raises(RefusedRequest):
        await provider.authenticate(issuer.sign(kid="unknown"))
    assert set(issuer.asked.values()) == {2}
    await provider.close()


async def test_while_the_provider_does_not_answer_what_it_said_before_holds(issuer: Issuer) -> None:
    provider = issuer.provider()
    await provider.authenticate(issuer.sign())
    issuer.is_down = True
    issuer.sources._now += 2 * KNOWN_FOR
    assert (await provider.authenticate(issuer.sign())).name == "ana"
    await provider.close()


async def test_a_provider_that_never_answered_is_told_as_such_and_asked_again_later(issuer: Issuer) -> None:
    provider = issuer.provider()
    issuer.is_down = True
    for _ in range(3):
        with pytest.raises(RefusedRequest) as caught:
            await provider.authenticate(issuer.sign())
        assert (caught.value.status, caught.value.headers) == (503, {"Retry-After": "30"})
    assert sum(issuer.asked.values()) == 1
    issuer.is_down = False
    issuer.sources._now += ASKED_AGAIN
    assert (await provider.authenticate(issuer.sign())).name == "ana"
    await provider.close()


@pytest.mark.parametrize(
    "told",
    [
        {"issuer": "https://evil.example"},
        {"jwks_uri": "http://login.example/keys"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "http://169.254.169.254/keys"},
        {"jwks_uri": 7},
    ],
)
async def test_a_provider_that_names_another_or_leads_to_unsafe_places_is_not_believed(
    issuer: Issuer, told: dict[str, Any]
) -> None:
    issuer.told |= told
    provider = issuer.provider()
    with pytest.raises(RefusedRequest) as caught:
        await provider.authenticate(issuer.sign())
    assert caught.value.status == 503
    assert list(issuer.asked) == ["login.example/.well-known/openid-configuration"]
    await provider.close()


# --- signing in -------------------------------------------------------------------------------------------------------


async def begun(issuer: Issuer, provider: Any) -> tuple[Any, dict[str, str]]:
    url, login = await provider.begin_login(CALLBACK, "/runbooks?q=1")
    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    assert url.startswith(f"{ISSUER}/authorize?")
    issuer.codes["the-code"] = asked
    return login, asked


async def test_who_signs_in_is_a_person_and_the_provider_gets_the_proof_it_asked_for(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_SECRET", "s/e:c ret")
    provider = issuer.provider(client_secret_env="THE_SECRET")
    login, asked = await begun(issuer, provider)
    assert (asked["response_type"], asked["client_id"], asked["code_challenge_method"]) == ("code", CLIENT, "S256")
    assert asked["state"] == login.state != login.nonce == asked["nonce"]
    assert login.verifier not in str(asked)
    assert login.back_to == "/runbooks?q=1"
    found = await provider.finish_login(login, code="the-code", state=asked["state"], redirect_uri=CALLBACK)
    assert found == Principal("acme", "ana", "person", frozenset({"operator"}), ("night",), via="oidc")
    assert issuer.headers[0]["authorization"] == "Basic " + "ZGFzaGJvYXJkOnMlMkZlJTNBYyUyMHJldA=="
    assert "client_secret" not in issuer.forms[0]
    await provider.close()


async def test_a_client_without_a_secret_names_itself_and_each_sign_in_is_another(issuer: Issuer) -> None:
    provider = issuer.provider()
    login, asked = await begun(issuer, provider)
    again, _ = await provider.begin_login(CALLBACK)
    assert asked["state"] not in again
    await provider.finish_login(login, code="the-code", state=login.state, redirect_uri=CALLBACK)
    assert issuer.forms[0]["client_id"] == [CLIENT]
    await provider.close()


@pytest.mark.parametrize(
    ("changes", "answer", "fact"),
    [
        ({"state": "other"}, {}, "another request"),
        ({"state": ""}, {}, "another request"),
        ({"code": ""}, {}, "another request"),
        ({"code": "stolen"}, {}, "gave no token"),
        ({"redirect_uri": "https://evil.example"}, {}, "gave no token"),
        ({"issuer": "https://evil.example"}, {}, "another issuer answers"),
        ({}, {"nonce": "other"}, "another request"),
        ({}, {"nonce": None}, "another request"),
        ({}, {"aud": "somebody-else"}, "meant for somebody else"),
        ({}, {"aud": [CLIENT, "other"]}, "another client"),
        ({}, {"aud": [CLIENT, "other"], "azp": "other"}, "another client"),
        ({}, {"azp": "other"}, "another client"),
        ({}, {"iss": "https://evil.example"}, "another issuer"),
        ({}, {"exp": 1}, "it has expired"),
        ({}, {"tenant": None}, "names no tenant"),
    ],
)
async def test_an_answer_that_is_not_to_what_was_asked_signs_nobody_in(
    issuer: Issuer, changes: dict[str, str], answer: dict[str, Any], fact: str
) -> None:
    provider = issuer.provider()
    login, _ = await begun(issuer, provider)
    issuer.answer = answer
    given = {"code": "the-code", "state": login.state, "redirect_uri": CALLBACK, **changes}
    with pytest.raises(RefusedRequest) as caught:
        await provider.finish_login(login, **given)
    assert caught.value.status == 401
    assert fact in caught.value.detail
    await provider.close()


async def test_a_code_stolen_from_another_browser_is_worth_nothing(issuer: Issuer) -> None:
    """The proof of who began it stays in the browser that did."""
    provider = issuer.provider()
    await begun(issuer, provider)
    _, other = await provider.begin_login(CALLBACK)
    with pytest.raises(RefusedRequest, match="gave no token"):
        await provider.finish_login(other, code="the-code", state=other.state, redirect_uri=CALLBACK)
    await provider.close()


async def test_a_token_of_an_api_signs_nobody_in_and_one_of_a_sign_in_is_no_key(issuer: Issuer) -> None:
    provider = issuer.provider()
    with pytest.raises(RefusedRequest, match="meant for somebody else"):
        await provider.authenticate(issuer.sign(issuer.claims(aud=CLIENT)))
    await provider.close()


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/", "/"), ("/runbooks/1?x=2#y", "/runbooks/1?x=2#y"), ("", "/"), ("//evil.example", "/"),
        ("/\\evil.example", "/"), ("https://evil.example", "/"), ("/a\r\nSet-Cookie: x", "/"), ("/a\\b", "/"),
        ("javascript:alert(1)", "/"), ("/" + "x" * 600, "/"),
    ],
)  # fmt: skip
def test_somebody_who_signed_in_comes_back_to_this_server_only(text: str, path: str) -> None:
    assert local_path(text) == path
