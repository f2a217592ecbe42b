"""Two automatic transitions without a guard lead out of one state.

Automatic transitions are tried in the order they are written, so the first one is taken and the second never is. The
same holds for any automatic transition that stands behind one without a guard.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.lifecycles.lint.rule import Note, Severity, Subject

CODE = "LIF110"
NAME = "rival-transitions"
SEVERITY: Severity = "error"


def check(subject: Subject) -> Iterator[Note]:
    definition = subject.definition
    for state in definition.states:
        first = ""
        for at, transition in definition.leaving(state.name, "auto"):
            if first:
                reason = f"the transition to '{first}' has no guard and is always taken before this one"
                yield Note(("transition", str(at)), reason, "Give the earlier one a guard, or make one of them manual.")
            elif transition.guard is None:
                first = transition.target
