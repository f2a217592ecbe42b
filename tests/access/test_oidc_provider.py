"""Against a real OpenID provider in a process of its own: discovery, signing in, and its tokens as credentials."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from perdure.access.principal import Principal
from perdure.app.configuration.server import OidcConfig
from perdure.sources import SystemSources
from perdure.surfaces.http.oidc import Provider
from perdure.surfaces.http.problem_details import RefusedRequest

pytestmark = pytest.mark.req("P3")
CLIENT = "dashboard"
CALLBACK = "http://127.0.0.1:8321/api/session/oidc/callback"
ANA = {"sub": "ana", "tenant": "acme", "roles": ["reviewer", "janitor"], "groups": ["night"], "kind": "person"}
NOBODY = {"sub": "nobody", "roles": ["admin"]}


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    users = [word for claims in (ANA, NOBODY) for word in ("--user-claims", json.dumps(claims))]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port), "-n", "true", *users]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ})
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address, server)
        yield address
    finally:
        server.terminate()
        server.wait(30)


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    """Until it answers; a connection is refused at once, so this asks often and waits for nothing."""
    while server.poll() is None:
        try:
            httpx.get(f"{address}/.well-known/openid-configuration", trust_env=False).raise_for_status()
        except httpx.TransportError:
            continue
        return
    pytest.fail("the provider did not start")


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLIENT_SECRET", "any will do")


def provider(issuer: str) -> Provider:
    config = OidcConfig(issuer, CLIENT, client_id=CLIENT, client_secret_env="CLIENT_SECRET")
    return Provider(config, SystemSources())


async def agreed(url: str, name: str) -> dict[str, str]:
    """What the provider sends back once somebody agreed on its page."""
    async with httpx.AsyncClient(trust_env=False) as browser:
        page = await browser.post(url, data={"sub": name})
    assert page.status_code == 302, page.text
    assert page.headers["location"].startswith(CALLBACK)
    return {word: values[0] for word, values in parse_qs(urlsplit(page.headers["location"]).query).items()}


async def test_a_person_signs_in_and_is_who_the_provider_says(issuer: str) -> None:
    ours = provider(issuer)
    url, login = await ours.begin_login(CALLBACK, "/inbox")
    back = await agreed(url, "ana")
    found = await ours.finish_login(login, code=back["code"], state=back["state"], redirect_uri=CALLBACK)
    assert found == Principal("acme", "ana", "person", frozenset({"reviewer"}), ("night",), via="oidc")
    with pytest.raises(RefusedRequest, match="gave no token"):
        await ours.finish_login(login, code=back["code"], state=back["state"], redirect_uri=CALLBACK)
    await ours.close()


async def test_somebody_of_no_tenant_is_refused(issuer: str) -> None:
    ours = provider(issuer)
    url, login = await ours.begin_login(CALLBACK)
    back = await agreed(url, "nobody")
    with pytest.raises(RefusedRequest, match="names no tenant"):
        await ours.finish_login(login, code=back["code"], state=back["state"], redirect_uri=CALLBACK)
    await ours.close()


async def test_an_answer_for_one_browser_signs_nobody_in_at_another(issuer: str) -> None:
    ours = provider(issuer)
    url, _ = await ours.begin_login(CALLBACK)
    _, other = await ours.begin_login(CALLBACK)
    back = await agreed(url, "ana")
    with pytest.raises(RefusedRequest, match="another request"):
        await ours.finish_login(other, code=back["code"], state=back["state"], redirect_uri=CALLBACK)
    with pytest.raises(RefusedRequest, match="another request"):
        await ours.finish_login(other, code=back["code"], state=other.state, redirect_uri=CALLBACK)
    await ours.close()


async def test_its_signed_token_is_a_credential_where_it_is_meant_for_us(issuer: str) -> None:
    ours = provider(issuer)
    url, login = await ours.begin_login(CALLBACK)
    back = await agreed(url, "ana")
    told = await ours._know()
    token = await ours._exchange(told, back["code"], login.verifier, CALLBACK)
    assert (await ours.authenticate(token)).name == "ana"
    elsewhere = Provider(OidcConfig(issuer, "another-service"), SystemSources())
    with pytest.raises(RefusedRequest, match="meant for somebody else"):
        await elsewhere.authenticate(token)
    await ours.close()
    await elsewhere.close()
