"""No transition leads to a state from the initial one.

No instance will ever be in it. Often a transition names another state, or was drawn the wrong way round.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.lifecycles.lint.rule import Note, Severity, Subject

CODE = "LIF101"
NAME = "unreachable-state"
SEVERITY: Severity = "error"


def check(subject: Subject) -> Iterator[Note]:
    reached = subject.reached(subject.definition.initial.name)
    for state in subject.definition.states:
        if state.name not in reached:
            reason = f"no transition leads to '{state.name}' from the initial state"
            yield Note(("state", state.name), reason, "Add a transition to it, or remove the state.")
