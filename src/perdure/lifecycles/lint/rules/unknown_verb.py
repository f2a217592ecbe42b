"""A resolution, an action or a guard names a verb that is not declared.

A blocker would offer a call that nobody can make, and an automatic one would fail as often as it may be tried.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.lifecycles.lint.rule import Note, Severity, Subject
from perdure.lifecycles.lint.verb_uses import verb_uses
from perdure.verbs.near_names import did_you_mean

CODE = "LIF130"
NAME = "unknown-verb"
SEVERITY: Severity = "error"


def check(subject: Subject) -> Iterator[Note]:
    for use in verb_uses(subject):
        if subject.catalogue.find(use.verb) is None:
            hint = did_you_mean(use.verb, subject.catalogue.names()) or "Declare the verb."
            yield Note(use.part, f"{use.what} names the verb '{use.verb}', which is not declared", hint)
