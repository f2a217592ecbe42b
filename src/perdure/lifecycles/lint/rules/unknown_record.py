"""A guard looks at a record of an entity, or at a field, that is not declared.

There would never be such a record, and the guard would stay closed.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.lifecycles.lint.rule import Note, Severity, Subject
from perdure.verbs.near_names import did_you_mean

CODE = "LIF140"
NAME = "unknown-record"
SEVERITY: Severity = "error"


def check(subject: Subject) -> Iterator[Note]:
    entities = subject.catalogue.entities
    for part, guard in subject.guards():
        name = guard.params.get("record")
        if not name:
            continue
        entity = entities.get(name)
        if entity is None:
            hint = did_you_mean(name, entities) or f"Entities: {', '.join(entities) or 'none'}."
            yield Note(part, f"the guard looks at the entity '{name}', which is not declared", hint)
            continue
        field = str(guard.params.get("field", "")).partition(".")[0]
        names = list(entity.fields)
        if field and field not in names:
            hint = did_you_mean(field, names) or f"Fields: {', '.join(names)}."
            yield Note(part, f"the entity '{name}' has no field '{field}'", hint)
