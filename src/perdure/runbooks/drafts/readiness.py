"""Whether a draft can run: every reason why not, entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from perdure.runbooks.drafts.draft import Draft, Entry
from perdure.verbs.catalogue import Catalogue
from perdure.verbs.compiled_schema import CompiledSchema
from perdure.verbs.compiled_verb import Verb
from perdure.verbs.definition import same_verb_name
from perdure.verbs.near_names import did_you_mean

IssueCode = Literal[
    "empty", "unknown_verb", "unresolved", "does_not_fit", "not_confirmed", "needs_disabled", "precondition",
    "not_allowed",
]  # fmt: skip


class Issue(msgspec.Struct, frozen=True):
    """One reason why a draft cannot run; `entry` is empty when it is about all of it."""

    entry: str
    code: IssueCode
    text: str
    hint: str = ""
    argument: str = ""


class Readiness(msgspec.Struct, frozen=True):
    is_ready: bool
    steps: int
    confirmed: int
    proposed: int
    disabled: int
    issues: tuple[Issue, ...]


def readiness(
    draft: Draft,
    catalogue: Catalogue,
    must_confirm: bool = True,
    completed: Iterable[str] = (),
    allows: Callable[[str], bool] = lambda verb: True,
) -> Readiness:
    """The report. `completed` names verbs that were done before this runbook; they count as prior ones.

    `allows` tells which verbs may be called at all: a pack may have changed since the draft was made.
    """
    issues = [*_issues(draft, catalogue, must_confirm, set(map(same_verb_name, completed)))]
    issues += [
        Issue(entry.name, "not_allowed", f"the pack does not allow '{entry.verb}'", "Drop or disable it.")
        for entry in draft.active()
        if entry.verb and not allows(entry.verb)
    ]
    count = {status: sum(1 for each in draft.entries if each.status == status) for status in _STATUSES}
    return Readiness(
        is_ready=not issues,
        steps=len(draft.entries),
        confirmed=count["confirmed"],
        proposed=count["proposed"],
        disabled=count["disabled"],
        issues=tuple(issues),
    )


_STATUSES = ("confirmed", "proposed", "disabled")


def unresolved(entry: Entry, verb: Verb) -> list[str]:
    """Required arguments that nothing fills: the questions still open about an entry."""
    referred = {each.at[0] for each in entry.references}
    return [
        name
        for name in verb.input.schema.get("required", ())
        if entry.args.get(name) is None
        and name not in referred
        and "default" not in (verb.input.properties.get(name) or {})
    ]


def misfits(entry: Entry, verb: Verb) -> Iterator[tuple[str, str, str]]:
    """Arguments that do not fit their schema: name, reason, hint. Those that a reference fills are not looked at."""
    referred = {each.at[0] for each in entry.references}
    definitions = verb.input.schema.get("$defs", {})
    for name, value in entry.args.items():
        schema = verb.input.properties.get(name)
        if schema is None:
            if verb.input.schema.get("additionalProperties") is False:
                yield name, f"'{verb.name}' takes no '{name}'", did_you_mean(name, verb.input.properties)
        elif name not in referred and value is not None:
            for violation in argument_schema(schema, definitions).violations(value)[:1]:
                yield name, violation.reason, violation.hint


def argument_schema(schema: Any, definitions: Mapping[str, Any]) -> CompiledSchema:
    """The schema of one argument, to be checked alone."""
    whole = dict(schema) if isinstance(schema, dict) else {}
    return CompiledSchema({**whole, "$defs": dict(definitions)})


def _issues(draft: Draft, catalogue: Catalogue, must_confirm: bool, done: set[str]) -> Iterator[Issue]:
    active = draft.active()
    if not active:
        yield Issue("", "empty", "there is nothing to run", "Add a step.")
    names = {entry.name for entry in active}
    staged = set(done)
    for entry in active:
        verb = catalogue.find(entry.verb)
        if entry.condition is not None:
            if must_confirm and entry.status == "proposed":
                yield Issue(entry.name, "not_confirmed", "it is not confirmed yet", "Say 'confirm'.")
            continue
        if verb is None:
            hint = did_you_mean(entry.verb, catalogue.names())
            yield Issue(entry.name, "unknown_verb", f"the verb '{entry.verb}' is not declared", hint)
            continue
        yield from _of_entry(entry, verb, must_confirm)
        for need in entry.needs():
            if need not in names:
                text = f"it needs '{need}', which is disabled or gone"
                yield Issue(entry.name, "needs_disabled", text, f"Enable '{need}' or change this step.")
        yield from _preconditions(entry, verb, staged, draft.context)
        staged.add(same_verb_name(verb.name))


def _of_entry(entry: Entry, verb: Verb, must_confirm: bool) -> Iterator[Issue]:
    for name in unresolved(entry, verb):
        yield Issue(entry.name, "unresolved", f"'{name}' is still open", verb.clarify(name), name)
    for name, reason, hint in misfits(entry, verb):
        yield Issue(entry.name, "does_not_fit", f"'{name}': {reason}", hint, name)
    if must_confirm and entry.status == "proposed":
        yield Issue(entry.name, "not_confirmed", "it is not confirmed yet", "Say 'confirm'.")


def _preconditions(entry: Entry, verb: Verb, staged: set[str], context: Mapping[str, Any]) -> Iterator[Issue]:
    declared = verb.definition.metadata.get("preconditions")
    if not isinstance(declared, dict):
        return
    for name in _names(declared, "requires_prior"):
        if same_verb_name(name) not in staged:
            text, hint = f"'{verb.name}' comes after '{name}'", f"Add '{name}' before it."
            yield Issue(entry.name, "precondition", text, hint)
    for name in _names(declared, "forbids_prior"):
        if same_verb_name(name) in staged:
            yield Issue(entry.name, "precondition", f"'{verb.name}' cannot come after '{name}'")
    for name in _names(declared, "requires_context"):
        if context.get(name) in (None, ""):
            yield Issue(entry.name, "precondition", f"'{verb.name}' needs to know the {name.replace('_', ' ')}")


def _names(declared: Mapping[str, Any], key: str) -> list[str]:
    found = declared.get(key, [])
    return [str(each) for each in found] if isinstance(found, list) else [str(found)]
