"""Types of a schema: kinds, fields and values it allows, and which types fit where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from perdure.runbooks.plan import Path

_DEEPEST = 16
_SPOKEN = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_COMPOSED = ("allOf", "anyOf", "oneOf", "if", "not")


class Shape(msgspec.Struct, frozen=True):
    """A part of a schema together with the whole that its references lead into."""

    schema: Any
    root: Mapping[str, Any]

    def kinds(self, depth: int = 0) -> frozenset[str] | None:
        """The JSON types that are allowed; None when it does not say."""
        schema = self._followed().schema
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return None
        if "type" in schema:
            given = schema["type"]
            return frozenset([given] if isinstance(given, str) else given)
        values = self.values()
        if values is not None:
            return frozenset(kind_of(value) for value in values)
        for word in ("anyOf", "oneOf"):
            parts = [Shape(part, self.root).kinds(depth + 1) for part in schema.get(word, ())]
            known = [part for part in parts if part is not None]
            if parts and len(known) == len(parts):
                return frozenset().union(*known)
        parts = [Shape(part, self.root).kinds(depth + 1) for part in schema.get("allOf", ())]
        return next((part for part in parts if part is not None), None)

    def values(self) -> list[Any] | None:
        """The values that are listed; None when none are."""
        schema = self._followed().schema
        if not isinstance(schema, dict):
            return None
        if isinstance(schema.get("enum"), list):
            return list(schema["enum"])
        return [schema["const"]] if "const" in schema else None

    def below(self, key: str | int) -> Shape | Literal["absent", "untold"]:
        """What is allowed at a field or a place of a list; absent when there can be nothing."""
        kinds = self.kinds()
        schema = self._followed().schema
        if not isinstance(schema, dict) or kinds is None:
            found = schema.get("properties", {}).get(str(key)) if isinstance(schema, dict) else None
            return "untold" if found is None else Shape(found, self.root)
        if isinstance(key, int) and "array" in kinds:
            return self._item(schema, key)
        return self._field(schema, str(key)) if "object" in kinds else "absent"

    def at(self, path: Path) -> tuple[Shape | Literal["absent", "untold"], int]:
        """What a path leads to, and how far along it that was found."""
        shape: Shape = self
        for number, key in enumerate(path):
            found = shape.below(key)
            if not isinstance(found, Shape):
                return found, number
            shape = found
        return shape, len(path)

    def fields(self) -> list[str]:
        schema = self._followed().schema
        return list(schema.get("properties", {})) if isinstance(schema, dict) else []

    def spoken(self) -> str:
        """The kinds in words."""
        kinds = self.kinds()
        return " or ".join(_SPOKEN.get(kind, kind) for kind in sorted(kinds)) if kinds else "anything"

    def _followed(self) -> Shape:
        shape = self
        for _ in range(_DEEPEST):
            reference = shape.schema.get("$ref") if isinstance(shape.schema, dict) else None
            if not isinstance(reference, str):
                break
            name = reference.removeprefix("#/$defs/").removeprefix("#/definitions/")
            found = self.root if reference == "#" else self.root.get("$defs", {}).get(name)
            shape = Shape(found, self.root)
        return shape

    def _item(self, schema: Mapping[str, Any], index: int) -> Shape | Literal["absent", "untold"]:
        first = schema.get("prefixItems", ())
        if index < len(first):
            return Shape(first[index], self.root)
        rest = schema.get("items")
        if isinstance(schema.get("maxItems"), int) and index >= schema["maxItems"]:
            return "absent"
        return Shape(rest, self.root) if isinstance(rest, dict) else "untold"

    def _field(self, schema: Mapping[str, Any], name: str) -> Shape | Literal["absent", "untold"]:
        properties = schema.get("properties", {})
        if name in properties:
            return Shape(properties[name], self.root)
        if any(word in schema for word in (*_COMPOSED, "patternProperties")):
            return "untold"
        others = schema.get("additionalProperties", schema.get("unevaluatedProperties", True))
        if others is False:
            return "absent"
        return Shape(others, self.root) if isinstance(others, dict) and others else "untold"


def misfit(given: Shape, wanted: Shape, depth: int = 0) -> str:
    """Why no value of one shape is ever of the other; empty when some may be."""
    kinds, allowed = given.kinds(), wanted.kinds()
    if kinds is None or allowed is None or depth > _DEEPEST:
        return ""
    if not any(_meet(kind, other) for kind in kinds for other in allowed):
        return f"is {given.spoken()} where {wanted.spoken()} is taken"
    values, listed = given.values(), wanted.values()
    if values is not None and listed is not None and not any(value in listed for value in values):
        return f"is one of {_listed(values)} where one of {_listed(listed)} is taken"
    if kinds == {"array"} == allowed:
        inner, outer = given.below(10**9), wanted.below(10**9)
        if isinstance(inner, Shape) and isinstance(outer, Shape):
            inside = misfit(inner, outer, depth + 1)
            return f"is a list in which each {inside}" if inside else ""
    return ""


def kind_of(value: Any) -> str:
    """The JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case _:
            return "object"


def _meet(kind: str, other: str) -> bool:
    return kind == other or {kind, other} == {"integer", "number"}


def _listed(values: list[Any]) -> str:
    return " or ".join(str(value) for value in values[:8])
