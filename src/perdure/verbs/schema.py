"""A JSON Schema compiled once: fast to pass, precise when it refuses, and it fills in defaults."""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from perdure.errors import SchemaViolationError
from perdure.verbs.defaults import Defaults, defaults_of
from perdure.verbs.violations import Violation, violation_of

MAX_VIOLATIONS = 50


class SchemaFault(Exception):
    """A schema that does not compile; `path` leads to the part of it that is wrong."""

    def __init__(self, reason: str, path: list[str | int]) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path


class CompiledSchema:
    """Checks data against one schema; `do`, `thing` and `id` are the words of its error sentence."""

    __slots__ = ("_defaults", "_do", "_id", "_thing", "_validator", "properties", "schema")

    def __init__(self, schema: dict[str, Any], do: str = "accept", thing: str = "data", id: str = "") -> None:
        self.schema = schema
        self.properties: dict[str, Any] = schema.get("properties", {})
        self._validator = _compile(schema)
        self._defaults: Defaults | None = defaults_of(schema)
        self._do, self._thing, self._id = do, thing, id

    def check(self, data: Any) -> Any:
        """The data with defaults filled in (the given value is never changed), or SchemaViolationError."""
        filled = data if self._defaults is None else self._defaults.fill(data)
        try:
            if self._validator.is_valid(filled):
                return filled
        except ValueError as error:
            self._refuse([Violation("$", f"it is not JSON: {error}")])
        return self._refuse(self.violations(filled))

    def violations(self, data: Any) -> list[Violation]:
        """Everything wrong with the data, up to a bound; empty when it fits."""
        found: list[Violation] = []
        for error in self._validator.iter_errors(data):
            found.extend(violation_of(error, self.schema))
            if len(found) >= MAX_VIOLATIONS:
                break
        return found

    def _refuse(self, violations: list[Violation]) -> None:
        fact = "; ".join(f"{violation.path}: {violation.reason}" for violation in violations[:10])
        if len(violations) > 10:
            fact += f"; and {len(violations) - 10} more"
        hint = " ".join(dict.fromkeys(violation.hint for violation in violations if violation.hint))
        listed = [violation.as_dict() for violation in violations]
        raise SchemaViolationError(self._do, self._thing, self._id, fact, hint, violations=listed)


def _compile(schema: dict[str, Any]) -> Any:
    try:
        return jsonschema_rs.Draft202012Validator(
            schema, validate_formats=True, ignore_unknown_formats=False, retriever=_refuse_reference
        )
    except jsonschema_rs.ValidationError as error:
        raise SchemaFault(error.message, list(error.instance_path)) from None
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise SchemaFault(str(error), []) from None


def _refuse_reference(uri: str) -> Any:
    raise ValueError(f"the reference {uri} is refused: files and addresses are never fetched")
