"""The HTTP server over an open platform: settings, application, socket, and the drain before it stops."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
import uvicorn

from perdure.access.server_secret import load_or_create_secret
from perdure.app import Config, Perdure
from perdure.app.audit.store_audit import public_keys_of
from perdure.app.configuration.server import ServerConfig, check_guarded
from perdure.errors import StoreSettingError
from perdure.surfaces.http.application import make_app
from perdure.surfaces.http.connection_limits import bounded_heads
from perdure.surfaces.http.middleware import Middleware
from perdure.surfaces.http.oidc import Provider


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


DRAIN_SECONDS = 20
"""How long requests that have begun may take to end."""


async def serve(
    app: Middleware, host: str, port: int, recovered: asyncio.Event, ready: Callable[[int], None]
) -> None:  # fmt: skip
    """Serve until SIGTERM or Ctrl-C; then take nothing new, let what has begun end, and return.

    Probes are answered at once; `ready` is told the port when what others left behind was looked through.
    """
    config = uvicorn.Config(
        app, host=host, port=port, http=bounded_heads(), lifespan="off", log_level="warning", access_log=False,
        server_header=False, date_header=True, timeout_graceful_shutdown=DRAIN_SECONDS, timeout_keep_alive=30,
        proxy_headers=False,
    )  # fmt: skip
    server = _Server(config)
    with listening(host, port) as place:
        _on_signals(app, server)
        telling = asyncio.ensure_future(_tell(recovered, ready, place.getsockname()[1]))
        try:
            await server.serve(sockets=[place])
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)


async def _tell(recovered: asyncio.Event, ready: Callable[[int], None], port: int) -> None:
    await recovered.wait()
    ready(port)


class _Server(uvicorn.Server):
    """Signals are ours: the order in which things stop matters."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing: see `_on_signals`."""
        yield


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; refused in a sentence where another does, or this machine has no such address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    place = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, so that the loop sends at once
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        place.bind((host, port))
        place.listen(2048)
    except OSError as error:
        place.close()
        raise StoreSettingError(
            "listen at", "address", f"{host}:{port}", error.strerror.lower() if error.strerror else str(error),
            "Name another with --host and --port, or with server.bind; port 0 takes a free one.",
        ) from error  # fmt: skip
    place.setblocking(False)
    return place


def _on_signals(app: Middleware, server: uvicorn.Server) -> None:
    loop = asyncio.get_running_loop()

    def stop() -> None:
        app.drain()
        server.should_exit = True

    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stop)
