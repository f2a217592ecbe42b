"""`server:` of a `perdure.yaml`: where it listens, who may come in, and how much they may ask."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import urlsplit

import msgspec

from perdure.errors import RejectedError, Rejection
from perdure.verbs.mapping_reader import Fields

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8321
SECRET_FILE = Path(".perdure") / "secret"
MAX_BODY_BYTES = 1024 * 1024
MAX_LEEWAY_SECONDS = 300
UNGUARDED = "everybody who reaches that address could do everything"
UNGUARDED_HINT = "Set server.authentication to [keys], [oidc] or both, or listen on 127.0.0.1."

SERVER_KEYS = frozenset(
    {"bind", "authentication", "secret_file", "public_url", "oidc", "max_body_bytes", "rate"}
)  # fmt: skip
OIDC_KEYS = frozenset(
    {
        "issuer", "audience", "client_id", "client_secret_env", "tenant_claim", "roles_claim", "groups_claim",
        "name_claim", "kind_claim", "leeway_seconds",
    }
)  # fmt: skip
RATE_KEYS = frozenset({"per_second", "burst"})

Means = Literal["keys", "oidc"]


class OidcConfig(msgspec.Struct, frozen=True):
    """Whose tokens are believed, and which of their claims say what."""

    issuer: str
    audience: str
    client_id: str = ""
    client_secret_env: str = ""
    tenant_claim: str = "tenant"
    roles_claim: str = "roles"
    groups_claim: str = "groups"
    name_claim: str = "sub"
    kind_claim: str = "kind"
    leeway_seconds: float = 60.0


class ServerConfig(msgspec.Struct, frozen=True):
    """A server's settings. Without `authentication` everybody is the local person, until there is a key."""

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    authentication: tuple[Means, ...] = ()
    secret_file: Path = SECRET_FILE
    public_url: str = ""
    oidc: OidcConfig | None = None
    max_body_bytes: int = MAX_BODY_BYTES
    rate_per_second: float = 200.0
    rate_burst: float = 400.0

    @property
    def means(self) -> tuple[Means, ...]:
        """The credentials it takes: keys, where nothing else is said."""
        return self.authentication or ("keys",)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return is_loopback(self.host)

    @property
    def is_secure(self) -> bool:
        """Whether browsers come by https: then cookies are sent by it alone."""
        return self.public_url.startswith("https://")


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own; a name is believed to be only when it is `localhost`."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def check_guarded(settings: ServerConfig) -> None:
    """Nobody is let in from outside without a credential."""
    if not settings.is_loopback and not settings.authentication:
        raise RejectedError(Rejection("invalid", "listen on", "address", settings.host, UNGUARDED, UNGUARDED_HINT))


def read_server(fields: Fields, folder: Path) -> ServerConfig:
    """The section, or the defaults where it says nothing; what is wrong with it is in the report."""
    host, port = _bind(fields)
    means: tuple[Means, ...] = get_args(Means)
    authentication = _words(fields, "authentication", means)
    oidc = _oidc(fields)
    rate = _section(fields, "rate", RATE_KEYS)
    settings = ServerConfig(
        host=host,
        port=port,
        authentication=authentication,
        secret_file=folder / fields.text("secret_file", str(SECRET_FILE)),
        public_url=_url(fields, "public_url").rstrip("/"),
        oidc=oidc,
        max_body_bytes=fields.integer("max_body_bytes", MAX_BODY_BYTES, 1024, 256 * 1024 * 1024),
        rate_per_second=float(rate.integer("per_second", 200, 1, 1_000_000)) if rate is not None else 200.0,
        rate_burst=float(rate.integer("burst", 400, 1, 1_000_000)) if rate is not None else 400.0,
    )
    if "oidc" in authentication and oidc is None:
        fields.wrong(fields.get("authentication"), "missing_key", "it names oidc, and 'oidc' says nothing about it")
    if not settings.is_loopback and not settings.authentication:
        fields.wrong(fields.get("bind"), "unguarded", UNGUARDED, UNGUARDED_HINT)
    return settings


def _bind(fields: Fields) -> tuple[str, int]:
    """`127.0.0.1:8321`, `[::1]:8321`, `:8321` for every address of this machine, or a port alone."""
    node = fields.get("bind")
    if node is None:
        return DEFAULT_HOST, DEFAULT_PORT
    if isinstance(node.value, int) and not isinstance(node.value, bool):
        host, port = DEFAULT_HOST, str(node.value)
    else:
        host, colon, port = fields.text("bind").rpartition(":")
        if not colon or (":" in host and not host.startswith("[")):
            host, port = fields.text("bind"), str(DEFAULT_PORT)
        elif not host:
            host = "0.0.0.0"
    host = host.removeprefix("[").removesuffix("]")
    if not port.isascii() or not port.isdigit() or int(port) > 65_535 or not host or " " in host:
        fields.wrong(node, "wrong_value", f"'{node.value}' is no address and port"[:200], "Write 127.0.0.1:8321.")
        return DEFAULT_HOST, DEFAULT_PORT
    return host, int(port)


def _oidc(fields: Fields) -> OidcConfig | None:
    oidc = _section(fields, "oidc", OIDC_KEYS)
    if oidc is None:
        return None
    for key in ("issuer", "audience"):
        oidc.text(key, required=True)
    return OidcConfig(
        issuer=_url(oidc, "issuer"),
        audience=oidc.text("audience"),
        client_id=oidc.text("client_id"),
        client_secret_env=oidc.text("client_secret_env"),
        tenant_claim=oidc.text("tenant_claim", "tenant") or "tenant",
        roles_claim=oidc.text("roles_claim", "roles") or "roles",
        groups_claim=oidc.text("groups_claim", "groups") or "groups",
        name_claim=oidc.text("name_claim", "sub") or "sub",
        kind_claim=oidc.text("kind_claim", "kind") or "kind",
        leeway_seconds=float(oidc.integer("leeway_seconds", 60, 0, MAX_LEEWAY_SECONDS)),
    )


def _url(fields: Fields, key: str) -> str:
    """Https, or http to this machine: whoever sits between could otherwise be whom they like."""
    text = fields.text(key)
    try:
        parts = urlsplit(text)
        is_good = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
        is_good = is_good and bool(parts.hostname) and not parts.query and not parts.fragment and parts.username is None
    except ValueError:
        is_good = False
    if text and not is_good:
        fields.wrong(fields.get(key), "wrong_value", f"'{text[:200]}' is no https address", "Write https://…")
        return ""
    return text


def _section(fields: Fields, key: str, accepted: frozenset[str]) -> Fields | None:
    node = fields.get(key)
    return None if node is None else Fields(node, f"server.{key}", fields.file, fields.report, accepted=accepted)


def _words(fields: Fields, key: str, choices: tuple[Means, ...]) -> tuple[Means, ...]:
    found: list[Means] = []
    for word in fields.texts(key):
        match = next((choice for choice in choices if choice == word), None)
        if match is None:
            reason = f"'{word[:60]}' is not one of {', '.join(choices)}"
            fields.wrong(fields.get(key), "unknown_value", reason)
        elif match not in found:
            found.append(match)
    return tuple(found)
