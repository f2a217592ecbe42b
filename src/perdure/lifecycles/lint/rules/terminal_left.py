"""A terminal state has transitions, requirements or a timeout.

An instance ends when it enters a terminal state, and nothing of it is decided after that: what stands there has no
effect.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.lifecycles.lint.rule import Note, Severity, Subject

CODE = "LIF103"
NAME = "terminal-left"
SEVERITY: Severity = "error"


def check(subject: Subject) -> Iterator[Note]:
    definition = subject.definition
    for state in definition.states:
        if not state.is_terminal:
            continue
        for at, transition in definition.leaving(state.name):
            reason = f"'{state.name}' is terminal and a transition leads out of it to '{transition.target}'"
            yield Note(("transition", str(at)), reason, "Remove the transition, or `terminal`.")
        if state.requirements or state.timeout_seconds is not None:
            reason = f"'{state.name}' is terminal and has requirements or a timeout"
            yield Note(("state", state.name), reason, "Move them to a state that is left.")
