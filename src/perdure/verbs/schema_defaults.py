"""Fills in a schema's defaults on copies, following properties, list items and references."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

_ABSENT: Any = object()


class Defaults:
    """What to fill in at one place of the data and below it."""

    __slots__ = ("_items", "_properties")

    def __init__(self) -> None:
        self._properties: dict[str, tuple[Any, Defaults | None]] = {}
        self._items: Defaults | None = None

    def learn(self, schema: Any, definitions: dict[str, Any], known: dict[str, Defaults]) -> Defaults:
        """Reads a schema into this plan; `known` lets recursive definitions meet themselves."""
        if isinstance(schema, dict):
            for name, part in (schema.get("properties") or {}).items():
                default = part.get("default", _ABSENT) if isinstance(part, dict) else _ABSENT
                self._properties[name] = (default, _plan(part, definitions, known))
            self._items = _plan(schema.get("items"), definitions, known)
        return self

    def has_any(self, visited: set[int]) -> bool:
        if id(self) in visited:
            return False
        visited.add(id(self))
        below = [plan for _, plan in self._properties.values()] + [self._items]
        has_own = any(default is not _ABSENT for default, _ in self._properties.values())
        return has_own or any(plan is not None and plan.has_any(visited) for plan in below)

    def fill(self, data: Any) -> Any:
        """The data itself when nothing is missing, otherwise a copy with the defaults in it."""
        if isinstance(data, dict):
            return self._fill_object(data)
        if isinstance(data, list) and self._items is not None:
            items = [self._items.fill(item) for item in data]
            return items if any(new is not old for new, old in zip(items, data, strict=True)) else data
        return data

    def _fill_object(self, data: dict[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        for name, (default, plan) in self._properties.items():
            value = data.get(name, _ABSENT)
            if value is _ABSENT:
                if default is not _ABSENT:
                    changed[name] = deepcopy(default) if isinstance(default, dict | list) else default
            elif plan is not None and (filled := plan.fill(value)) is not value:
                changed[name] = filled
        return {**data, **changed} if changed else data


def defaults_of(schema: dict[str, Any]) -> Defaults | None:
    """The plan for a schema, or None when it has no defaults at all."""
    plan = _plan(schema, schema.get("$defs", {}), {})
    return plan if plan is not None and plan.has_any(set()) else None


def _plan(schema: Any, definitions: dict[str, Any], known: dict[str, Defaults]) -> Defaults | None:
    if not isinstance(schema, dict):
        return None
    reference = schema.get("$ref")
    if isinstance(reference, str):
        name = reference.removeprefix("#/$defs/")
        if name not in known:
            known[name] = Defaults()
            known[name].learn(definitions.get(name), definitions, known)
        return known[name]
    if "properties" not in schema and "items" not in schema:
        return None
    return Defaults().learn(schema, definitions, known)
