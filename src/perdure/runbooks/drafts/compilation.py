"""Between drafts and plans: a draft is compiled as any program is, and a typed program becomes entries."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.runbooks.drafts.draft import Draft, Entry, arguments
from perdure.runbooks.language.compiler import compile_calls, compile_program
from perdure.runbooks.language.formatter import write_program
from perdure.runbooks.language.program import CallSource, Program, Ref
from perdure.runbooks.plan import Plan, Provenance, StepPlan
from perdure.verbs.catalogue import Catalogue
from perdure.verbs.sexpr.forms import Argument, CallForm, ListForm, Literal, MapForm, Symbol, Value


def call_sources(draft: Draft) -> list[CallSource]:
    """What would run, as the compiler takes it."""
    active = draft.active()
    names = {entry.name for entry in active}
    return [
        CallSource(
            name=entry.name,
            verb=entry.verb,
            args=arguments(entry, lambda reference: Ref(reference.step, reference.path)),
            after=tuple(name for name in entry.after if name in names),
            branches=entry.branches,
            condition=entry.condition,
            on_failure=entry.on_failure,
            alternative=entry.alternative,
            gate=entry.gate,
            reevaluate=entry.reevaluate,
            section=entry.section,
            provenance=entry.provenance,
        )
        for entry in active
    ]


def compile_draft(draft: Draft, catalogue: Catalogue) -> Plan:
    """The plan of a draft, pinned to its pack; ProgramError tells every fault.

    A step's sentence is the one that was confirmed, with names where the arguments hold keys.
    """
    plan = compile_calls(call_sources(draft), catalogue, variables=draft.variables)
    said = {entry.name: entry.sentence for entry in draft.active() if entry.sentence}
    steps = tuple(msgspec.structs.replace(step, sentence=said.get(step.name, step.sentence)) for step in plan.steps)
    return msgspec.structs.replace(plan, steps=steps, pack=draft.pack)


def read_entries(text: str, draft: Draft, catalogue: Catalogue) -> tuple[Entry, ...]:
    """The steps a typed program adds to a draft; it may refer to those already there."""
    before = compile_calls(call_sources(draft), catalogue, variables=draft.variables) if draft.active() else None
    plan = compile_program(text, catalogue, variables=draft.variables, after=before)
    new = plan.steps[len(before.steps) :] if before is not None else plan.steps
    return tuple(_entry(step) for step in new)


def entries_of(plan: Plan) -> tuple[Entry, ...]:
    """The steps of a plan as entries of a draft."""
    return tuple(_entry(step) for step in plan.steps)


def write_draft(draft: Draft) -> str:
    """The calls of a draft as a program; choices are told as remarks, because no S-expression stands for them."""
    statements = []
    remarks: list[str] = []
    for entry in draft.active():
        if entry.condition is not None:
            remarks.append(f"choice {entry.name}: {entry.sentence}")
            continue
        args = arguments(entry, lambda reference: Ref(reference.step, reference.path))
        statements.append(
            CallForm(
                entry.verb,
                tuple(Argument(name.replace("_", "-"), _form(value)) for name, value in args.items()),
                Symbol(entry.name),
                tuple(Symbol(name) for name in entry.after),
                on_failure="" if entry.on_failure == "fail" else entry.on_failure,
                alternative=entry.alternative,
                gate=entry.gate,
                reevaluate="" if entry.reevaluate == "decisions" else entry.reevaluate,
                comments=tuple(remarks),
            )
        )
        remarks = []
    return write_program(Program(tuple(statements), tuple(remarks)), "lisp")


def _form(value: Any) -> Value:
    match value:
        case Ref():
            return Symbol(value.step, tuple(str(part) for part in value.path))
        case list():
            return ListForm(tuple(_form(each) for each in value))
        case dict():
            return MapForm(tuple(Argument(name, _form(each)) for name, each in value.items()))
        case _:
            return Literal(value)


def _entry(step: StepPlan) -> Entry:
    provenance: dict[str, Provenance] = dict.fromkeys(step.args, "user_provided")
    args: dict[str, Any] = dict(step.args)
    return Entry(
        name=step.name,
        verb=step.verb,
        args=args,
        references=step.references,
        after=step.after,
        condition=step.condition,
        branches=step.branches,
        section=step.section,
        provenance=provenance,
        on_failure=step.on_failure,
        alternative=step.alternative,
        gate=step.gate,
        reevaluate=step.reevaluate,
        sentence=step.sentence,
    )
