"""Placeholders of packs: `{answers.x}`, `{context.x}`, `{steps.x.path}`, `{item}`, with filters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, assert_never

import msgspec

from perdure.packs.conditions import look_up

FilterName = Literal["default", "count", "join"]
ROOTS = ("answers", "context", "item", "steps")
FILTERS: tuple[FilterName, ...] = ("default", "count", "join")

_BRACES = re.compile(r"\{([^{}]{0,300})\}")
_INSIDE = re.compile(r"\s*([A-Za-z_][\w-]*(?:\.[A-Za-z_0-9][\w-]*)*)\s*((?:\|[^|]*)*)")
_FILTER = re.compile(r"\s*([a-z]+)(?:\s+(?:'([^']*)'|\"([^\"]*)\"|([\w-]+)))?\s*")


class PlaceholderFault(Exception):
    """Braces that hold no placeholder."""


class Filter(msgspec.Struct, frozen=True):
    name: FilterName
    argument: str = ""


class Placeholder(msgspec.Struct, frozen=True):
    """One name between braces and what is done with its value."""

    path: tuple[str, ...]
    filters: tuple[Filter, ...] = ()

    @property
    def root(self) -> str:
        return self.path[0]


Part = str | Placeholder
Template = tuple[Part, ...]
"""Text and placeholders in turn; a placeholder alone keeps its value's type."""


def parse_template(text: str) -> Template:
    """The parts of a text, or PlaceholderFault."""
    parts: list[Part] = []
    at = 0
    for match in _BRACES.finditer(text):
        if match.start() > at:
            parts.append(text[at : match.start()])
        parts.append(_placeholder(match[1]))
        at = match.end()
    if at < len(text):
        parts.append(text[at:])
    if any(isinstance(part, str) and ("{" in part or "}" in part) for part in parts):
        raise PlaceholderFault("a brace has no partner")
    return tuple(parts)


def placeholders_in(value: Any) -> Iterator[Placeholder]:
    """Every placeholder of a value, however deep; faulty texts have been reported already."""
    if isinstance(value, str):
        yield from (part for part in _lenient(value) if isinstance(part, Placeholder))
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from placeholders_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from placeholders_in(each)


def fill(text: str, names: Mapping[str, Any]) -> Any:
    """The value of a template: of one placeholder alone as it is, else a text; None when a lone one has no value."""
    parts = parse_template(text)
    if len(parts) == 1 and isinstance(parts[0], Placeholder):
        return value_of(parts[0], names)
    return "".join(part if isinstance(part, str) else shown(value_of(part, names)) for part in parts)


def value_of(placeholder: Placeholder, names: Mapping[str, Any]) -> Any:
    value = look_up(names, placeholder.path)
    for each in placeholder.filters:
        value = _filtered(value, each)
    return value


def shown(value: Any) -> str:
    """A value inside a sentence; nothing is three dots."""
    match value:
        case None:
            return "…"
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            words = [shown(each) for each in value]
            return " and ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])}, and {words[-1]}"
        case dict():
            return str(value.get("label") or value.get("name") or value)
        case _:
            return str(value)


def _filtered(value: Any, each: Filter) -> Any:
    match each.name:
        case "default":
            return each.argument if value in (None, "", []) else value
        case "count":
            return 0 if value is None else len(value) if isinstance(value, list | tuple | dict) else 1
        case "join":
            return (each.argument or ", ").join(shown(item) for item in value) if isinstance(value, list) else value
        case _:
            assert_never(each.name)


def _placeholder(inside: str) -> Placeholder:
    match = _INSIDE.fullmatch(inside)
    if match is None:
        raise PlaceholderFault(f"'{{{inside}}}' is no placeholder")
    path = tuple(match[1].replace("-", "_").split("."))
    if path[0] not in ROOTS or (path[0] != "item" and len(path) < 2):
        raise PlaceholderFault(f"'{{{inside.strip()}}}' names neither answers, context, steps nor item")
    return Placeholder(path, tuple(_filter(each) for each in match[2].split("|")[1:]))


def _filter(text: str) -> Filter:
    match = _FILTER.fullmatch(text)
    for name in FILTERS:
        if match is not None and match[1] == name:
            return Filter(name, next((each for each in match.groups()[1:] if each is not None), ""))
    raise PlaceholderFault(f"'{text.strip()}' is no filter: there are {', '.join(FILTERS)}")


def _lenient(text: str) -> Template:
    try:
        return parse_template(text)
    except PlaceholderFault:
        return ()
