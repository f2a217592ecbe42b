"""From a state no terminal state can be reached.

An instance that comes there never ends: its evidence is kept for ever and its subject can begin no other. Every state
needs a way to a terminal one, if only a manual one.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.lifecycles.lint.rule import Note, Severity, Subject

CODE = "LIF102"
NAME = "no-way-out"
SEVERITY: Severity = "error"


def check(subject: Subject) -> Iterator[Note]:
    terminal = {each.name for each in subject.definition.states if each.is_terminal}
    for state in subject.definition.states:
        if not terminal & subject.reached(state.name):
            reason = f"no terminal state can be reached from '{state.name}'"
            yield Note(("state", state.name), reason, "Lead a transition to a state with `terminal: true`.")
