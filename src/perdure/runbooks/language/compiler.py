"""Programs to plans: everything is checked first, and a program with faults is refused with all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from perdure.errors import RejectedError, Rejection
from perdure.runbooks.language.faults import MOST_STEPS, Fault, Style, raise_if_any
from perdure.runbooks.language.name_scopes import Scope, needs_by_number
from perdure.runbooks.language.program import CallSource, Ref
from perdure.runbooks.language.program_reader import AnyForm, Damage, damage_of, form_of, read_into
from perdure.runbooks.language.program_verbs import AskedVerb, AskedVerbs
from perdure.runbooks.language.step_checks import Checker, references_of
from perdure.runbooks.language.step_lowering import Lowering, Names, Step
from perdure.runbooks.language.step_order import cycles
from perdure.runbooks.language.step_sentences import condition_sentence, step_sentence
from perdure.runbooks.plan import Plan, Reference, StepPlan
from perdure.verbs import Catalogue
from perdure.verbs.sexpr.mistakes import Report, shown

_SHOWN_CYCLE = 12
NO_DECISION = "Call a verb that declares `execution: {decision: true}`, or leave reevaluate out."


def compile_program(
    text: str,
    catalogue: Catalogue,
    *,
    form: AnyForm = "auto",
    variables: Mapping[str, Any] | None = None,
    after: Plan | None = None,
    file: str = "<input>",
) -> Plan:
    """The plan of a program; with `after` the steps of that plan come first, unchanged, and may be referred to.

    Raises ProgramError with every fault of the program.
    """
    report = Report(file)
    style = Style(form_of(text, file) if form == "auto" else form)
    program = read_into(text, style.form, report)
    damage = damage_of(text, report)
    names = Names(after, report, style)
    steps = Lowering(names, variables or {}, report, style).program(program)
    compiled = _Compilation(catalogue, report, style, after, damage).plan(steps, names.scope)
    raise_if_any(report, text)
    return _extended(after, compiled, text)


def compile_calls(
    calls: Sequence[CallSource],
    catalogue: Catalogue,
    *,
    variables: Mapping[str, Any] | None = None,
    after: Plan | None = None,
    file: str = "<calls>",
) -> Plan:
    """The plan of calls given as values; the line of a fault is the number of its call.

    Raises ProgramError with every fault.
    """
    report, style = Report(file), Style("let")
    names = Names(after, report, style)
    steps = Lowering(names, variables or {}, report, style).calls(calls)
    compiled = _Compilation(catalogue, report, style, after, Damage()).plan(steps, names.scope)
    raise_if_any(report)
    return _extended(after, compiled, "")


class _Compilation:
    """Checks steps and makes them final."""

    def __init__(self, catalogue: Catalogue, report: Report, style: Style, after: Plan | None, damage: Damage) -> None:
        self._report = report
        self._verbs = AskedVerbs(catalogue, report)
        self._checker = Checker(self._verbs, report, style, damage)
        self._before = after.steps if after is not None else ()
        for step in self._before:
            self._checker.know(step)

    def plan(self, steps: list[Step], scope: Scope) -> list[StepPlan]:
        if len(self._before) + len(steps) > MOST_STEPS:
            place = steps[max(MOST_STEPS - len(self._before), 0)].place
            hint = "Split the program into several runbooks."
            self._report.add(Fault.TOO_MANY_STEPS, place, f"there are more than {MOST_STEPS} steps", hint)
            return []
        asked = [self._verbs.find(step.verb, step.place) if step.condition is None else None for step in steps]
        for step, verb in zip(steps, asked, strict=True):
            self._checker.declare(step, verb)
        self._checker.refer(scope)
        for step, verb in zip(steps, asked, strict=True):
            self._checker.step(step, verb)
        made = [self._final(step, verb) for step, verb in zip(steps, asked, strict=True)]
        self._cycles(steps, made)
        return made

    def _final(self, step: Step, asked: AskedVerb | None) -> StepPlan:
        made = _final(step, asked)
        if asked is not None and asked.verb.execution.reevaluate == "always" and not self._before:
            made = msgspec.structs.replace(made, reevaluate="always")
        if not made.alternative:
            return made
        meant = self._verbs.meant(made.alternative)
        return made if meant is None else msgspec.structs.replace(made, alternative=meant.verb.name)

    def _cycles(self, steps: list[Step], made: list[StepPlan]) -> None:
        for cycle in cycles(needs_by_number(made)):
            first = min(cycle, key=lambda number: (steps[number].place.line, steps[number].place.column))
            start = cycle.index(first)
            turned = [steps[number].name for number in cycle[start:] + cycle[:start]]
            hint = "One of them must be able to run first: take away a reference, or what makes it wait."
            self._report.add(Fault.CYCLE, steps[first].place, _told(turned), hint)


def _final(step: Step, asked: AskedVerb | None) -> StepPlan:
    if step.condition is not None:
        made = StepPlan(name=step.name, condition=step.condition, branches=step.branches, section=step.section)
        made = msgspec.structs.replace(made, sentence=condition_sentence(step.condition))
        return _after(made, step)
    references = tuple(Reference(path, ref.step, ref.path) for path, ref in references_of(step.args))
    made = StepPlan(
        name=step.name,
        verb=asked.verb.name if asked is not None else step.verb,
        version=asked.verb.version if asked is not None else 0,
        definition=asked.verb.content_hash if asked is not None else "",
        args=_emptied(step.args) if references else step.args,
        references=references,
        branches=step.branches,
        on_failure=step.on_failure,
        alternative=step.alternative,
        gate=step.gate,
        reevaluate=step.reevaluate,
        writes=asked.writes if asked is not None else (),
        sentence=step_sentence(asked.verb, step.args) if asked is not None else "",
        section=step.section,
        provenance=dict(step.provenance),
    )
    return _after(made, step)


def reevaluated(plan: Plan, catalogue: Catalogue) -> Plan:
    """The plan with its last decision asked again at every resume, unless a step is already; refused without one."""
    if any(step.reevaluate == "always" for step in plan.steps):
        return plan
    for number, step in reversed(list(enumerate(plan.steps))):
        verb = catalogue.find(step.verb, step.version or None) if step.verb else None
        if verb is not None and verb.execution.decision:
            asked = msgspec.structs.replace(step, reevaluate="always")
            return msgspec.structs.replace(plan, steps=(*plan.steps[:number], asked, *plan.steps[number + 1 :]))
    fact = "every resume is to be a decision and no step of it is one"
    raise RejectedError(Rejection("invalid", "compile", "runbook", plan.content_hash, fact, NO_DECISION))


def _after(made: StepPlan, step: Step) -> StepPlan:
    """Sequence edges that say more than the other edges do."""
    told = {reference.step for reference in made.references} | {branch.choice for branch in made.branches}
    wanted = dict.fromkeys([*(ref.step for ref in step.after), *step.order])
    after = tuple(name for name in wanted if name not in told)
    return msgspec.structs.replace(made, after=after) if after else made


def _emptied(value: Any) -> Any:
    """Arguments with null wherever a reference goes."""
    match value:
        case Ref():
            return None
        case dict():
            return {key: _emptied(item) for key, item in value.items()}
        case list():
            return [_emptied(item) for item in value]
        case _:
            return value


def _extended(after: Plan | None, steps: list[StepPlan], text: str) -> Plan:
    if after is None:
        return Plan(steps=tuple(steps), source=text)
    source = "\n".join(part for part in (after.source.rstrip("\n"), text) if part)
    return msgspec.structs.replace(after, steps=(*after.steps, *steps), source=source)


def _told(cycle: list[str]) -> str:
    if len(cycle) == 1:
        return f"'{shown(cycle[0])}' needs its own result"
    ring = [*cycle[:_SHOWN_CYCLE], *(["…"] if len(cycle) > _SHOWN_CYCLE else []), cycle[0]]
    return f"steps wait for one another: {' needs '.join(shown(name) for name in ring)}"
