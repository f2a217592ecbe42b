"""The description of the API, as OpenAPI has it: made once from the structs that are read and written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from http import HTTPStatus
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo

from perdure.app.operations.documents import Download
from perdure.app.operations.request_fields import MAX_TEXT
from perdure.app.problem_details import Problem
from perdure.blobs.media_types import OCTETS
from perdure.surfaces.http.endpoint import Endpoint
from perdure.surfaces.http.json_response import EMPTY, JSON
from perdure.surfaces.http.problem_details import MEDIA

ABOUT = "Durable verbs: call them, compose them, watch them, answer them."
INFO = {"title": "Perdure", "version": "1", "description": ABOUT}
SECURITY: list[dict[str, list[str]]] = [{"key": []}, {"token": []}, {"session": [], "csrf": []}]
SCHEMES = {
    "key": {"type": "http", "scheme": "bearer", "description": "A key: `perdure_…`."},
    "token": {
        "type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "A token of the identity provider.",
    },
    "session": {"type": "apiKey", "name": "perdure_session", "in": "cookie", "description": "A session in a browser."},
    "csrf": {
        "type": "apiKey", "name": "X-CSRF-Token", "in": "header",
        "description": "With a session, on whatever changes something: the `csrf` of GET /api/session.",
    },
    "wait": {
        "type": "apiKey", "name": "Authorization", "in": "header",
        "description": "`Wait <token>`: ends one wait, or tells how it goes.",
    },
}  # fmt: skip
REFUSALS = {
    400: "The request cannot be read",
    401: "Nobody is signed in",
    403: "Who asks may not",
    404: "There is no such thing, or it is another tenant's",
    405: "The path knows other methods",
    406: "None of the accepted media types can be given",
    408: "The body did not come in time",
    409: "Not possible in the state it is in",
    412: "It has changed since it was read",
    413: "The body is too large",
    415: "The body's media type is not read here",
    422: "Something asked for does not fit",
    423: "Something must happen first",
    429: "Too many requests",
    503: "Not now; ask again",
}
BINARY = {"type": "string", "format": "binary"}
CONTENT = {
    OCTETS: {"schema": BINARY},
    "multipart/form-data": {"schema": {"type": "object", "required": ["file"], "properties": {"file": BINARY}}},
}
KEY_PARAMETER = {
    "name": "Idempotency-Key", "in": "header", "required": False,
    "schema": {"type": "string", "maxLength": 200, "pattern": "^[ -~]*$"},
    "description": "Asked again under the same key, nothing is done twice and the same answer is given.",
}  # fmt: skip
MATCH_PARAMETER = {
    "name": "If-Match", "in": "header", "required": False, "schema": {"type": "string"},
    "description": "The `ETag` of the state that was seen: refused with 412 when it is another now.",
}  # fmt: skip
_PROBLEM = {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}}
_REFERENCES = {str(status): {"$ref": f"#/components/responses/Refused{status}"} for status in REFUSALS}
_PAIRS = re.compile(r'"prefixItems":\[(\{[^{}]*\})(?:,\1)*\],"items":false')
_GENERIC = re.compile(r"(\w+?)_(?:[\w.]+\.)?(\w+?)_(?=[\"/]|$)")


class ApiDocument:
    """The description of endpoints, made when somebody asks for it first."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self._endpoints = endpoints

    @cached_property
    def body(self) -> bytes:
        return msgspec.json.encode(self.value)

    @cached_property
    def tag(self) -> str:
        return f'"{sha256(self.body).hexdigest()[:20]}"'

    @cached_property
    def value(self) -> dict[str, Any]:
        told = [each for each in self._endpoints if each.tag]
        schemas = _Schemas([Problem, *(kind for each in told for kind in _kinds(each))])
        paths: dict[str, dict[str, Any]] = {}
        for each in told:
            paths.setdefault(each.paths[0], {})[each.method.lower()] = _operation(each, schemas)
        refusals = {f"Refused{each}": {"description": text, "content": _PROBLEM} for each, text in REFUSALS.items()}
        components = {"schemas": schemas.components, "securitySchemes": SCHEMES, "responses": refusals}
        whole: dict[str, Any] = _readable({"openapi": "3.1.0", "info": INFO, "paths": paths, "components": components})
        return whole


