"""`server:` of a `perdure.yaml`: where it listens, who may come in, and how much they may ask."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Literal

import msgspec

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8321
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
    leeway_seconds: float = 60.0


class ServerConfig(msgspec.Struct, frozen=True):
    """A server's settings. Without `authentication` everybody who reaches it is the local person."""

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    authentication: tuple[Means, ...] = ()
    secret_file: Path | None = None
    public_url: str = ""
    oidc: OidcConfig | None = None
    max_body_bytes: int = 1024 * 1024
    rate_per_second: float = 200.0
    rate_burst: float = 400.0

    @property
    def is_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False
