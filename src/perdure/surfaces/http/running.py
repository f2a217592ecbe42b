"""Running a server over an open platform: settings, application, socket."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from perdure.app import Config, Perdure
from perdure.app.server_config import ServerConfig
from perdure.errors import RejectedError, Rejection
from perdure.surfaces.http.application import make_app
from perdure.surfaces.http.serving import serve


async def run_server(
    perdure: Perdure, config: Config, *, host: str | None, port: int | None, ready: Callable[[str], None]
) -> None:
    """Serve until stopped; `ready` is told the address once requests are answered."""
    settings = settings_of(config, host, port)
    app = make_app(perdure, settings)
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    await serve(app, settings.host, settings.port, lambda taken: ready(f"http://{shown}:{taken}"))


def settings_of(config: Config, host: str | None, port: int | None) -> ServerConfig:
    """The settings with what was said on the command line; nobody is let in from outside without a credential."""
    settings = ServerConfig()
    if host is not None:
        settings = msgspec.structs.replace(settings, host=host)
    if port is not None:
        settings = msgspec.structs.replace(settings, port=port)
    if not settings.is_loopback and not settings.authentication:
        hint = "Set server.authentication to [keys] or [oidc], or listen on 127.0.0.1."
        fact = "everybody who reaches that address could do everything"
        raise RejectedError(Rejection("invalid", "listen on", "address", settings.host, fact, hint))
    return settings
