"""The fields of a request by where they travel: path, query and body, read and checked as one value."""

from __future__ import annotations

import re
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin
from urllib.parse import parse_qsl

import msgspec
from msgspec import UNSET
from msgspec.structs import FieldInfo

from perdure.app.operations.request_fields import MAX_TEXT
from perdure.app.tasks.views import FieldError
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.problem_details import InvalidRequest, unknown_path
from perdure.typed_reading import convert

Shape = type[msgspec.Struct]
TOO_LONG = f"Expected `str` of length <= {MAX_TEXT}"
_PLACES = re.compile(r"\{(\w+)\}")
_PATH_OF_ERROR = re.compile(r"`\$\.(.+)`$")


class Fields(msgspec.Struct, frozen=True):
    """The fields of one endpoint."""

    request: Shape
    in_path: tuple[FieldInfo, ...] = ()
    in_query: tuple[FieldInfo, ...] = ()
    body: Shape | None = None
    needs_body: bool = False


NOTHING = Fields(msgspec.Struct)


def fields_of(request: Shape, method: str, path: str, *, needs_body: bool = False) -> Fields:
    """Say where each field of a request travels: named in the path there, else in the query of a GET or the body."""
    named, fields = frozenset(_PLACES.findall(path)), msgspec.structs.fields(request)
    in_path = tuple(each for each in fields if each.name in named)
    others = tuple(each for each in fields if each.name not in named)
    if method == "GET" or not others:
        return Fields(request, in_path, others)
    is_needed = needs_body or any(each.required for each in others)
    return Fields(request, in_path, (), _body(request, named) if named else request, is_needed)


@cache
def _body(request: Shape, named: frozenset[str]) -> Shape:
    """A struct of the fields that no path names; one for all endpoints, because a name describes one type."""
    again: Any = msgspec.field
    fields = [
        (each.name, each.type, again(default=each.default, default_factory=each.default_factory))
        for each in msgspec.structs.fields(request)
        if each.name not in named
    ]
    words, place = {"__doc__": request.__doc__}, request.__module__
    name = f"{request.__name__}Body"
    return msgspec.defstruct(name, fields, namespace=words, module=place, kw_only=True, forbid_unknown_fields=True)


async def read_fields(request: JsonRequest, fields: Fields) -> Any:
    """The value of a request; refused as a whole with every field that does not fit."""
    given = _words(request, fields)
    if fields.in_query and (query := request.scope["query_string"]):
        _add_query(fields, query.decode("latin-1"), given)
    body = await request.json() if fields.body is not None and await request.body() else UNSET
    try:
        return convert(_merged(fields, given, body), fields.request, strict=False, str_keys=True)
    except msgspec.ValidationError as error:
        raise _unfit(request, fields, given, body) from error


def _words(request: JsonRequest, fields: Fields) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for field in fields.in_path:
        given[field.name] = word = request.words[field.name]
        if len(word) > MAX_TEXT:
            raise InvalidRequest(_detail(request), [FieldError(field.name, TOO_LONG)])
        if not word.isdecimal() and _kinds(field.type) == {int}:
            raise unknown_path()
    return given


def _add_query(fields: Fields, query: str, given: dict[str, Any]) -> None:
    """Add the fields of a query; of a field that is no list the last one counts."""
    pairs = parse_qsl(query, keep_blank_values=True)
    for field in fields.in_query:
        if told := [value for name, value in pairs if name == field.name]:
            given[field.name] = told if list in _kinds(field.type) else told[-1]


def _merged(fields: Fields, given: dict[str, Any], body: Any) -> dict[str, Any]:
    """All fields in one; a body that is none, or says once more what the path says, does not fit."""
    if body is UNSET and not fields.needs_body:
        return given
    if not isinstance(body, dict) or not body.keys().isdisjoint(given):
        raise msgspec.ValidationError
    return {**body, **given}


def _kinds(annotation: Any) -> set[Any]:
    """The types of a field without their bounds."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kinds(inner[0])
    return set().union(*map(_kinds, inner)) if origin in (Union, UnionType) else {origin or annotation}


def _unfit(request: JsonRequest, fields: Fields, given: dict[str, Any], body: Any) -> InvalidRequest:
    """Every field that does not fit, each looked at alone."""
    told = [each for each in (*fields.in_path, *fields.in_query) if each.name in given]
    alone = [(each.name, given[each.name], each.type) for each in told]
    if fields.body is not None and body is not UNSET:
        alone.append(("", body, fields.body))
    errors = [error for name, value, kind in alone if (error := _error(name, value, kind)) is not None]
    if fields.needs_body and body is UNSET:
        errors.append(FieldError("data", "Expected a body"))
    return InvalidRequest(_detail(request), errors)


def _error(name: str, value: Any, kind: Any) -> FieldError | None:
    try:
        convert(value, kind, strict=False, str_keys=True)
    except msgspec.ValidationError as error:
        found = _PATH_OF_ERROR.search(str(error))
        path = ".".join(part for part in (name, found[1] if found else "") if part)
        return FieldError(path or "data", str(error).partition(" - ")[0])
    return None


def _detail(request: JsonRequest) -> str:
    query = request.scope["query_string"].decode("latin-1")
    return f"Validation failed for {request.scope['method']} {request.scope['path']}{'?' if query else ''}{query}"
