"""Kept facts: of all that was read for a decision, what its guards ask about, as the payload that its entry names.

| fact | what is kept of it |
|---|---|
| a record | its version, and the fields that guards name; never the whole |
| the answer of a verb | whether it holds, what is missing, why it failed |
| any other | all of it: ids, states, dates and codes |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perdure.journal.facts import fact_kind
from perdure.lifecycles.guards.guard_table import GuardTable
from perdure.lifecycles.machine.definition import Lifecycle
from perdure.lifecycles.machine.judgements import guards_of
from perdure.lifecycles.machine.names import Names, value_at
from perdure.payload import canonical, parse

_ANSWER = ("holds", "missing", "failure")


def kept_facts(table: GuardTable, definition: Lifecycle, state: str, names: Names, facts: Mapping[str, Any]) -> bytes:
    """The payload of what is kept of facts; empty when there are none."""
    if not facts:
        return b""
    fields: dict[str, dict[str, None]] = {}
    for guard in guards_of(definition, state):
        for key, field in table.fields(guard, names):
            fields.setdefault(key, {})[field] = None
    return canonical({key: _kept(key, value, fields.get(key, {})) for key, value in facts.items()})


def read_kept(data: bytes | None) -> dict[str, Any]:
    """Kept facts by their keys; none where they were erased."""
    return parse(data) if data else {}


def _kept(key: str, value: Any, fields: Mapping[str, None]) -> Any:
    if not isinstance(value, Mapping):
        return value if fact_kind(key) not in ("record", "verb") else None
    match fact_kind(key):
        case "record":
            return {
                "version": value["version"], "fields": {each: value_at(value["fields"], each) for each in fields}
            }  # fmt: skip
        case "verb":
            return {name: value[name] for name in _ANSWER if name in value}
        case _:
            return value
