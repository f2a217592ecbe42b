"""Checks a lifecycle by every rule: what it finds is a problem with code, file, line and fix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from perdure.errors import Problem
from perdure.lifecycles.guards import GuardTable
from perdure.lifecycles.lifecycle_reader import LifecycleFile
from perdure.lifecycles.lint.rule import Subject
from perdure.lifecycles.lint.rules import RULES
from perdure.lifecycles.machine.definition import Lifecycle, guards_in
from perdure.verbs import Catalogue
from perdure.work.facts import Facts

READ = ("document", "record", "lifecycle", "runbook", "verb")
"""Kinds of facts that a platform reads, where nobody says which."""


class LifecycleChecks:
    """Lint against the verbs, guards and facts of one platform."""

    def __init__(self, catalogue: Catalogue, table: GuardTable | None = None, facts: Facts | None = None) -> None:
        self._catalogue = catalogue
        self._table = table or GuardTable()
        self._facts = facts

    def findings(self, file: LifecycleFile, others: Mapping[str, Lifecycle] | None = None) -> list[Problem]:
        """What all rules find, in the order of the file."""
        kinds = self._facts.kinds() if self._facts is not None else READ
        subject = Subject(file.definition, self._catalogue, self._table, kinds, others or {})
        found = [
            Problem(
                rule.CODE, file.file, *file.place(*note.part), _field(note.part), note.reason, note.hint, rule.SEVERITY
            )
            for rule in RULES
            for note in rule.check(subject)
        ]
        return sorted(dict.fromkeys(found), key=lambda each: (each.line, each.column, each.code))


def _field(part: tuple[str, ...]) -> str:
    kind, *names = part
    return f"{kind}s[{names[0]}]" if kind in ("transition", "action") else ".".join((f"{kind}s", *names))


def entities_in(definitions: Iterable[Lifecycle]) -> set[str]:
    """The entities whose records guards look at."""
    found: set[str] = set()
    for definition in definitions:
        guards = [each.guard for state in definition.states for each in state.requirements]
        guards += [each.guard for each in definition.transitions if each.guard is not None]
        for guard in guards:
            found.update(str(each.params["record"]) for each in guards_in(guard) if each.params.get("record"))
    return found
