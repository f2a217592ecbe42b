"""A guard asks for documents of a type that is not declared.

A document of such a type cannot be made, and the guard would stay closed. A project that declares no document types at
all is left alone: whoever checks the lifecycle without them knows none.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.lifecycles.lint.rule import Note, Severity, Subject
from perdure.verbs.near_names import did_you_mean

CODE = "LIF142"
NAME = "unknown-document-type"
SEVERITY: Severity = "error"


def check(subject: Subject) -> Iterator[Note]:
    types = subject.catalogue.documents
    if not types:
        return
    for part, guard in subject.guards():
        if not guard.kind.startswith("document_"):
            continue
        for name in (guard.params.get("document_type", ""), *guard.params.get("document_types", ())):
            if name and not name.startswith("$") and name not in types:
                hint = did_you_mean(name, types) or f"Document types: {', '.join(types)}."
                yield Note(part, f"the guard asks for a document '{name}', which is not declared", hint)
