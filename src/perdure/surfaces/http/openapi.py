"""The description of the API, as OpenAPI has it: made from the same structs that are read and written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from litestar import Litestar, Router
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, Reference, SecurityScheme

from perdure.surfaces.http.authorization import is_public
from perdure.surfaces.http.problem_details import MEDIA
from perdure.surfaces.http.route_decorators import REFUSALS

TITLE = "Perdure"
VERSION = "1"
DESCRIPTION = "Durable verbs: call them, compose them, watch them, answer them."
SECURITY: list[dict[str, list[str]]] = [{"key": []}, {"token": []}, {"session": [], "csrf": []}]
_GENERIC = re.compile(r"(\w+?)_(?:[\w.]+\.)?(\w+?)_(?=[\"/]|$)")

KEY_PARAMETER = {
    "name": "Idempotency-Key", "in": "header", "required": False,
    "schema": {"type": "string", "maxLength": 200, "pattern": "^[ -~]*$"},
    "description": "Asked again under the same key, nothing is done twice and the same answer is given.",
}  # fmt: skip
MATCH_PARAMETER = {
    "name": "If-Match", "in": "header", "required": False, "schema": {"type": "string"},
    "description": "The `ETag` of the state that was seen: refused with 412 when it is another now.",
}  # fmt: skip
STREAM = {"schema": {"type": "string", "description": "Server-sent events: `id` is the cursor to go on from."}}
PAGE = {"schema": {"type": "string"}}


def description_config() -> OpenAPIConfig:
    return OpenAPIConfig(
        title=TITLE, version=VERSION, description=DESCRIPTION, use_handler_docstrings=True,
        openapi_router=Router("/api/description", route_handlers=[], opt={"is_public": True}, include_in_schema=False),
        render_plugins=[JsonRenderPlugin()],
        components=Components(security_schemes=_schemes()),
    )  # fmt: skip


def _schemes() -> dict[str, SecurityScheme | Reference]:
    return {
        "key": SecurityScheme(type="http", scheme="bearer", description="A key: `perdure_…`."),
        "token": SecurityScheme(
            type="http", scheme="bearer", bearer_format="JWT", description="A token of the identity provider."
        ),
        "session": SecurityScheme(
            type="apiKey", name="perdure_session", security_scheme_in="cookie", description="A session in a browser."
        ),
        "csrf": SecurityScheme(
            type="apiKey", name="X-CSRF-Token", security_scheme_in="header",
            description="With a session, on whatever changes something: the `csrf` of GET /api/session.",
        ),
        "wait": SecurityScheme(
            type="apiKey", name="Authorization", security_scheme_in="header",
            description="`Wait <token>`: ends one wait, or tells how it goes.",
        ),
    }  # fmt: skip


def described(app: Litestar) -> dict[str, Any]:
    """The description of every route."""
    found: dict[str, Any] = _readable(app.openapi_schema.to_schema())
    for handler, operation in _operations(app, found):
        _tell(handler, operation)
    shared = {f"Refused{status}": _refusal(text) for status, text in REFUSALS.items()}
    found["components"]["responses"] = shared
    return found


def _operations(app: Litestar, description: dict[str, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    handlers = {
        str(handler.operation_id): handler
        for route in app.routes
        for handler in getattr(route, "route_handlers", ())
        if handler.operation_id
    }
    for methods in description["paths"].values():
        for operation in methods.values():
            yield handlers[operation["operationId"]], operation


def _tell(handler: Any, operation: dict[str, Any]) -> None:
    """What the structs do not say: headers, other media types, who may."""
    opt = handler.opt
    operation["security"] = [] if is_public(handler) else SECURITY
    if opt.get("operation"):
        operation["x-operation"] = opt["operation"]
    parameters = operation.setdefault("parameters", [])
    if opt.get("repeats"):
        parameters.append(KEY_PARAMETER)
    if opt.get("guarded"):
        parameters.append(MATCH_PARAMETER)
    answers = operation["responses"]
    for status in list(answers):
        if int(status) in REFUSALS:
            answers[status] = {"$ref": f"#/components/responses/Refused{status}"}
    for content in answers["200"].get("content", {}).values() if "200" in answers else ():
        if (several := content.get("schema", {}).pop("oneOf", None)) is not None:
            content["schema"]["anyOf"] = several  # an empty page is one of any kind
    for status in answers.keys() & {"204", "303"}:
        answers[status].pop("content", None)
    for status in answers.keys() & {"200", "202"} if opt.get("twofold") else ():
        answers[{"200": "202", "202": "200"}[status]] = answers[status]
    if opt.get("streams"):
        answers["200"]["content"]["text/event-stream"] = STREAM
    if opt.get("texts"):
        answers["200"]["content"] = {"text/plain": PAGE}
    if opt.get("pages"):
        answers["200"]["content"]["text/html"] = PAGE


def _refusal(text: str) -> dict[str, Any]:
    return {"description": text, "content": {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}}}


def _readable(description: Any) -> Any:
    """Names of lists without the places their items are defined in: `RunbookRowPage`."""
    text = msgspec.json.encode(description).decode()
    return _with_tuples(msgspec.json.decode(_GENERIC.sub(lambda match: f"{match[2]}{match[1]}", text)))


def _with_tuples(node: Any) -> Any:
    """Pairs of one kind as lists of two: not every reader knows lists whose places differ."""
    if isinstance(node, list):
        return [_with_tuples(each) for each in node]
    if not isinstance(node, dict):
        return node
    made = {name: _with_tuples(each) for name, each in node.items()}
    places = made.get("prefixItems")
    if isinstance(places, list) and places and all(each == places[0] for each in places):
        del made["prefixItems"]
        made |= {"items": places[0], "minItems": len(places), "maxItems": len(places)}
    return made
