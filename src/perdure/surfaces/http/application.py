"""The application: every route, put together with what stands before it."""

from __future__ import annotations

from functools import partial

from litestar import Litestar, Router
from litestar.di import Provide
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

from perdure.access.roles import OPERATIONS
from perdure.app import Perdure
from perdure.app.server_config import ServerConfig
from perdure.errors import InvariantBroken
from perdure.surfaces.http.authenticating import Authenticator, Open, authenticating
from perdure.surfaces.http.edge import LOOPBACK_NAMES, Edge
from perdure.surfaces.http.guarding import guard, is_public, operation_of, provide_perdure, provide_principal
from perdure.surfaces.http.problems import answer_problem
from perdure.surfaces.http.routes import API, ROOT

DESCRIPTION = "Durable verbs: call them, compose them, watch them, answer them."


def make_app(perdure: Perdure, settings: ServerConfig, authenticator: Authenticator | None = None) -> Edge:
    """Everything a server needs but the socket."""
    who = authenticator or Open()
    app = Litestar(
        route_handlers=[Router("/api", route_handlers=list(API)), *ROOT],
        guards=[guard],
        middleware=[partial(authenticating, authenticator=who)],
        dependencies={
            "perdure": Provide(provide_perdure, sync_to_thread=False),
            "principal": Provide(provide_principal, sync_to_thread=False),
        },
        exception_handlers={Exception: answer_problem},
        request_max_body_size=settings.max_body_bytes,
        openapi_config=_description(),
    )
    _require_operations(app)
    app.state.perdure = perdure
    app.state.settings = settings
    return Edge(app, perdure.runtime.sources, _hosts(settings))


def _hosts(settings: ServerConfig) -> frozenset[str] | None:
    """Without authentication only known names are answered to: a page elsewhere could point its own name here."""
    return None if settings.authentication else LOOPBACK_NAMES


def _description() -> OpenAPIConfig:
    return OpenAPIConfig(
        title="Perdure", version="1", description=DESCRIPTION, use_handler_docstrings=True,
        openapi_router=Router("/api/description", route_handlers=[], opt={"is_public": True}),
        render_plugins=[JsonRenderPlugin()],
        components=Components(security_schemes={"key": SecurityScheme(type="http", scheme="bearer")}),
        security=[{"key": []}],
    )  # fmt: skip


def _require_operations(app: Litestar) -> None:
    """A route that does not say what it asks for would be open to everybody."""
    for route in app.routes:
        for handler in getattr(route, "route_handlers", ()):
            if operation_of(handler) not in OPERATIONS and not is_public(handler):
                raise InvariantBroken("serve", "route", route.path, "it names no known operation")
