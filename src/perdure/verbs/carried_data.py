"""Carried data: the schema that a process keeps its data to between the call and the result of its verb.

| the schema of a field | comes from |
|---|---|
| a field of the result | the output schema of the durable verb |
| any other field that the process begins with | the argument it is taken from |
| any other field | nowhere: its value is held to nothing |

A sub-verb may write an object bit by bit, so that nothing is required of an object before the verb itself ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from perdure.verbs.definition import VerbDefinition
from perdure.verbs.schema_shorthand import argument_name

REFERENCE = "#/$defs/"
KEPT = ("type", "maxProperties", "propertyNames")
"""Of an object that may not be whole yet; the schemas of its fields are kept besides."""
COMBINED = ("allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas")
MAX_DEPTH = 16
SCALARS = frozenset({"string", "integer", "number", "boolean", "null", "array"})


def carried_schema(definition: VerbDefinition) -> dict[str, Any] | None:
    """The schema of data while the verb's process runs; None when nothing is declared of any field."""
    given, results = definition.input_schema, definition.output_schema or {}
    known = {**given.get("$defs", {}), **results.get("$defs", {})}
    fields = {**_begun_with(definition), **_given_out(definition)}
    properties = {name: _unfinished(schema, known, 0) for name, schema in fields.items()}
    if not any(properties.values()):
        return None
    return {"type": "object", "properties": properties, **({"$defs": known} if known else {})}


def _begun_with(definition: VerbDefinition) -> dict[str, Any]:
    arguments: Mapping[str, Any] = definition.input_schema.get("properties", {})
    wanted = definition.execution.payload_in
    if not wanted:
        return dict(arguments)
    sources = {field: argument_name(source[1:]) for field, source in wanted.items() if source.startswith("$")}
    return {field: arguments[source] for field, source in sources.items() if source in arguments}


def _given_out(definition: VerbDefinition) -> dict[str, Any]:
    properties: Mapping[str, Any] = (definition.output_schema or {}).get("properties", {})
    names: Iterable[str] = definition.execution.payload_out or properties
    return {name: properties[name] for name in names if name in properties}


def _unfinished(schema: Any, known: Mapping[str, Any], depth: int) -> Any:
    """What holds of a value before it is whole; an empty schema where that cannot be told."""
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return {}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        named = known.get(reference.removeprefix(REFERENCE)) if reference.startswith(REFERENCE) else None
        return _unfinished(named, known, depth + 1)
    types = schema.get("type", ())
    if types and SCALARS.issuperset([types] if isinstance(types, str) else types):
        return schema
    if any(word in schema for word in COMBINED):
        return {}
    if not ("properties" in schema or "object" in types):
        return {word: schema[word] for word in ("enum", "const") if word in schema}
    kept = {word: schema[word] for word in KEPT if word in schema}
    kept["properties"] = {
        name: _unfinished(each, known, depth + 1) for name, each in schema.get("properties", {}).items()
    }
    if "additionalProperties" in schema and "patternProperties" not in schema:
        others = schema["additionalProperties"]
        kept["additionalProperties"] = others if isinstance(others, bool) else _unfinished(others, known, depth + 1)
    return kept
