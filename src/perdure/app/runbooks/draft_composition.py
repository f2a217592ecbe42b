"""Composition of a draft: text or calls, finished or not, become its entries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from perdure.app.runbooks.plan_composition import Composition
from perdure.errors import RejectedError, Rejection
from perdure.runbooks.drafts.compilation import read_entries
from perdure.runbooks.drafts.draft import Draft, Entry, add, with_sentence
from perdure.runbooks.language.compiler import NO_DECISION
from perdure.runbooks.language.json_calls import calls_from_json
from perdure.runbooks.language.program import CallSource, Ref, Var
from perdure.runbooks.plan import Path, Reference
from perdure.verbs import Catalogue

if TYPE_CHECKING:
    from perdure.app.perdure import Perdure


async def composed_draft(perdure: Perdure, what: Composition) -> Draft:
    """A draft of it, made beside the event loop unless it is small."""
    work = partial(draft_of, perdure.catalogue, what)
    return await perdure.runtime.computations.run(perdure._origin.tenant, work, is_small=what.is_small)


def draft_of(catalogue: Catalogue, what: Composition) -> Draft:
    """A draft of it. Calls may be unfinished: what is wrong with them is told when it is read."""
    what.check()
    empty = Draft(variables=what.variables)
    if what.calls is None:
        entries = [*read_entries(what.program, empty, catalogue)]
    else:
        entries = [_entry(call, what.variables, catalogue) for call in calls_from_json(what.calls)]
    if what.reevaluate == "always":
        entries = _reevaluated(entries, catalogue)
    return add(empty, entries).draft if entries else empty


def _reevaluated(entries: list[Entry], catalogue: Catalogue) -> list[Entry]:
    """The entries with the last decision asked at every resume, unless one of them is."""
    if any(entry.reevaluate == "always" for entry in entries):
        return entries
    decisions = [at for at, entry in enumerate(entries) if _is_decision(entry, catalogue)]
    if not decisions:
        fact = "every resume is to be a decision and no step of it is one"
        raise RejectedError(Rejection("invalid", "draft", "runbook", "", fact, NO_DECISION))
    last = decisions[-1]
    return [*entries[:last], msgspec.structs.replace(entries[last], reevaluate="always"), *entries[last + 1 :]]


def _is_decision(entry: Entry, catalogue: Catalogue) -> bool:
    verb = catalogue.find(entry.verb) if entry.verb else None
    return verb is not None and verb.execution.decision


def _entry(call: CallSource, variables: dict[str, Any], catalogue: Catalogue) -> Entry:
    references: list[Reference] = []
    args = {name: _plain(value, (name,), variables, references) for name, value in call.args.items()}
    entry = Entry(
        name=call.name or call.verb.rpartition(".")[2].replace("-", "_"), verb=call.verb, args=args,
        references=tuple(references), after=call.after, section=call.section, on_failure=call.on_failure,
        alternative=call.alternative, gate=call.gate, reevaluate=call.reevaluate,
        provenance=dict.fromkeys(args, "user_provided"),
    )  # fmt: skip
    return with_sentence(entry, catalogue)


def _plain(value: Any, at: Path, variables: dict[str, Any], references: list[Reference]) -> Any:
    """A value as a draft keeps it: null where a reference goes."""
    match value:
        case Ref():
            references.append(Reference(at, value.step, value.path))
            return None
        case Var():
            return _variable(value, variables)
        case list():
            return [_plain(each, (*at, index), variables, references) for index, each in enumerate(value)]
        case dict():
            return {name: _plain(each, (*at, name), variables, references) for name, each in value.items()}
        case _:
            return value


def _variable(wanted: Var, variables: dict[str, Any]) -> Any:
    found: Any = variables
    try:
        for part in (wanted.name, *wanted.path):
            found = found[part]
    except (LookupError, TypeError):
        return None
    return found
