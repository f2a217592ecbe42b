"""Automatic transitions without a guard lead in a circle.

An instance would go round without ever coming to rest. The platform stops it after a hundred moves and shows it as
stuck.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.lifecycles.lint.rule import Note, Severity, Subject

CODE = "LIF111"
NAME = "restless-cycle"
SEVERITY: Severity = "error"


def check(subject: Subject) -> Iterator[Note]:
    taken = {
        each.source: (at, each.target)
        for at, each in reversed(list(enumerate(subject.definition.transitions)))
        if subject.is_open(at)
    }
    told: set[str] = set()
    for start in taken:
        path: list[str] = []
        state = start
        while state in taken and state not in path:
            path.append(state)
            state = taken[state][1]
        if state in path and state not in told:
            circle = path[path.index(state) :]
            told.update(circle)
            reason = f"{' → '.join((*circle, state))} goes round for ever"
            yield Note(("transition", str(taken[circle[-1]][0])), reason, "Give one of the transitions a guard.")
