"""The address of a Camunda 8 cluster: its url, as `perdure.yaml` names it."""

from __future__ import annotations

import os
from urllib.parse import parse_qs, urlsplit

import msgspec

from perdure.bpmn.lint.findings import OLDEST_RELEASE, RELEASES, Release
from perdure.errors import EngineSettingError

SCHEME = "camunda://"
TOKEN = "PERDURE_CAMUNDA_TOKEN"
CLIENT_ID, CLIENT_SECRET = "PERDURE_CAMUNDA_CLIENT_ID", "PERDURE_CAMUNDA_CLIENT_SECRET"
OPTIONS = frozenset({"release", "tail", "tls", "ca", "oauth", "audience", "tenant", "lock", "poll"})
PORT = 8080
LOCK_SECONDS = 60
POLL_SECONDS = 10


class CamundaAddress(msgspec.Struct, frozen=True):
    """Host and port of the REST API, and how it is used. Credentials come from the environment alone."""

    target: str
    release: Release = OLDEST_RELEASE
    tail: str = ""
    """Where our receiver of exported records listens, `host:port`; empty for none."""
    is_tls: bool = False
    ca: str = ""
    """The file of the certificate that signed the server's."""
    oauth: str = ""
    """The url that gives tokens, for Camunda SaaS and clusters with Identity."""
    audience: str = ""
    tenant: str = "default"
    """The tenant of ours whose instances the cluster carries: names and keys of messages are one space there."""
    lock_seconds: int = LOCK_SECONDS
    """How long a job is ours before Camunda gives it to another worker."""
    poll_seconds: int = POLL_SECONDS
    """How long a request for jobs waits for one."""

    @property
    def url(self) -> str:
        return f"{'https' if self.is_tls else 'http'}://{self.target}"

    @property
    def text(self) -> str:
        return f"{SCHEME}{self.target}"

    @property
    def token(self) -> str:
        return os.environ.get(TOKEN, "")

    @property
    def credentials(self) -> tuple[str, str]:
        return os.environ.get(CLIENT_ID, ""), os.environ.get(CLIENT_SECRET, "")


def read_address(url: str) -> CamundaAddress:
    """The address behind a url; EngineSettingError when it means nothing."""
    parts = urlsplit(url)
    if not url.startswith(SCHEME) or not parts.hostname or parts.path.strip("/"):
        raise _meaningless(url, "that is no address of a Camunda cluster", "Write camunda://host:8080.")
    if parts.username or parts.password:
        hint = f"Put a token into {TOKEN}, or an id and a secret into {CLIENT_ID} and {CLIENT_SECRET}."
        raise _meaningless(f"{SCHEME}{parts.hostname}", "its url holds a credential", hint)
    options = parse_qs(parts.query, keep_blank_values=True)
    if unknown := sorted(set(options) - OPTIONS):
        raise _meaningless(url, f"'{unknown[0]}' is no option of it", f"Options are {', '.join(sorted(OPTIONS))}.")
    given = {name: values[0] for name, values in options.items()}
    try:
        return _address(parts.hostname, parts.port or PORT, given)
    except ValueError as error:
        raise _meaningless(url, str(error)) from error


def _address(host: str, port: int, given: dict[str, str]) -> CamundaAddress:
    release = next((each for each in RELEASES if each == given.get("release", OLDEST_RELEASE)), None)
    if release is None:
        raise ValueError(f"'{given['release']}' is none of the releases {', '.join(RELEASES)}")
    tail = given.get("tail", "")
    if tail and not _is_place(tail):
        raise ValueError(f"'{tail}' is no host:port to listen at")
    return CamundaAddress(
        f"[{host}]:{port}" if ":" in host else f"{host}:{port}", release, tail,
        given.get("tls") in ("1", "true", "yes") or bool(given.get("ca")), given.get("ca", ""),
        given.get("oauth", ""), given.get("audience", ""), given.get("tenant") or "default",
        _seconds(given, "lock", LOCK_SECONDS, 5), _seconds(given, "poll", POLL_SECONDS, 1),
    )  # fmt: skip


def _seconds(given: dict[str, str], name: str, default: int, least: int) -> int:
    text = given.get(name, str(default))
    if not text.isdecimal() or int(text) < least:
        raise ValueError(f"'{name}' is '{text}', and at least {least} seconds are needed")
    return int(text)


def _is_place(text: str) -> bool:
    host, colon, port = text.rpartition(":")
    return bool(host and colon) and port.isdecimal() and 0 < int(port) < 65536


def _meaningless(url: str, fact: str, hint: str = "") -> EngineSettingError:
    return EngineSettingError("open", "engine", url, fact, hint)
