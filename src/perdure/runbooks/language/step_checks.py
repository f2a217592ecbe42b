"""Checks steps against the verbs they ask for and against one another, and says everything that is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from perdure.runbooks.language.faults import Fault, Style
from perdure.runbooks.language.name_scopes import Scope, exclude
from perdure.runbooks.language.program import Ref
from perdure.runbooks.language.program_reader import Damage
from perdure.runbooks.language.program_verbs import AskedVerb, AskedVerbs
from perdure.runbooks.language.schema_types import Shape, kind_of, misfit
from perdure.runbooks.language.step_lowering import Step, Unknown, where
from perdure.runbooks.language.step_sentences import as_json
from perdure.runbooks.plan import Branch, Path, StepPlan, Test
from perdure.verbs import Verb
from perdure.verbs.near_names import nearest
from perdure.verbs.sexpr.mistakes import Mistake, Report, shown

_LISTED = 8
_COMPARED = 16


class Producer(msgspec.Struct, frozen=True):
    """Where a name leads: the verb whose result it is (none for a choice, or when unknown) and the branches around."""

    verb: Verb | None
    branches: tuple[Branch, ...] = ()
    is_choice: bool = False


class Checker:
    """Checks one program as far as it could be read."""

    def __init__(self, verbs: AskedVerbs, report: Report, style: Style, damage: Damage) -> None:
        self._verbs = verbs
        self._report = report
        self._style = style
        self._damage = damage
        self._producers: dict[str, list[Producer]] = {}
        self._scope = Scope()

    def know(self, step: StepPlan) -> None:
        """A step of the runbook that is extended."""
        verb = self._verbs.catalogue.find(step.verb, step.version or None) if step.verb else None
        self._producers.setdefault(step.name, []).append(Producer(verb, step.branches, step.condition is not None))

    def declare(self, step: Step, asked: AskedVerb | None) -> None:
        verb = asked.verb if asked is not None else None
        self._producers.setdefault(step.name, []).append(Producer(verb, step.branches, step.condition is not None))

    def refer(self, scope: Scope) -> None:
        """The names that can be referred to."""
        self._scope = scope

    def step(self, step: Step, asked: AskedVerb | None) -> None:
        """Everything about one step."""
        for ref in step.after:
            self._named(ref)
        for branch in step.branches:
            if not any(producer.is_choice for producer in self._producers.get(branch.choice, ())):
                hint = "Name a step that has a condition."
                self._add(Fault.NO_CHOICE, step, f"there is no choice '{shown(branch.choice)}'", hint)
        for ref, test in step.subjects:
            self._test(step, ref, test)
        if asked is None:
            for value in step.args.values():
                self._names_in(step, value)
            return
        self._arguments(step, asked)
        self._alternative(step)
        self._reevaluated(step, asked)

    def _arguments(self, step: Step, asked: AskedVerb) -> None:
        for name, value in step.args.items():
            if name in asked.properties:
                self._value(step, asked, (name,), value, Shape(asked.properties[name], asked.schema))
                continue
            self._names_in(step, value)
            if asked.is_closed:
                self._unknown_argument(step, asked, name)
        for name in asked.required:
            if name not in step.args and not self._damage.touches(step.place):
                reason = f"{asked.verb.name} needs the argument '{name}'"
                self._report.add(
                    Mistake.MISSING_ARGUMENT, step.place, reason, f"Add '{self._style.argument(name)}'.", name
                )

    def _unknown_argument(self, step: Step, asked: AskedVerb, name: str) -> None:
        similar = None if self._report.full else nearest(name, asked.properties)
        listed = ", ".join(list(asked.properties)[:_LISTED]) or "no arguments"
        hint = f"Did you mean '{similar}'?" if similar else f"It takes {listed}."
        form = step.forms.get(name)
        place = form.span if form is not None else step.place
        reason = f"{asked.verb.name} takes no argument '{shown(name)}'"
        self._report.add(Mistake.UNKNOWN_ARGUMENT, place, reason, hint, name)

    def _value(self, step: Step, asked: AskedVerb, path: Path, value: Any, shape: Shape) -> None:
        """A value at its place: a reference is compared by schema, what is known is checked as it is."""
        if isinstance(value, Unknown):
            return
        if isinstance(value, Ref):
            self._reference(step, asked, path, value, shape)
        elif isinstance(value, list | dict) and _is_open(value):
            self._container(step, asked, path, value, shape)
        else:
            self._literal(step, asked, path, value, shape)

    def _container(self, step: Step, asked: AskedVerb, path: Path, value: Any, shape: Shape) -> None:
        kinds, kind = shape.kinds(), kind_of(value)
        if kinds is not None and kind not in kinds:
            reason = f"{Shape({'type': kind}, {}).spoken()} stands where {shape.spoken()} is taken"
            self._report.add(Fault.WRONG_VALUE, where(step, path), reason, f"Give {shape.spoken()}.", _said(path))
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            inner = shape.below(key)
            if isinstance(inner, Shape):
                self._value(step, asked, (*path, key), item, inner)
                continue
            self._names_in(step, item)
            if inner == "absent" and kind in (kinds or ()):
                hint = _meant(str(key), shape.fields())
                reason = "it is not a known field"
                self._report.add(Fault.WRONG_VALUE, where(step, (*path, key)), reason, hint, _said((*path, key)))

    def _literal(self, step: Step, asked: AskedVerb, path: Path, value: Any, shape: Shape) -> None:
        listed = shape.values()
        if listed is not None and not any(_same(value, allowed) for allowed in listed):
            self._outside(step, path, value, listed)
            return
        for found, reason, hint in asked.violations(value, shape):
            inner, _ = shape.at(found)
            wanted = inner.spoken() if isinstance(inner, Shape) else "what it takes"
            place = (*path, *found)
            self._report.add(Fault.WRONG_VALUE, where(step, place), reason, hint or f"Give {wanted}.", _said(place))

    def _outside(self, step: Step, path: Path, value: Any, listed: list[Any]) -> None:
        texts = [allowed for allowed in listed if isinstance(allowed, str)]
        similar = nearest(value, texts) if isinstance(value, str) and not self._report.full else None
        allowed = ", ".join(as_json(each) for each in listed[:_LISTED])
        hint = f"Did you mean {as_json(similar)}? Allowed are {allowed}." if similar else f"Allowed are {allowed}."
        reason = f"{shown(as_json(value))} is not among its values"
        self._report.add(Mistake.OUTSIDE_ENUM, where(step, path), reason, hint, _said(path))

    def _reference(self, step: Step, asked: AskedVerb, path: Path, ref: Ref, wanted: Shape) -> None:
        reason = next((why for given in self._result(step, ref) if (why := misfit(given, wanted))), "")
        if reason:
            told = f"{_spoken(ref, self._style)} {reason}"
            self._report.add(Fault.WRONG_TYPE, ref.span, told, f"Give {wanted.spoken()}.", _said(path))

    def _names_in(self, step: Step, value: Any) -> None:
        """Where nothing is known of what is wanted, names and fields are still looked at."""
        for ref in _references(value):
            self._result(step, ref)

    def _named(self, ref: Ref) -> list[Producer]:
        """The steps that a name means; none after it has been told that there are none."""
        if ref.is_made or ref.step in self._scope:
            return self._producers.get(ref.step, [])
        if ref.step not in self._damage.names:
            similar = None if self._report.full else nearest(ref.step, self._scope.names())
            hint = f"Did you mean {self._style.result(similar)}?" if similar else self._style.undefined(ref.step)
            reason = f"no call is bound to {self._style.result(ref.step)}"
            self._report.add(Mistake.UNDEFINED_SYMBOL, ref.span, reason, hint)
        return []

    def _result(self, step: Step, ref: Ref) -> list[Shape]:
        """The shapes that what a reference gives may have, as far as they are known; what is wrong with it is told."""
        producers = self._named(ref)
        if producers and all(producer.is_choice for producer in producers):
            reason = f"{self._style.result(ref.step)} is a choice and has no result"
            self._report.add(Fault.NO_RESULT, ref.span, reason, "Refer to a step that calls a verb.")
            return []
        if producers and not ref.is_made and not self._scope.covers(ref.step, step.branches):
            self._other_branch(step, ref, producers)
        shapes: list[Shape] = []
        for producer in producers[:_COMPARED]:
            output = producer.verb.output if producer.verb is not None else None
            if output is None or exclude(step.branches, producer.branches):
                continue
            shape = self._field(ref, producer.verb, Shape(output.schema, output.schema))
            if shape is None:
                return []
            shapes.append(shape)
        return shapes

    def _field(self, ref: Ref, verb: Verb | None, shape: Shape) -> Shape | None:
        found, count = shape.at(ref.path)
        if found == "untold":
            return None
        if isinstance(found, Shape):
            return found
        around, _ = shape.at(ref.path[:count])
        fields = around.fields() if isinstance(around, Shape) else []
        kind = around.spoken() if isinstance(around, Shape) else ""
        key = str(ref.path[count])
        hint = _meant(key, fields) if fields else f"It is {kind}."
        name = verb.name if verb is not None else ref.step
        reason = f"the result of {name} has no '{shown('.'.join(map(str, ref.path[: count + 1])))}'"
        self._report.add(Fault.NO_SUCH_FIELD, ref.span, reason, hint)
        return None

    def _other_branch(self, step: Step, ref: Ref, producers: list[Producer]) -> None:
        is_other = all(exclude(step.branches, producer.branches) for producer in producers)
        side = "the other branch" if is_other else "one branch"
        reason = f"{self._style.result(ref.step)} is bound in {side} of a choice and may never have a result here"
        hint = "Move this statement into that branch, the call it needs out of it, or bind the name in both branches."
        self._report.add(Fault.OTHER_BRANCH, ref.span, reason, hint)

    def _test(self, step: Step, ref: Ref, test: Test) -> None:
        for shape in self._result(step, ref)[:1]:
            self._compared(ref, test, shape)

    def _compared(self, ref: Ref, test: Test, shape: Shape) -> None:
        kinds = shape.kinds()
        if kinds is None or isinstance(test.value, Unknown):
            return
        said = _spoken(ref, self._style)
        if test.operator is None:
            if "boolean" not in kinds:
                hint = "Compare it with a value, by ==, !=, <, <=, >, >= or in."
                self._add_at(Fault.UNDECIDABLE, ref, f"{said} is {shape.spoken()}, not true or false", hint)
            return
        if test.operator in ("<", "<=", ">", ">=") and not kinds & {"string", "integer", "number"}:
            reason = f"{said} is {shape.spoken()}, which has no order"
            self._add_at(Fault.UNDECIDABLE, ref, reason, "Compare it with == or !=.")
            return
        values = test.value if test.operator == "in" and isinstance(test.value, list) else [test.value]
        for value in values:
            self._comparable(ref, shape, said, value)

    def _comparable(self, ref: Ref, shape: Shape, said: str, value: Any) -> None:
        listed = shape.values()
        if listed is not None and not any(_same(value, allowed) for allowed in listed):
            texts = [each for each in listed if isinstance(each, str)]
            similar = nearest(value, texts) if isinstance(value, str) and not self._report.full else None
            meant = f"Did you mean {as_json(similar)}? " if similar else ""
            hint = f"{meant}It is one of {', '.join(as_json(each) for each in listed[:_LISTED])}."
            self._add_at(Fault.UNDECIDABLE, ref, f"{said} is never {shown(as_json(value))}", hint)
        elif value is not None and misfit(Shape({"const": value}, {}), shape):
            hint = f"Compare it with {shape.spoken()}."
            self._add_at(Fault.UNDECIDABLE, ref, f"{said} is {shape.spoken()}, never {shown(as_json(value))}", hint)

    def _alternative(self, step: Step) -> None:
        if step.on_failure != "decide":
            return
        asked = self._verbs.find(step.alternative, step.place) if step.alternative else None
        if step.alternative and (asked is None or asked.is_decision):
            return
        said = (
            f"'{shown(step.alternative)}' makes no decisions" if step.alternative else "no verb is named that decides"
        )
        hint = "Name a verb that declares 'execution: {decision: true}'."
        self._add(Fault.NOT_A_DECISION, step, f"{said} when the step fails", hint)

    def _reevaluated(self, step: Step, verb: AskedVerb | None) -> None:
        if step.reevaluate == "always" and verb is not None and not verb.is_decision:
            hint = "Say it of a verb that declares 'execution: {decision: true}'."
            reason = f"'{shown(step.verb)}' makes no decisions and is to be asked at every resume"
            self._add(Fault.NOT_A_DECISION, step, reason, hint)

    def _add(self, fault: Fault, step: Step, reason: str, hint: str) -> None:
        self._report.add(fault, step.place, reason, hint)

    def _add_at(self, fault: Fault, ref: Ref, reason: str, hint: str) -> None:
        self._report.add(fault, ref.span, reason, hint)


def _references(value: Any) -> Iterator[Ref]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Ref):
            yield each
        elif isinstance(each, dict):
            waiting.extend(reversed(list(each.values())))
        elif isinstance(each, list):
            waiting.extend(reversed(each))


def _is_open(value: Any) -> bool:
    """Whether something in it is not known yet."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Ref | Unknown):
            return True
        if isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
    return False


def _same(value: Any, allowed: Any) -> bool:
    """Equality as JSON has it: true is not 1."""
    return bool(value == allowed) and isinstance(value, bool) == isinstance(allowed, bool)


def _said(path: Path) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")


def _spoken(ref: Ref, style: Style) -> str:
    return "what this call gives" if ref.is_made else style.result(_said((ref.step, *ref.path)))


def _meant(name: str, fields: list[str]) -> str:
    similar = nearest(name, fields)
    listed = ", ".join(fields[:_LISTED]) or "nothing"
    return f"Did you mean '{similar}'?" if similar else f"It has {listed}."


def references_of(args: dict[str, Any]) -> Iterator[tuple[Path, Ref]]:
    """Every reference in a step's arguments with its place, in the order of the arguments."""
    waiting: list[tuple[Path, Any]] = [((name,), value) for name, value in reversed(args.items())]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Ref):
            yield path, value
        elif isinstance(value, dict):
            waiting.extend(((*path, key), item) for key, item in reversed(value.items()))
        elif isinstance(value, list):
            waiting.extend(((*path, index), value[index]) for index in range(len(value) - 1, -1, -1))
