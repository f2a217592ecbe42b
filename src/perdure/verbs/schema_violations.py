"""Says what is wrong with data, where, and which valid name or value is nearest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from jsonschema_rs import ValidationError, ValidationErrorKind

from perdure.verbs.near_names import did_you_mean

MAX_REASON = 200


class Violation(msgspec.Struct, frozen=True):
    """One place of the data that does not fit: its JSON path, the reason and, when known, the fix."""

    path: str
    reason: str
    hint: str = ""

    def as_dict(self) -> dict[str, str]:
        return {"path": self.path, "reason": self.reason, "hint": self.hint}


def violation_of(error: ValidationError, schema: dict[str, Any]) -> list[Violation]:
    """One violation per offending name or value of a validator's error."""
    path = json_path(error.instance_path)
    match error.kind:
        case ValidationErrorKind.AdditionalProperties(unexpected) | ValidationErrorKind.UnevaluatedProperties(
            unexpected
        ):
            known = _property_names(schema, error.schema_path)
            return [
                Violation(_below(path, name), "it is not a known field", did_you_mean(name, known))
                for name in unexpected
            ]
        case ValidationErrorKind.Required(name):
            return [Violation(_below(path, str(name)), "it is required")]
        case ValidationErrorKind.Enum(options):
            texts = [option for option in options if isinstance(option, str)] if isinstance(options, list) else []
            hint = did_you_mean(error.instance, texts) if isinstance(error.instance, str) else ""
            return [Violation(path, _shortened(error.message), hint)]
        case _:
            return [Violation(path, _shortened(error.message))]


def json_path(parts: Sequence[str | int]) -> str:
    path = "$"
    for part in parts:
        path = f"{path}[{part}]" if isinstance(part, int) else _below(path, part)
    return path


def _below(path: str, name: str) -> str:
    name = name if len(name) <= 60 else f"{name[:57]}…"
    return f"{path}.{name}" if name.replace("-", "_").isidentifier() else f"{path}['{name}']"


def _property_names(schema: dict[str, Any], schema_path: Sequence[str | int]) -> list[str]:
    part: Any = schema
    for step in schema_path[:-1]:
        if isinstance(part, dict) and "$ref" in part and step == "$ref":
            part = schema.get("$defs", {}).get(str(part["$ref"]).removeprefix("#/$defs/"), {})
            continue
        try:
            part = part[step]
        except (KeyError, IndexError, TypeError):
            return []
    return list(part.get("properties", {})) if isinstance(part, dict) else []


def _shortened(message: str) -> str:
    return message if len(message) <= MAX_REASON else f"{message[: MAX_REASON - 1]}…"
