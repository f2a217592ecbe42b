"""The description of the API, as OpenAPI has it: made from the same structs that are read and written."""

from __future__ import annotations

from litestar import Litestar, Router
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

TITLE = "Perdure"
VERSION = "1"
DESCRIPTION = "Durable verbs: call them, compose them, watch them, answer them."


def description_config() -> OpenAPIConfig:
    return OpenAPIConfig(
        title=TITLE, version=VERSION, description=DESCRIPTION, use_handler_docstrings=True,
        openapi_router=Router("/api/description", route_handlers=[], opt={"is_public": True}),
        render_plugins=[JsonRenderPlugin()],
        components=Components(security_schemes={"key": SecurityScheme(type="http", scheme="bearer")}),
        security=[{"key": []}],
    )  # fmt: skip


def described(app: Litestar) -> dict[str, object]:
    """The description of every route."""
    return app.openapi_schema.to_schema()
