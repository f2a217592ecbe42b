"""The address of a Temporal server: its url, as `perdure.yaml` names it."""

from __future__ import annotations

import os
import re
from urllib.parse import parse_qs, urlsplit

import msgspec

from perdure.errors import EngineSettingError

SCHEME = "temporal://"
API_KEY = "PERDURE_TEMPORAL_API_KEY"
OPTIONS = frozenset({"tls", "cert", "key", "ca", "cache", "encryption", "build"})
CACHED = 1_000
BUILD = re.compile(r"[A-Za-z0-9._-]{0,64}")


class TemporalAddress(msgspec.Struct, frozen=True):
    """Host and port, namespace, and how the connection is secured. The API key comes from the environment alone."""

    target: str
    namespace: str
    is_tls: bool = False
    cert: str = ""
    """The file of the client's certificate, for mTLS."""
    key: str = ""
    """The file of the client's private key."""
    ca: str = ""
    """The file of the certificate that signed the server's."""
    cached: int = CACHED
    """Workflows that a worker keeps in memory; without any it replays the history at every task."""
    encryption: str = ""
    """Where the keys of payloads are, as `file:PATH` or `env:NAME`; without them payloads are hashed only."""
    build: str = ""
    """A name added to the build of the worker, for verbs whose code is to stay with the instances it began."""

    @property
    def text(self) -> str:
        return f"{SCHEME}{self.target}/{self.namespace}"

    @property
    def api_key(self) -> str | None:
        return os.environ.get(API_KEY) or None


def read_address(url: str) -> TemporalAddress:
    """The address behind a url; EngineSettingError when it means nothing."""
    parts = urlsplit(url)
    namespace, options = parts.path.strip("/"), parse_qs(parts.query, keep_blank_values=True)
    if not url.startswith(SCHEME) or not parts.hostname or not namespace or "/" in namespace:
        hint = "Write temporal://host:7233/namespace."
        raise EngineSettingError("open", "engine", url, "that is no address of a Temporal namespace", hint)
    if parts.username or parts.password:
        hint = f"Put an API key into the environment variable {API_KEY}."
        raise EngineSettingError("open", "engine", f"{SCHEME}{parts.hostname}", "its url holds a credential", hint)
    if unknown := sorted(set(options) - OPTIONS):
        hint = f"Options are {', '.join(sorted(OPTIONS))}."
        raise EngineSettingError("open", "engine", url, f"'{unknown[0]}' is no option of it", hint)
    given = {name: values[0] for name, values in options.items()}
    is_tls = given.get("tls") in ("1", "true", "yes") or bool(given.get("cert") or given.get("ca"))
    try:
        cached = int(given.get("cache", CACHED))
        port = parts.port or 7233
    except ValueError as error:
        raise EngineSettingError("open", "engine", url, str(error)) from error
    if not BUILD.fullmatch(given.get("build", "")):
        hint = "It has letters, digits, '.', '_' and '-', at most 64."
        raise EngineSettingError("open", "engine", url, f"'{given['build']}' names no build", hint)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return TemporalAddress(
        f"{host}:{port}", namespace, is_tls, given.get("cert", ""), given.get("key", ""), given.get("ca", ""), cached,
        given.get("encryption", ""), given.get("build", ""),
    )  # fmt: skip
