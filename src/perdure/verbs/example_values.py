"""The smallest value that a schema accepts, for verbs that are only pretended to run."""

from __future__ import annotations

from typing import Any

MAX_DEPTH = 20
_BY_FORMAT = {
    "uuid": "00000000-0000-0000-0000-000000000000",
    "email": "nobody@example.com",
    "uri": "https://example.com/",
    "date": "2000-01-01",
    "date-time": "2000-01-01T00:00:00Z",
    "duration": "PT0S",
}
_EMPTY: dict[str, Any] = {"boolean": False, "null": None}


def example_of(schema: Any, definitions: dict[str, Any] | None = None, depth: int = 0) -> Any:
    """A value made from defaults, first enum values and empty values; whether it fits must still be checked."""
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return None
    definitions = schema.get("$defs", {}) if definitions is None else definitions
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    if isinstance(schema.get("$ref"), str):
        return example_of(definitions.get(schema["$ref"].removeprefix("#/$defs/")), definitions, depth + 1)
    return _by_type(schema, definitions, depth)


def _by_type(schema: dict[str, Any], definitions: dict[str, Any], depth: int) -> Any:
    kinds = schema.get("type")
    match kinds[0] if isinstance(kinds, list) else kinds:
        case "object":
            properties = schema.get("properties", {})
            return {
                name: example_of(properties.get(name), definitions, depth + 1) for name in schema.get("required", ())
            }
        case "array":
            count = min(int(schema.get("minItems", 0)), 100)
            return [example_of(schema.get("items"), definitions, depth + 1) for _ in range(count)]
        case "string":
            return _text(schema)
        case "integer" | "number":
            return schema.get("minimum", schema.get("maximum", 0))
        case kind:
            return _EMPTY.get(kind) if isinstance(kind, str) else {}


def _text(schema: dict[str, Any]) -> str:
    if schema.get("pattern") == r"^-?[0-9]+(\.[0-9]+)?$":
        return "0"
    return _BY_FORMAT.get(schema.get("format", ""), "x" * min(int(schema.get("minLength", 0)), 1000))
