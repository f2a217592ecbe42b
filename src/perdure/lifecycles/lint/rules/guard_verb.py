"""The verb of a guard is durable or has effects.

A guard is judged again whenever a fact of its state changes, and an answer is needed at once. A verb of a guard is sync
and declares `effects: none`.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.lifecycles.lint.rule import Note, Severity, Subject
from perdure.lifecycles.lint.verb_uses import verb_uses

CODE = "LIF132"
NAME = "guard-verb"
SEVERITY: Severity = "error"


def check(subject: Subject) -> Iterator[Note]:
    for use in verb_uses(subject):
        verb = subject.catalogue.find(use.verb) if use.is_guard else None
        if verb is None:
            continue
        if verb.is_durable:
            yield Note(use.part, f"the verb '{verb.name}' of a guard is durable", "Name a sync verb.")
        elif verb.definition.execution.effects != "none":
            reason = f"the verb '{verb.name}' of a guard has effects: {verb.definition.execution.effects}"
            yield Note(use.part, reason, "Declare `effects: none` under its `execution`.")
