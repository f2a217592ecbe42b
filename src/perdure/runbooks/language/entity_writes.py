"""Entity writes of a verb, as templates over its arguments."""

from __future__ import annotations

from typing import Any

from perdure.verbs import Catalogue, VerbDefinition
from perdure.verbs.definition import CRUD
from perdure.verbs.schema_shorthand import argument_name

_CHANGING = frozenset({"create", "update", "delete", "upsert"})


def writes_of(definition: VerbDefinition, catalogue: Catalogue) -> tuple[str, ...]:
    """What the verb declares; for a CRUD verb that declares nothing, the record it changes, as far as it is named."""
    declared = tuple(getattr(definition, "writes", ()))
    if declared or definition.execution.handler != CRUD:
        return declared
    params = definition.execution.params
    if params.get("operation") not in _CHANGING:
        return ()
    entity = catalogue.entities.get(str(params.get("entity")))
    if entity is None:
        return ()
    columns: dict[str, str] = params.get("columns") or {}
    by_field = {argument_name(field): name for name, field in columns.items()}
    arguments = [by_field.get(field, field) for field in _keys(params) or entity.key]
    known = definition.input_schema.get("properties", {})
    if not all(name in known for name in arguments):
        return ()  # a key made by the record itself is nobody else's to hold
    return ("/".join([entity.name, *(f"{{{name}}}" for name in arguments)]),)


def _keys(params: dict[str, Any]) -> tuple[str, ...]:
    held = params.get("key") or params.get("conflict_keys") or ()
    return tuple(argument_name(str(name)) for name in ([held] if isinstance(held, str) else held))
