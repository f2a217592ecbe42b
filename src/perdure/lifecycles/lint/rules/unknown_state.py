"""A guard asks for a state that the other lifecycle does not have.

The guard would stay closed. A lifecycle that is not part of the project may exist all the same, and is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.lifecycles.lint.rule import Note, Severity, Subject
from perdure.verbs.near_names import did_you_mean

CODE = "LIF141"
NAME = "unknown-state"
SEVERITY: Severity = "error"


def check(subject: Subject) -> Iterator[Note]:
    known = {**subject.others, subject.definition.name: subject.definition}
    for part, guard in subject.guards():
        other = known.get(str(guard.params.get("lifecycle", "")))
        if other is None:
            continue
        names = [each.name for each in other.states]
        for state in guard.params.get("in", ()):
            if state not in names:
                hint = did_you_mean(state, names) or f"Its states: {', '.join(names)}."
                yield Note(part, f"the lifecycle '{other.name}' has no state '{state}'", hint)
