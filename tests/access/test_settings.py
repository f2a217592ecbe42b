"""A server's settings: strict, with places, and never open to strangers by accident."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from perdure import DefinitionError, RejectedError, load_config
from perdure.app.configuration.server import ServerConfig, check_guarded, is_loopback

pytestmark = pytest.mark.req("P3")


def loaded(folder: Path, text: str) -> ServerConfig:
    (folder / "perdure.yaml").write_text(text)
    return load_config(folder / "perdure.yaml").server


def problems(folder: Path, text: str) -> list[tuple[int, str]]:
    with pytest.raises(DefinitionError) as caught:
        loaded(folder, text)
    return [(each.line, each.code) for each in caught.value.problems]


@pytest.mark.parametrize("text", ["", "store: x.db\n", "server: {}\n"])
def test_without_settings_it_listens_on_loopback_for_the_local_person(tmp_path: Path, text: str) -> None:
    settings = loaded(tmp_path, text)
    assert settings == ServerConfig(secret_file=tmp_path.resolve() / ".perdure" / "secret")
    assert (settings.host, settings.port, settings.authentication) == ("127.0.0.1", 8321, ())
    assert settings.is_loopback
    assert not settings.is_secure


def test_every_setting_is_read(tmp_path: Path) -> None:
    settings = loaded(
        tmp_path,
        """
server:
  bind: "0.0.0.0:80"
  authentication: [keys, oidc, keys]
  secret_file: keys/secret
  public_url: https://perdure.example/
  oidc: {issuer: https://login.example, audience: perdure, client_id: c, client_secret_env: S, roles_claim: r.x,
         name_claim: email, kind_claim: what, tenant_claim: t, groups_claim: g, leeway_seconds: 5}
  max_body_bytes: 2048
  rate: {per_second: 10, burst: 20}
""",
    )
    assert (settings.host, settings.port, settings.authentication) == ("0.0.0.0", 80, ("keys", "oidc"))
    assert (settings.public_url, settings.is_secure) == ("https://perdure.example", True)
    assert settings.secret_file == tmp_path.resolve() / "keys" / "secret"
    assert (settings.max_body_bytes, settings.rate_per_second, settings.rate_burst) == (2048, 10.0, 20.0)
    assert msgspec.structs.astuple(settings.oidc or ServerConfig()) == (
        "https://login.example", "perdure", "c", "S", "t", "r.x", "g", "email", "what", 5.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("bind", "host", "port"),
    [
        ("127.0.0.1:9000", "127.0.0.1", 9000), ('"[::1]:9000"', "::1", 9000), ("localhost", "localhost", 8321),
        ("9000", "127.0.0.1", 9000), ('"::1"', "::1", 8321), ("localhost:0", "localhost", 0),
        ("127.0.0.2", "127.0.0.2", 8321),
    ],
)  # fmt: skip
def test_addresses_are_read_as_people_write_them(tmp_path: Path, bind: str, host: str, port: int) -> None:
    settings = loaded(tmp_path, f"server:\n  bind: {bind}\n")
    assert (settings.host, settings.port) == (host, port)


@pytest.mark.parametrize("bind", ["0.0.0.0:8321", ":8321", "192.168.1.7:80", "perdure.example:80", "'[::]:80'"])
def test_an_address_that_others_reach_is_refused_without_authentication(tmp_path: Path, bind: str) -> None:
    text = f'server:\n  public_url: https://x.example\n  bind: "{bind.strip(chr(39))}"\n'
    assert problems(tmp_path, text) == [(3, "server.unguarded")]
    assert not loaded(tmp_path, text + "  authentication: [keys]\n").is_loopback


def test_an_address_given_otherwise_is_refused_as_well() -> None:
    check_guarded(ServerConfig())
    check_guarded(ServerConfig(host="0.0.0.0", authentication=("keys",)))
    with pytest.raises(RejectedError, match=r"listen on address '0\.0\.0\.0'.*server\.authentication"):
        check_guarded(ServerConfig(host="0.0.0.0"))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("bnd: 1", "server.unknown_key"),
        ("bind: [1]", "server.wrong_type"),
        ("bind: 70000", "server.wrong_value"),
        ("bind: 'localhost:http'", "server.wrong_value"),
        ("authentication: [passwords]", "server.unknown_value"),
        ("authentication: [oidc]", "server.missing_key"),
        ("public_url: http://perdure.example", "server.wrong_value"),
        ("public_url: 'https://u:p@x.example'", "server.wrong_value"),
        ("public_url: 'https://['", "server.wrong_value"),
        ("max_body_bytes: 1", "server.wrong_value"),
        ("rate: {per_minute: 1}", "server.rate.unknown_key"),
        ("rate: 7", "server.rate.wrong_type"),
        ("oidc: {issuer: https://x.example, audience: a, secret: b}", "server.oidc.unknown_key"),
        ("oidc: {issuer: http://x.example, audience: a}", "server.oidc.wrong_value"),
        ("oidc: {issuer: https://x.example}", "server.oidc.missing_key"),
        ("oidc: {issuer: https://x.example, audience: a, leeway_seconds: 301}", "server.oidc.wrong_value"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_line(tmp_path: Path, line: str, code: str) -> None:
    assert (3, code) in [(at, each) for at, each in problems(tmp_path, f"store: x.db\nserver:\n  {line}\n")]


def test_a_section_that_is_none_is_refused(tmp_path: Path) -> None:
    assert problems(tmp_path, "server: 8321\n") == [(1, "server.wrong_type")]


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [
        ("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False),
        ("::", False), ("10.0.0.1", False), ("localhost.evil.example", False), ("", False), ("127.0.0.1.x", False),
    ],
)  # fmt: skip
def test_loopback_is_told_from_everything_else(host: str, is_ours: bool) -> None:
    assert is_loopback(host) == is_ours
