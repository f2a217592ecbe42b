"""A compiled JSON Schema: fast to pass, precise when it refuses, and it fills in defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import jsonschema_rs

from perdure.errors import SchemaViolationError
from perdure.payload import data_hash
from perdure.verbs.schema_defaults import Defaults, defaults_of
from perdure.verbs.schema_shorthand import referenced
from perdure.verbs.schema_violations import Violation, violation_of

MAX_VIOLATIONS = 50
MAX_DEPTH = 200
"""Only recursive schemas need it: the validator follows them as deep as the data goes, on the machine's stack."""


class SchemaFault(Exception):
    """A schema that does not compile; `path` leads to the part of it that is wrong."""

    def __init__(self, reason: str, path: list[str | int]) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path


class CompiledSchema:
    """Checks data against one schema; `do`, `thing` and `id` are the words of its error sentence."""

    __slots__ = (
        "_defaults", "_digest", "_do", "_id", "_is_plain", "_is_recursive", "_is_valid", "_thing", "_validator",
        "properties", "schema",
    )  # fmt: skip

    def __init__(self, schema: dict[str, Any], do: str = "accept", thing: str = "data", id: str = "") -> None:
        self.schema = schema
        self.properties: dict[str, Any] = schema.get("properties", {})
        self._validator = _compile(schema)
        self._is_valid: Callable[[Any], bool] = self._validator.is_valid
        self._defaults: Defaults | None = defaults_of(schema)
        self._is_recursive = _has_recursion(schema)
        self._is_plain = self._defaults is None and not self._is_recursive
        self._do, self._thing, self._id = do, thing, id
        self._digest = ""

    @property
    def has_defaults(self) -> bool:
        """Whether `check` may add what was not given."""
        return self._defaults is not None

    @property
    def digest(self) -> str:
        """`sha256:` of the schema's canonical form."""
        if not self._digest:
            self._digest = data_hash(self.schema)
        return self._digest

    def fits(self, data: Any) -> bool:
        """Whether `check` gives it back as it is, where that is told at once: what does not may still pass there."""
        try:
            return self._is_plain and self._is_valid(data)
        except ValueError:
            return False

    def check(self, data: Any) -> Any:
        """The data with defaults filled in (the given value is never changed), or SchemaViolationError."""
        filled = data if self._is_plain else self._filled(data)
        try:
            if self._is_valid(filled):
                return filled
        except ValueError:
            pass
        return self._refuse(self.violations(filled))

    def violations(self, data: Any) -> list[Violation]:
        """Everything wrong with the data, up to a bound; empty when it fits."""
        found: list[Violation] = []
        if self._is_too_deep(data):
            return [Violation("$", f"it is nested more than {MAX_DEPTH} levels deep")]
        try:
            for error in self._validator.iter_errors(data):
                found.extend(violation_of(error, self.schema))
                if len(found) >= MAX_VIOLATIONS:
                    break
        except ValueError as error:
            return [Violation("$", f"it is not JSON: {error}")]
        return found

    def _filled(self, data: Any) -> Any:
        """With defaults; what is too deep is refused, since filling it in and validating it would recurse as deep."""
        filled = data if self._defaults is None or self._is_too_deep(data) else self._defaults.fill(data)
        if self._is_too_deep(filled):
            self._refuse(self.violations(filled))
        return filled

    def _is_too_deep(self, data: Any) -> bool:
        return self._is_recursive and is_deeper_than(data, MAX_DEPTH)

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


def is_deeper_than(data: Any, limit: int) -> bool:
    level = [data]
    for _ in range(limit):
        level = [child for value in level for child in _children(value)]
        if not level:
            return False
    return True


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _has_recursion(schema: dict[str, Any]) -> bool:
    """Whether some reference leads back to a part that contains it; `#` is the whole schema."""
    definitions = schema.get("$defs", {})
    reached = {name: referenced(part) for name, part in definitions.items()}
    if any(name not in reached for name in referenced(schema)):
        return True
    for name, direct in reached.items():
        waiting, seen = list(direct), set[str]()
        while waiting:
            next_name = waiting.pop()
            if next_name == name:
                return True
            if next_name not in seen:
                seen.add(next_name)
                waiting.extend(reached.get(next_name, ()))
    return False


def _refuse_reference(uri: str) -> Any:
    raise ValueError(f"the reference {uri} is refused: files and addresses are never fetched")
