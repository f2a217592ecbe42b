"""Composition: text or calls become a plan, an extension of one, or a draft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from perdure.app.perdure import Perdure
from perdure.app.runbooks.confirmation import has_to_be_confirmed
from perdure.app.runbooks.views import PlanView, RunbookView
from perdure.errors import RejectedError, Rejection
from perdure.runbooks.drafts.compilation import read_entries
from perdure.runbooks.drafts.draft import Draft, Entry, add, with_sentence
from perdure.runbooks.language import CallSource, Ref, Var, calls_from_json, compile_calls, compile_program
from perdure.runbooks.plan import Path, Plan, Reference
from perdure.sources import parse_id
from perdure.verbs import Catalogue

Form = Literal["auto", "lisp", "let"]


class Composition(msgspec.Struct, frozen=True):
    """A program, or calls: `[{"verb": "kyc.open-case", "args": {"client": {"$": "client"}}, "name": "case"}]`."""

    program: str = ""
    calls: list[Any] | None = None
    variables: dict[str, Any] = {}
    form: Form = "auto"

    def check(self) -> None:
        if bool(self.program) == (self.calls is not None):
            fact = "exactly one of 'program' and 'calls' says what to do"
            raise RejectedError(Rejection("invalid", "compose", "runbook", "", fact))


def plan_of(catalogue: Catalogue, what: Composition, after: Plan | None = None) -> Plan:
    """The plan of it; ProgramError with everything that is wrong with it."""
    what.check()
    if what.calls is not None:
        calls = calls_from_json(what.calls)
        return compile_calls(calls, catalogue, variables=what.variables, after=after)
    return compile_program(what.program, catalogue, form=what.form, variables=what.variables, after=after)


class Extension(msgspec.Struct, frozen=True):
    """A runbook's plan with what is to be added behind it."""

    before: Plan
    whole: Plan

    @property
    def added(self) -> Plan:
        return msgspec.structs.replace(self.whole, steps=self.whole.steps[len(self.before.steps) :])


async def extension_of(perdure: Perdure, id: str, what: Composition) -> Extension:
    """What the plan of a runbook would be, with what is to be added."""
    aggregate = await perdure.runtime.kernel.read(parse_id(id), perdure._origin)
    if getattr(aggregate.state, "course", None) is None:
        fact = "it is no runbook that has been started"
        raise RejectedError(Rejection("wrong_state", "extend", "runbook", id, fact))
    before = await perdure.runtime.conductor.documents.plan(aggregate)
    return Extension(before, plan_of(perdure.catalogue, what, before))


def show_extension(perdure: Perdure, extension: Extension) -> PlanView:
    """What would be added, with the hash of the whole plan: that is what is agreed to.

    The phrase is that of the whole as well; nothing has to be typed when nothing grave is added.
    """
    whole, added = perdure.runbooks.plan(extension.whole), perdure.runbooks.plan(extension.added)
    return msgspec.structs.replace(
        added, plan_hash=whole.plan_hash, steps=whole.steps[len(extension.before.steps) :],
        phrase=whole.phrase if has_to_be_confirmed(added) else "",
    )  # fmt: skip


async def extend(
    perdure: Perdure, id: str, what: Composition, agreed: str, edges: Sequence[tuple[str, str]] = ()
) -> RunbookView:
    """Add the steps; refused when the plan they make is no longer the one that was looked at."""

    def grow(before: Plan) -> Plan:
        whole = plan_of(perdure.catalogue, what, before)
        if whole.content_hash != agreed:
            fact, hint = "its plan has changed meanwhile", "Look at it again and extend it anew."
            raise RejectedError(Rejection("blocked", "extend", "runbook", id, fact, hint))
        return whole

    await perdure.runtime.conductor.plans.extend(parse_id(id), perdure._origin, grow, edges)
    return await perdure.runbooks.show(id)


def draft_of(catalogue: Catalogue, what: Composition) -> Draft:
    """A draft of it. Calls may be unfinished: what is wrong with them is told when it is read."""
    what.check()
    empty = Draft(variables=what.variables)
    if what.calls is None:
        return add(empty, read_entries(what.program, empty, catalogue)).draft
    entries = [_entry(call, what.variables, catalogue) for call in calls_from_json(what.calls)]
    return add(empty, entries).draft if entries else empty


def _entry(call: CallSource, variables: dict[str, Any], catalogue: Catalogue) -> Entry:
    references: list[Reference] = []
    args = {name: _plain(value, (name,), variables, references) for name, value in call.args.items()}
    entry = Entry(
        name=call.name or call.verb.rpartition(".")[2].replace("-", "_"), verb=call.verb, args=args,
        references=tuple(references), after=call.after, section=call.section, on_failure=call.on_failure,
        alternative=call.alternative, gate=call.gate, provenance=dict.fromkeys(args, "user_provided"),
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
