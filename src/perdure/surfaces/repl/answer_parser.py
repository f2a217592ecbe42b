"""The answer parser: free words become the value of an argument or of a form's field, as its schema wants it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.packs.questions import NO, YES, Understood, choose, split_list
from perdure.runbooks.drafts.readiness import argument_schema
from perdure.runbooks.plan import Reference

REFERENCE = re.compile(r"@([a-z_][\w-]*)((?:\.[\w-]+)*)")


def reference_in(text: str) -> Reference | None:
    """`@case.case_id`: the result of an earlier step."""
    match = REFERENCE.fullmatch(text.strip())
    if match is None:
        return None
    path = tuple(int(part) if part.isdecimal() and len(part) < 10 else part for part in match[2].split(".")[1:])
    return Reference((), match[1], path)


def options_in(schema: Any) -> tuple[str, ...]:
    """What a schema lets one choose from."""
    part = schema if isinstance(schema, dict) else {}
    items = part.get("items") if isinstance(part.get("items"), dict) else {}
    values = part.get("enum") or (items or {}).get("enum")
    if values:
        return tuple(str(each) for each in values)
    return ("yes", "no") if part.get("type") == "boolean" else ()


def read_value(text: str, schema: Any, definitions: Mapping[str, Any] | None = None) -> Understood:
    """The value, checked against the schema; or why it is none."""
    part = _resolved(schema, definitions or {})
    found = _read(text.strip(), part)
    if found.fault:
        return found
    for violation in argument_schema(part, definitions or {}).violations(found.value)[:1]:
        return Understood(fault=f"'{text.strip()[:60]}': {violation.reason}", hint=violation.hint)
    return found


def _read(said: str, schema: dict[str, Any]) -> Understood:
    kinds = schema.get("type", "string")
    kind = kinds[0] if isinstance(kinds, list) and kinds else kinds
    if "enum" in schema:
        return choose(said, [str(each) for each in schema["enum"]])
    quoted = len(said) > 1 and said[0] == said[-1] == '"'
    if said.startswith(("{", "[")) or (quoted and kind != "string"):
        return _json(said)
    match kind:
        case "boolean":
            return _boolean(said)
        case "integer" | "number":
            return _number(said, str(kind))
        case "array":
            return Understood(split_list(said, options_in(schema)))
        case "object":
            return Understood(fault=f"'{said[:60]}' is not a JSON object", hint='Write {"name": "value"}.')
        case _:
            return Understood(said[1:-1] if quoted else said)


def _json(said: str) -> Understood:
    try:
        return Understood(msgspec.json.decode(said.encode()))
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        return Understood(fault=f"'{said[:60]}' is not JSON: {error}")


def _boolean(said: str) -> Understood:
    if said.lower() in YES:
        return Understood(True)
    return Understood(False) if said.lower() in NO else Understood(fault=f"'{said[:60]}' is neither yes nor no")


def _number(said: str, kind: str) -> Understood:
    plain = said.replace(",", "").replace("_", "")
    if re.fullmatch(r"[-+]?[0-9]{1,15}", plain):
        return Understood(int(plain))
    if kind == "number" and re.fullmatch(r"[-+]?[0-9]{1,15}\.[0-9]{1,15}", plain):
        return Understood(float(plain))
    return Understood(fault=f"'{said[:60]}' is not a {'whole ' if kind == 'integer' else ''}number")


def _resolved(schema: Any, definitions: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
        found = definitions.get(schema["$ref"].removeprefix("#/$defs/"))
        return found if isinstance(found, dict) else {}
    return schema if isinstance(schema, dict) else {}