class _Schemas:
    """The schemas of all types, with one name for each struct."""

    def __init__(self, kinds: list[Any]) -> None:
        found, self.components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
        self._schemas = {repr(kind): schema for kind, schema in zip(kinds, found, strict=True)}

    def of(self, kind: Any) -> dict[str, Any]:
        return dict(self._schemas[repr(kind)])

    def of_answer(self, kind: Any) -> dict[str, Any]:
        parts = [self.of(each) for each in _alternatives(kind)]
        return parts[0] if len(parts) == 1 else {"anyOf": parts}  # an empty page is one of any kind


def _kinds(endpoint: Endpoint) -> Iterator[Any]:
    fields = endpoint.fields
    yield from (each.type for each in (*fields.in_path, *fields.in_query))
    if fields.body is not None:
        yield fields.body
    yield from _alternatives(endpoint.answer)


def _alternatives(answer: Any) -> tuple[Any, ...]:
    """The structs of an answer, each for itself: no decoder could tell them apart."""
    kinds = get_args(answer) if get_origin(answer) in (Union, UnionType) else (answer,)
    return tuple(each for each in kinds if each not in (None, type(None), Download))


def _operation(endpoint: Endpoint, schemas: _Schemas) -> dict[str, Any]:
    fields = endpoint.fields
    made: dict[str, Any] = {
        "tags": [endpoint.tag],
        "summary": endpoint.id.replace("_", " ").capitalize(),
        "description": endpoint.text,
        "operationId": endpoint.id,
        "parameters": [
            *(_parameter(each, "path", schemas) for each in fields.in_path),
            *(_parameter(each, "query", schemas) for each in fields.in_query),
            *([KEY_PARAMETER] if endpoint.repeat != "safe" else []),
            *([MATCH_PARAMETER] if endpoint.guard else []),
        ],
    }
    if fields.body is not None:
        made["requestBody"] = {"content": {JSON: {"schema": schemas.of(fields.body)}}, "required": fields.needs_body}
    if endpoint.streams:
        made["requestBody"] = {"content": CONTENT, "required": True}
    made["responses"] = {**_answers(endpoint, schemas), **_REFERENCES}
    made["security"] = [] if endpoint.is_public else SECURITY
    if endpoint.operation:
        made["x-operation"] = endpoint.operation
    return made


def _parameter(field: FieldInfo, place: str, schemas: _Schemas) -> dict[str, Any]:
    schema = schemas.of(field.type)
    if place == "path" and schema.get("type") == "string":
        schema.setdefault("maxLength", MAX_TEXT)
    if not field.required and field.default is not None:
        schema["default"] = field.default
    words = {"description": schema["description"]} if "description" in schema else {}
    return {"name": field.name, "in": place, **words, "schema": schema, "required": field.required}


def _answers(endpoint: Endpoint, schemas: _Schemas) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if endpoint.answer is Download:
        content[OCTETS] = {"schema": BINARY}
    elif endpoint.answer is bytes:
        content[JSON] = {"schema": {}}
    elif endpoint.answer is not None and endpoint.status not in EMPTY:
        content[JSON] = {"schema": schemas.of_answer(endpoint.answer)}
    for media, text in endpoint.media.items():
        content[media] = {"schema": {"type": "string", "description": text}}
    statuses = {endpoint.status, *([200, 202] if endpoint.is_twofold else [])}
    told = {"content": content} if content else {}
    return {str(status): {"description": HTTPStatus(status).description, **told} for status in sorted(statuses)}


def _readable(description: Any) -> Any:
    """Lists named without the places of their items (`RunbookRowPage`), and pairs as lists of two: not every reader
    knows lists whose places differ."""
    text = msgspec.json.encode(description).decode()
    text = _GENERIC.sub(lambda match: f"{match[2]}{match[1]}", text.replace(r"\n    ", r"\n"))
    return msgspec.json.decode(_PAIRS.sub(r'"items":\1', text))
