"""Routes of the table of operations: the one place that knows both the rows and the web framework."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import msgspec
from litestar import Response, get, post, put
from litestar.params import Parameter, QueryParameter

from perdure.access.principal import own_key
from perdure.app.calls.views import CallView
from perdure.app.instances.views import InstanceView
from perdure.app.operations.execution import perform
from perdure.app.operations.fields import MAX_TEXT
from perdure.app.operations.operation import Context, Operation, Route
from perdure.app.runbooks.drafts import DraftView
from perdure.app.runbooks.views import RunbookView
from perdure.errors import PerdureError
from perdure.surfaces.http.authorization import AnyRequest, perdure_for, principal_of
from perdure.surfaces.http.journal_streams import STREAMED, followed
from perdure.surfaces.http.json_request import header_of
from perdure.surfaces.http.json_response import Answer
from perdure.surfaces.http.long_poll import patiently
from perdure.surfaces.http.responses import OWN, Own
from perdure.surfaces.http.route_decorators import route

Row = Operation[Any, Any]
METHODS = {"GET": get, "POST": post, "PUT": put}
VERSIONED = (CallView, InstanceView, RunbookView, DraftView)
"""Views of one thing, whose `sequence` is its tag."""
ADMITTED = frozenset({"call_verb", "start_runbook"})
"""The work that costs a server most: few at once while somebody looks."""
RESERVED = {"state": "in_state"}
"""Names that the framework keeps for itself, and ours for them."""
_PLACES = re.compile(r"\{(\w+)\}")
_TAGS = re.compile(r'(W/)?"([^"]*)"')
_VERSION = re.compile(r"0|[1-9][0-9]{0,18}")


class Parts(NamedTuple):
    """The fields of a request by where they travel."""

    parameters: list[inspect.Parameter]
    names: list[tuple[str, str]]
    """Parameters of the handler with the fields they fill."""
    body: list[str]


def route_handlers(rows: Sequence[Row]) -> tuple[Any, ...]:
    """A handler for every route of every row."""
    return tuple(_handler(row, each) for row in rows for each in row.routes)


def _handler(row: Row, place: Route) -> Any:
    parts, own, id = _parts(row, place), OWN.get(row.id, Own()), place.name or row.id
    request_type, body = row.request, parts.body
    is_admitted, is_streamed = row.id in ADMITTED, row.id in STREAMED

    async def served(request: AnyRequest, **arguments: Any) -> Any:
        fields = {field: arguments[name] for name, field in parts.names}
        if body:
            data = arguments["data"]
            fields.update((name, getattr(data, name)) for name in body)
        asked, context = request_type(**fields), _context(request, row)
        if is_streamed:
            asked, stream = await followed(request, context, row, asked)
            if stream is not None:
                return stream
        answer = await _performed(request, context, row, asked, own, is_admitted)
        return own.response(request, asked, answer) if own.response is not None else _answer(place, answer)

    served.__name__, served.__doc__ = id, row.text
    asks = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY, annotation=AnyRequest)
    gives = Response[Any] if row.answer is bytes else Response[row.answer]  # type: ignore[name-defined]
    parameters = [asks, *parts.parameters]
    served.__signature__ = inspect.Signature(parameters, return_annotation=gives)  # type: ignore[attr-defined]
    served.__annotations__ = {**{each.name: each.annotation for each in parameters}, "return": gives}
    path = _PLACES.sub(lambda found: f"{{{found[1]}:{_kind(row, found[1])}}}", place.path)
    options: dict[str, Any] = {**own.options, "streams": is_streamed, "guarded": row.guard}
    if row.repeat != "safe":
        options["repeats"] = row.repeat
    made = route(METHODS[place.method], path, row.name, tags=(row.tag,), status_code=place.status, **options)
    return made(served)


async def _performed(request: AnyRequest, context: Context, row: Row, asked: Any, own: Own, is_admitted: bool) -> Any:
    try:
        if is_admitted:
            async with request.app.state.turnstile.turn():
                return await perform(context, row, asked)
        if request.method == "GET" and getattr(asked, "until", None):
            return await patiently(request, context.principal, perform(context, row, asked))
        return await perform(context, row, asked)
    except PerdureError as error:
        if own.refusal is None:
            raise
        raise own.refusal(error) from error


def _context(request: AnyRequest, row: Row) -> Context:
    principal, state, scope = principal_of(request), request.app.state, request.scope
    return Context(
        perdure_for(request),
        principal,
        seen_versions(request.headers.get("if-match")) if row.guard else None,
        own_key(principal, header_of(scope, b"idempotency-key")) if row.repeat == "domain" else "",
        scope["state"].get("wait"),
        state.secret,
        state.public_keys,
    )


def seen_versions(wanted: str | None) -> frozenset[int] | None:
    """The versions that `If-Match` names; a weak tag names none, and a star any."""
    if wanted is None or wanted.strip() == "*":
        return None
    return frozenset(int(tag) for weak, tag in _TAGS.findall(wanted) if not weak and _VERSION.fullmatch(tag))


def _answer(place: Route, answer: Any) -> Answer[Any]:
    headers: dict[bytes, str] = {}
    if isinstance(answer, VERSIONED):
        headers[b"etag"] = f'"{answer.sequence}"'
        if place.location:
            headers[b"location"] = place.location + answer.id
    return Answer(answer, place.status, headers)


def _parts(row: Row, place: Route) -> Parts:
    fields = msgspec.structs.fields(row.request)
    in_path = set(_PLACES.findall(place.path))
    single = [each for each in fields if place.method == "GET" or each.name in in_path]
    carried = [each for each in fields if each not in single]
    parameters = [_parameter(each, each.name in in_path) for each in single]
    if carried:
        parameters.append(_body(row, place, carried, bool(in_path)))
    names = [(RESERVED.get(each.name, each.name), each.name) for each in single]
    return Parts(parameters, names, [each.name for each in carried])


def _parameter(field: msgspec.structs.FieldInfo, is_in_path: bool) -> inspect.Parameter:
    kind, given = _split(field.type)
    if is_in_path and kind is str:
        given.setdefault("max_length", MAX_TEXT)
    name = RESERVED.get(field.name, field.name)
    made: Callable[..., Any] = Parameter
    if name != field.name:
        made, given = QueryParameter, {**given, "name": field.name}
    annotation = Annotated[kind, made(**given)] if given else kind
    default = inspect.Parameter.empty if is_in_path or field.required else field.default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _split(annotation: Any) -> tuple[Any, dict[str, Any]]:
    """A type, and its bounds in the words of the framework; those of a value that may be null as well."""
    if get_origin(annotation) in (Union, UnionType):
        parts = [_split(each) for each in get_args(annotation)]
        return Union[tuple(kind for kind, _ in parts)], {  # noqa: UP007  made while it runs
            name: value for _, words in parts for name, value in words.items()
        }
    if get_origin(annotation) is not Annotated:
        return annotation, {}
    kind, meta = get_args(annotation)
    inner, words = _split(kind)
    longest = "max_items" if get_origin(inner) is list else "max_length"
    found = {"ge": meta.ge, "le": meta.le, "description": meta.description, longest: meta.max_length}
    return inner, {**words, **{name: value for name, value in found.items() if value is not None}}


def _body(row: Row, place: Route, fields: list[msgspec.structs.FieldInfo], is_rest: bool) -> inspect.Parameter:
    kind: Any = row.request
    if is_rest:
        kind = msgspec.defstruct(
            f"{row.request.__name__}Body", [_field(each) for each in fields], frozen=True, kw_only=True,
            forbid_unknown_fields=True, namespace={"__doc__": row.request.__doc__}, module=row.request.__module__,
        )  # fmt: skip
    is_needed = place.needs_body or any(each.required for each in fields)
    default = inspect.Parameter.empty if is_needed else kind()
    return inspect.Parameter("data", inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _field(field: msgspec.structs.FieldInfo) -> tuple[Any, ...]:
    if field.required:
        return (field.name, field.type)
    if field.default_factory is not msgspec.NODEFAULT:
        return (field.name, field.type, msgspec.field(default_factory=field.default_factory))
    return (field.name, field.type, field.default)


def _kind(row: Row, name: str) -> str:
    field = next(each for each in msgspec.structs.fields(row.request) if each.name == name)
    return "int" if _split(field.type)[0] is int else "str"
