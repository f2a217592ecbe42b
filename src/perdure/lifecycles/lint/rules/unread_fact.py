"""A guard asks for a kind of fact that this platform does not read.

Nothing could be decided in its state. A kind of guard of your own reads facts of kinds that there are, or asks a verb.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.journal.facts import fact_kind
from perdure.lifecycles.lint.rule import Note, Severity, Subject
from perdure.lifecycles.machine.definition import Guard
from perdure.lifecycles.machine.names import names_in

CODE = "LIF150"
NAME = "unread-fact"
SEVERITY: Severity = "error"


def check(subject: Subject) -> Iterator[Note]:
    for part, guard in subject.guards():
        for kind in sorted(_kinds(subject, guard) - set(subject.fact_kinds)):
            reason = f"the guard '{guard.kind}' asks for facts of the kind '{kind}', which are not read here"
            yield Note(part, reason, f"Facts that are read: {', '.join(sorted(subject.fact_kinds)) or 'none'}.")


def _kinds(subject: Subject, guard: Guard) -> set[str]:
    """The kinds of facts of one guard, whatever its names stand for."""
    kind = subject.table.find(guard.kind)
    names = {name: name for name in names_in({**kind.with_defaults(guard.params)})} if kind is not None else {}
    return {fact_kind(key) for key in subject.table.facts(guard, names)} if kind is not None else set()
