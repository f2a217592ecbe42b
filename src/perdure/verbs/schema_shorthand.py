"""Turns a schema as people write it into standard JSON Schema 2020-12."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from perdure.verbs.near_names import did_you_mean
from perdure.verbs.yaml_keys import SCHEMA_KEYS
from perdure.verbs.yaml_nodes import Node, Report, shown_path

_STANDARD_TYPES = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
_DECIMAL = r"^-?[0-9]+(\.[0-9]+)?$"
SHORTHAND_TYPES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "uuid": {"type": "string", "format": "uuid"},
        "email": {"type": "string", "format": "email"},
        "uri": {"type": "string", "format": "uri"},
        "url": {"type": "string", "format": "uri"},
        "date": {"type": "string", "format": "date"},
        "timestamp": {"type": "string", "format": "date-time"},
        "datetime": {"type": "string", "format": "date-time"},
        "date-time": {"type": "string", "format": "date-time"},
        "duration": {"type": "string", "format": "duration"},
        "text": {"type": "string"},
        "lookup": {"type": "string"},
        "enum": {"type": "string"},
        "int": {"type": "integer"},
        "bool": {"type": "boolean"},
        "float": {"type": "number"},
        "decimal": {"type": ["string", "number"], "pattern": _DECIMAL},
        "json": {},
        "any": {},
        "map": {"type": "object"},
        "record": {"type": "object"},
        "list": {"type": "array"},
        "string_list": {"type": "array", "items": {"type": "string"}},
        "uuid_list": {"type": "array", "items": {"type": "string", "format": "uuid"}},
        "uuid_array": {"type": "array", "items": {"type": "string", "format": "uuid"}},
    }
)
FORMATS = (
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
)
_ONE_SCHEMA = frozenset(
    [
        "items",
        "additionalProperties",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    ]
)
_SCHEMA_LIST = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SCHEMA_MAP = frozenset({"properties", "patternProperties", "dependentSchemas"})
_COMPOSED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if"})
_REFERENCE = re.compile(r"#/(?:definitions|\$defs)/([A-Za-z_][A-Za-z0-9_.-]*)")


def argument_name(written: str) -> str:
    """`:case-type`, `case-type` and `case_type` are one argument."""
    return written.removeprefix(":").replace("-", "_")


class SchemaReader:
    """Reads the schemas of one file; references may name any shared definition of the whole load."""

    def __init__(self, file: str, report: Report, definitions: Mapping[str, Any]) -> None:
        self._file = file
        self._report = report
        self._definitions = definitions

    def arguments(self, node: Node) -> dict[str, Any]:
        """A verb's input: an object with snake-case arguments that takes no others unless it says so."""
        schema = self.value(self._with_argument_names(node))
        schema.setdefault("type", "object")
        is_open = "additionalProperties" in schema or "unevaluatedProperties" in schema
        if not is_open:
            schema["unevaluatedProperties" if _COMPOSED & schema.keys() else "additionalProperties"] = False
        return schema

    def value(self, node: Node) -> dict[str, Any]:
        """Any other schema."""
        schema = self._convert(node)
        return schema if isinstance(schema, dict) else ({} if schema else {"not": {}})

    def _convert(self, node: Node) -> dict[str, Any] | bool:
        if isinstance(node.value, bool):
            return node.value
        if not isinstance(node.value, dict):
            self._wrong(node, "wrong_type", f"expected a schema (a mapping), found {node.kind()}")
            return {}
        schema: dict[str, Any] = {}
        for key, child in node.value.items():
            self._keyword(schema, node, key, child)
        required = self._required(node)
        if required:
            schema["required"] = required
        if ("properties" in schema or required) and "type" not in schema and "$ref" not in schema:
            schema["type"] = "object"
        return schema

    def _keyword(self, schema: dict[str, Any], node: Node, key: str, child: Node) -> None:
        if key not in SCHEMA_KEYS:
            self._unknown_key(node, key)
        elif key == "type":
            self._type(schema, child, node)
        elif key == "$ref":
            self._reference(schema, child)
        elif key == "format" and child.value not in FORMATS:
            hint = did_you_mean(str(child.value), FORMATS) or f"Known formats: {', '.join(FORMATS)}."
            self._wrong(child, "format", f"'{str(child.plain())[:60]}' is not a format", hint)
        elif key == "valid_values":
            schema["enum"] = child.plain()
        elif key in _ONE_SCHEMA:
            schema[key] = self._convert(child)
        elif key in _SCHEMA_LIST and isinstance(child.value, list):
            schema[key] = [self._convert(item) for item in child.value]
        elif key in _SCHEMA_MAP and isinstance(child.value, dict):
            schema[key] = {name: self._convert(item) for name, item in child.value.items()}
        elif key != "required":
            schema[key] = child.plain()

    def _type(self, schema: dict[str, Any], child: Node, node: Node) -> None:
        written = child.value
        if isinstance(written, str) and written in SHORTHAND_TYPES:
            for keyword, value in SHORTHAND_TYPES[written].items():
                schema.setdefault(keyword, value)
            if written == "enum" and not {"enum", "valid_values"} & node.value.keys():
                self._wrong(child, "enum", "an enum needs its values", "Add enum: [first, second].")
        elif isinstance(written, str) and written in _STANDARD_TYPES:
            schema["type"] = written
        elif isinstance(written, list) and written and all(_is_standard(item.value) for item in written):
            schema["type"] = [item.value for item in written]
        else:
            names = sorted(_STANDARD_TYPES | SHORTHAND_TYPES.keys())
            said = str(child.plain())[:60]
            hint = did_you_mean(said, names) or f"Known types: {', '.join(names)}."
            self._wrong(child, "unknown_type", f"'{said}' is not a type", hint)

    def _reference(self, schema: dict[str, Any], child: Node) -> None:
        match = _REFERENCE.fullmatch(child.value) if isinstance(child.value, str) else None
        if match is None:
            hint = "Only '#/definitions/<Name>' is allowed; files and addresses are never fetched."
            self._wrong(child, "reference", f"the reference '{str(child.plain())[:80]}' is refused", hint)
        elif match[1] not in self._definitions:
            hint = did_you_mean(match[1], self._definitions) or "Add it to a file with a top-level 'definitions:'."
            self._wrong(child, "reference", f"the definition '{match[1]}' does not exist", hint)
        else:
            schema["$ref"] = f"#/$defs/{match[1]}"

    def _required(self, node: Node) -> list[str]:
        """The `required` list plus every property that says `required: true` itself."""
        names: list[str] = []
        own = node.value.get("required")
        if own is not None and isinstance(own.value, list):
            names.extend(str(item.value) for item in own.value)
        elif own is not None and not isinstance(own.value, bool) and own.value is not None:
            self._wrong(own, "wrong_type", f"expected a list of names or true/false, found {own.kind()}")
        properties = node.value.get("properties")
        children = properties.value if properties is not None and isinstance(properties.value, dict) else {}
        for name, child in children.items():
            flag = child.value.get("required") if isinstance(child.value, dict) else None
            if flag is not None and flag.value is True:
                names.append(name)
        self._unknown_required(node, own, children, names)
        return list(dict.fromkeys(names))

    def _unknown_required(self, node: Node, own: Node | None, children: Mapping[str, Node], names: list[str]) -> None:
        closed = (
            not {"$ref", "allOf", "anyOf", "oneOf", "patternProperties", "additionalProperties"} & node.value.keys()
        )
        for name in names:
            if closed and "properties" in node.value and name not in children:
                hint = did_you_mean(name, children)
                self._wrong(own or node, "required", f"'{name}' is required but is not a property", hint)

    def _with_argument_names(self, node: Node) -> Node:
        if not isinstance(node.value, dict):
            return node
        children = dict(node.value)
        properties = children.get("properties")
        if properties is not None and isinstance(properties.value, dict):
            children["properties"] = self._renamed(properties)
        required = children.get("required")
        if required is not None and isinstance(required.value, list):
            renamed = [item.beside(argument_name(str(item.value))) for item in required.value]
            children["required"] = required.beside(renamed)
        return node.with_children(children)

    def _renamed(self, properties: Node) -> Node:
        renamed: dict[str, Node] = {}
        for written, child in properties.value.items():
            name = argument_name(written)
            if name in renamed:
                reason = f"'{written}' and another spelling of '{name}' are the same argument"
                self._wrong(child, "clash", reason, "Keep one of them.")
            renamed[name] = child
        return properties.with_children(renamed)

    def _unknown_key(self, node: Node, key: str) -> None:
        place = node.key_places.get(key, (node.line, node.column))
        hint = did_you_mean(key, SCHEMA_KEYS)
        reason = f"the key '{key}' is not known in a schema"
        self._report.add((self._file, *place), "schema.unknown_key", f"{shown_path(node)}.{key}", reason, hint)

    def _wrong(self, node: Node, code: str, reason: str, hint: str = "") -> None:
        self._report.add((self._file, node.line, node.column), f"schema.{code}", shown_path(node), reason, hint)


def _is_standard(written: Any) -> bool:
    return isinstance(written, str) and written in _STANDARD_TYPES


def with_definitions(schema: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with every definition it reaches written into it, so that it stands alone."""
    reached: dict[str, Any] = {}
    waiting = list(referenced(schema))
    while waiting:
        name = waiting.pop()
        if name not in reached and name in definitions:
            reached[name] = definitions[name]
            waiting.extend(referenced(definitions[name]))
    return {**schema, "$defs": {name: reached[name] for name in sorted(reached)}} if reached else schema


def referenced(schema: Any) -> set[str]:
    """Names of the definitions that a converted schema refers to directly."""
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            reference = part.get("$ref")
            if isinstance(reference, str):
                found.add(reference.removeprefix("#/$defs/"))
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
    return found
