"""The server over an open platform: settings, application, socket."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from perdure.access.secret_file import load_or_create_secret
from perdure.app import Config, Perdure
from perdure.app.audit.store_audit import public_keys_of
from perdure.app.configuration.server import ServerConfig, check_guarded
from perdure.surfaces.http.application import make_app
from perdure.surfaces.http.oidc import Provider
from perdure.surfaces.http.socket_server import serve


async def run_server(
    perdure: Perdure, config: Config, *, host: str | None, port: int | None, ready: Callable[[str], None]
) -> None:
    """Serve until stopped; `ready` is told the address once requests are answered and abandoned work was looked at."""
    settings = settings_of(config, host, port)
    perdure.runtime.measure()
    provider = None
    if "oidc" in settings.authentication and settings.oidc is not None:
        provider = Provider(settings.oidc, perdure.runtime.sources)
    secret = load_or_create_secret(settings.secret_file)
    public_keys = public_keys_of(config.store, config.seal_key_file)
    app = make_app(perdure, settings, secret, tokens=provider, public_keys=public_keys)
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    try:
        await serve(
            app, settings.host, settings.port, perdure.runtime.recovered,
            lambda taken: ready(f"http://{shown}:{taken}"),
        )  # fmt: skip
    finally:
        if provider is not None:
            await provider.close()


def settings_of(config: Config, host: str | None, port: int | None) -> ServerConfig:
    """The settings with what was said on the command line; nobody is let in from outside without a credential."""
    settings = config.server
    if host is not None:
        settings = msgspec.structs.replace(settings, host=host)
    if port is not None:
        settings = msgspec.structs.replace(settings, port=port)
    check_guarded(settings)
    return settings
