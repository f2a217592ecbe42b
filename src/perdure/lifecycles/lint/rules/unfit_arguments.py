"""The arguments of a resolution, an action or a guard do not fit the verb.

An argument is missing that the verb needs, or one is given that the verb does not have. Values that come
from the context are known only when the call is made, and are checked then.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.lifecycles.lint.rule import Note, Severity, Subject
from perdure.lifecycles.lint.verb_uses import VerbUse, verb_uses
from perdure.verbs import Verb
from perdure.verbs.near_names import did_you_mean

CODE = "LIF131"
NAME = "unfit-arguments"
SEVERITY: Severity = "error"
OFFERED = "correlation_id"
"""Given to every resolution whose verb declares it."""


def check(subject: Subject) -> Iterator[Note]:
    for use in verb_uses(subject):
        verb = subject.catalogue.find(use.verb)
        if verb is not None:
            yield from _unfit(use, verb)


def _unfit(use: VerbUse, verb: Verb) -> Iterator[Note]:
    schema = verb.definition.input_schema
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in use.args and not (use.is_resolution and name == OFFERED):
            reason = f"{use.what} calls '{verb.name}' without '{name}'"
            yield Note(use.part, reason, f"Add :{name.replace('_', '-')}.")
    if schema.get("additionalProperties") is not False:
        return
    for name in use.args:
        if name not in known:
            hint = did_you_mean(name, known) or f"Its arguments: {', '.join(known) or 'none'}."
            yield Note(use.part, f"{use.what} gives '{verb.name}' an argument '{name}' that it does not have", hint)
