"""Statements to steps: nested calls hoisted, names given, variables replaced, branches and their order kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from perdure.runbooks.language.faults import Fault, Style
from perdure.runbooks.language.name_scopes import Scope
from perdure.runbooks.language.program import (
    NOWHERE,
    All,
    Argument,
    CallForm,
    CallSource,
    ConditionForm,
    Either,
    IfForm,
    ListForm,
    Literal,
    MapForm,
    Not,
    Program,
    Ref,
    Span,
    Statement,
    Symbol,
    Test,
    Value,
    Var,
    Variable,
    steps_of,
)
from perdure.runbooks.plan import All as AllOf
from perdure.runbooks.plan import Branch, Condition, OnFailure, Path, Plan, Provenance, Reevaluate, Reference, tests_of
from perdure.runbooks.plan import Either as EitherOf
from perdure.runbooks.plan import Not as NotOf
from perdure.runbooks.plan import Test as TestOf
from perdure.verbs.near_names import nearest
from perdure.verbs.sexpr.forms import snake, walk
from perdure.verbs.sexpr.mistakes import Mistake, Report, shown


class Unknown(msgspec.Struct, frozen=True):
    """Stands where a value could not be worked out; that has been reported."""


UNKNOWN = Unknown()


class Step(msgspec.Struct, kw_only=True):
    """A step before it is checked: `args` is JSON with `Ref` objects, `order` what it follows for its place alone."""

    name: str
    place: Span
    verb: str = ""
    args: dict[str, Any] = {}
    forms: Mapping[str, Argument] = {}
    after: tuple[Ref, ...] = ()
    order: tuple[str, ...] = ()
    branches: tuple[Branch, ...] = ()
    condition: Condition | None = None
    subjects: tuple[tuple[Ref, TestOf], ...] = ()
    on_failure: OnFailure = "fail"
    alternative: str = ""
    gate: str = ""
    reevaluate: Reevaluate = "decisions"
    section: str = ""
    provenance: Mapping[str, Provenance] = {}


class Names:
    """The names of steps: those given, and new ones that clash with none."""

    def __init__(self, after: Plan | None, report: Report, style: Style) -> None:
        self.scope = Scope()
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}
        self._report = report
        self._style = style
        for step in after.steps if after is not None else ():
            self._taken.add(step.name)
            self.scope.bind(step.name, step.branches, NOWHERE)

    def reserve(self, name: str) -> None:
        """A name that somebody chose, so that no step is called so by chance."""
        self._taken.add(name)

    def give(self, name: str, branches: tuple[Branch, ...], place: Span) -> str:
        """The name, unless a step that may run as well has it; that is reported, and another name goes on."""
        first = self.scope.bind(name, branches, place)
        if first is None:
            return name
        at = f"on line {first.line}, column {first.column}" if first is not NOWHERE else "by a step of the runbook"
        hint = "Give this call another name; only the two branches of a choice may bind the same one."
        reason = f"{self._style.result(name)} is already bound {at}"
        self._report.add(Mistake.DUPLICATE_BINDING, place, reason, hint)
        return self.fresh(name)

    def fresh(self, wanted: str) -> str:
        """`wanted`, or with the first number that makes it new."""
        name, number = wanted, self._last.get(wanted, 1)
        while name in self._taken:
            number += 1
            name = f"{wanted}-{number}"
        self._last[wanted] = number
        self._taken.add(name)
        return name


class Lowering:
    """Makes the steps of a program, in the order they are written, inner calls before the ones they are in."""

    def __init__(self, names: Names, variables: Mapping[str, Any], report: Report, style: Style) -> None:
        self.steps: list[Step] = []
        self._names = names
        self._variables = {snake(name): value for name, value in variables.items()}
        self._missing: set[str] = set()
        self._report = report
        self._style = style
        self._order: tuple[str, ...] = ()
        self._branches: tuple[Branch, ...] = ()

    def program(self, program: Program) -> list[Step]:
        for bind in bindings(program.statements):
            self._names.reserve(bind.name)
        for statement in program.statements:
            if isinstance(statement, CallForm):
                self._call(statement)
            else:
                self._choice(statement)
        return self.steps

    def calls(self, calls: Iterable[CallSource]) -> list[Step]:
        asked = [(call, Span(0, 0, number, 1)) for number, call in enumerate(calls, start=1)]
        for call, _ in asked:
            self._names.reserve(call.name)
        for call, place in asked:
            self._source(call, place)
        return self.steps

    def _source(self, call: CallSource, place: Span) -> None:
        base = "choice" if call.condition is not None else _bare(call.verb)
        tests = tests_of(call.condition) if call.condition is not None else ()
        found = tuple((Ref(test.step, test.path, place), test) for test in tests)
        args = {snake(name): self._plain(value, place) for name, value in call.args.items()}
        for reference in call.references:
            self._put(args, reference, place)
        self.steps.append(
            Step(
                name=self._names.give(call.name, call.branches, place) if call.name else self._names.fresh(base),
                place=place,
                verb=call.verb,
                args=args,
                after=tuple(Ref(name, (), place) for name in call.after),
                branches=call.branches,
                condition=call.condition,
                subjects=found,
                on_failure=call.on_failure,
                alternative=call.alternative,
                gate=call.gate,
                reevaluate=call.reevaluate,
                section=call.section,
                provenance={snake(name): origin for name, origin in call.provenance.items()},
            )
        )

    def _put(self, args: dict[str, Any], reference: Reference, place: Span) -> None:
        """A reference at its place in the arguments, which must lead somewhere."""
        around: Any = args
        *way, last = (snake(str(reference.at[0])), *reference.at[1:]) if reference.at else ("",)
        for key in way:
            is_list = isinstance(around, list) and isinstance(key, int) and 0 <= key < len(around)
            is_inside = is_list or (isinstance(around, dict) and key in around)
            around = around[key] if is_inside else None
        is_item = isinstance(around, list) and isinstance(last, int) and 0 <= last < len(around)
        if is_item or (isinstance(around, dict) and isinstance(last, str) and last):
            around[last] = Ref(reference.step, reference.path, place)
            return
        hint = "Give the list or the object that it goes into."
        self._report.add(Fault.MALFORMED_CALL, place, "a reference goes where nothing is", hint)

    def _plain(self, value: Any, place: Span) -> Any:
        """JSON as it came, variables replaced."""
        match value:
            case Ref():
                return Ref(value.step, value.path, place)
            case Var():
                return self._variable(value.name, value.path, place)
            case dict():
                return {key: self._plain(item, place) for key, item in value.items()}
            case list() | tuple():
                return [self._plain(item, place) for item in value]
            case _:
                return value

    def _call(self, call: CallForm) -> str:
        bind = call.bind
        args = {argument.key: self._json(argument.value) for argument in call.args}
        if bind is not None:
            name = self._names.give(bind.name, self._branches, bind.span)
        else:
            name = self._names.fresh(_bare(call.verb))
        self.steps.append(
            Step(
                name=name,
                place=call.span,
                verb=call.verb,
                args=args,
                forms={argument.key: argument for argument in call.args},
                after=tuple(Ref(symbol.name, (), symbol.span) for symbol in call.after),
                order=self._order,
                branches=self._branches,
                on_failure=call.on_failure or "fail",  # type: ignore[arg-type]
                alternative=call.alternative,
                gate=call.gate,
                reevaluate=call.reevaluate or "decisions",  # type: ignore[arg-type]
            )
        )
        return name

    def _choice(self, choice: IfForm) -> tuple[str, ...]:
        """The choice and its branches; gives the steps that end it."""
        subjects: list[tuple[Ref, TestOf]] = []
        condition = self._condition(choice.condition, subjects)
        name = self._names.fresh("choice")
        step = Step(name=name, place=choice.span, condition=condition, subjects=tuple(subjects))
        step.order, step.branches = self._order, self._branches
        self.steps.append(step)
        ends: tuple[str, ...] = ()
        for side, statements in ((True, choice.then), (False, choice.otherwise)):
            ends += self._branch(Branch(name, side), statements)
        return tuple(dict.fromkeys(ends))

    def _branch(self, branch: Branch, statements: tuple[Statement, ...]) -> tuple[str, ...]:
        """Statements of a branch keep their order; gives the last of them, or the choice when there are none."""
        order, branches = self._order, self._branches
        self._order, self._branches = (), (*branches, branch)
        for statement in statements:
            if isinstance(statement, CallForm):
                self._order = (self._call(statement),)
            else:
                self._order = self._choice(statement)
        ends = self._order or (branch.choice,)
        self._order, self._branches = order, branches
        return ends

    def _condition(self, form: ConditionForm, subjects: list[tuple[Ref, TestOf]]) -> Condition:
        match form:
            case Test(subject=subject, operator=operator, value=value):
                ref = Ref(subject.name, steps_of(subject.path), subject.span)
                plain = None if value is None else self._json(value)
                test = TestOf(ref.step, ref.path, operator, plain)
                subjects.append((ref, test))
                return test
            case Not(of=part):
                return NotOf(self._condition(part, subjects))
            case All(of=parts):
                return AllOf(tuple(self._condition(part, subjects) for part in parts))
            case Either(of=parts):
                return EitherOf(tuple(self._condition(part, subjects) for part in parts))

    def _json(self, value: Value) -> Any:
        match value:
            case Literal(value=plain):
                return plain
            case Symbol(name=name, path=path, span=span):
                return Ref(name, steps_of(path), span)
            case Variable(name=name, path=path, span=span):
                return self._variable(name, steps_of(path), span)
            case ListForm(items=items):
                return [self._json(item) for item in items]
            case MapForm(entries=entries):
                return {entry.key: self._json(entry.value) for entry in entries}
            case CallForm(span=span):
                return Ref(self._call(value), (), span, is_made=True)

    def _variable(self, name: str, path: Path, place: Span) -> Any:
        if snake(name) not in self._variables:
            self._missing_variable(name, place)
            return UNKNOWN
        value = self._variables[snake(name)]
        for key in path:
            try:
                value = value[key if isinstance(value, list) else str(key)]
            except (KeyError, IndexError, TypeError):
                reason = f"the variable ${shown(name)} has no '{shown(str(key))}'"
                self._report.add(Fault.NO_SUCH_FIELD, place, reason, "Give it when the program is compiled.")
                return UNKNOWN
        return value

    def _missing_variable(self, name: str, place: Span) -> None:
        """Once per variable, however often it is used."""
        if snake(name) in self._missing:
            return
        self._missing.add(snake(name))
        similar = None if self._report.full else nearest(name, self._variables)
        hint = f"Did you mean ${similar}?" if similar else f"Give it a value: --var {shown(name)}=VALUE."
        self._report.add(Fault.MISSING_VARIABLE, place, f"the variable ${shown(name)} has no value", hint)


def bindings(statements: Iterable[Statement]) -> Iterator[Symbol]:
    """Every name that a call is bound to, nested ones included."""
    for statement in statements:
        if isinstance(statement, IfForm):
            yield from bindings(statement.then)
            yield from bindings(statement.otherwise)
        else:
            for value in walk([statement]):
                if isinstance(value, CallForm) and value.bind is not None:
                    yield value.bind


def _bare(verb: str) -> str:
    return verb.rpartition(".")[2] or "step"


def place_of(form: Value, path: Path) -> Span:
    """Where the value that a path leads to stands; the nearest around it when it is not written out."""
    for key in path:
        if isinstance(form, ListForm) and isinstance(key, int) and key < len(form.items):
            form = form.items[key]
        elif isinstance(form, MapForm):
            found = next((entry.value for entry in form.entries if entry.key == key), None)
            if found is None:
                return form.span
            form = found
        else:
            return form.span
    return form.span


def where(step: Step, path: Path) -> Span:
    """Where a place in a step's arguments is written."""
    form = step.forms.get(str(path[0])) if path else None
    if form is None:
        return step.place
    return place_of(form.value, path[1:]) if form.value.span is not NOWHERE else step.place
