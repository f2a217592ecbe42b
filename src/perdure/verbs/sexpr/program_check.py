"""Checks a program against a catalogue of verbs; reading it never needs one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from perdure.errors import Problem
from perdure.verbs.sexpr.forms import Argument, CallForm, Literal, Program, calls, snake
from perdure.verbs.sexpr.mistakes import Mistake, Report, nearest, shown
from perdure.verbs.sexpr.writer import written

Scalar = str | int | float | bool | None
_LISTED = 8


class ArgumentShape(msgspec.Struct, frozen=True):
    """What a verb asks of one argument; an empty `enum` allows any value."""

    required: bool = False
    enum: tuple[Scalar, ...] = ()


class VerbShape(msgspec.Struct, frozen=True):
    """What a verb takes; argument names may be written with '-' or '_'."""

    name: str
    arguments: Mapping[str, ArgumentShape] = {}


Lookup = Callable[[str], VerbShape | None]


def check(program: Program, lookup: Lookup, names: Sequence[str] = (), *, file: str = "<input>") -> list[Problem]:
    """What the catalogue says against the program; `names` are all verbs, for bare names and suggestions."""
    report = Report(file)
    bare: dict[str, list[str]] = {}
    for name in names:
        bare.setdefault(name.rpartition(".")[2], []).append(name)
    for call in calls(program):
        shape = _shape(call, lookup, names, bare, report)
        if shape is not None:
            _check_arguments(call, shape, report)
    return report.problems()


def _shape(
    call: CallForm, lookup: Lookup, names: Sequence[str], bare: Mapping[str, list[str]], report: Report
) -> VerbShape | None:
    shape = lookup(call.verb)
    if shape is not None:
        return shape
    meant = [] if call.qualified else bare.get(call.verb, [])
    if len(meant) == 1:
        return lookup(meant[0])
    verb = shown(call.verb)
    if meant:
        hint = f"Write one of {', '.join(sorted(meant)[:_LISTED])}."
        report.add(Mistake.AMBIGUOUS_VERB, call.span, f"several domains have a verb '{verb}'", hint)
        return None
    similar = None if report.full else nearest(call.verb, names) or nearest(call.verb, list(bare))
    hint = f"Did you mean {similar}?" if similar else "Look for it in the list of verbs, or declare it."
    report.add(Mistake.UNKNOWN_VERB, call.span, f"there is no verb '{verb}'", hint)
    return None


def _check_arguments(call: CallForm, shape: VerbShape, report: Report) -> None:
    known = {snake(name): argument for name, argument in shape.arguments.items()}
    spelled = {snake(name): name.replace("_", "-") for name in shape.arguments}
    for argument in call.args:
        if snake(argument.name) in known:
            _check_enum(argument, known[snake(argument.name)], report)
        else:
            _unknown_argument(argument, shape, list(spelled.values()), report)
    given = {snake(argument.name) for argument in call.args}
    for name, argument_shape in known.items():
        if argument_shape.required and name not in given:
            hint = f"Add ':{spelled[name]} value'."
            reason = f"{shape.name} needs the argument :{spelled[name]}"
            report.add(Mistake.MISSING_ARGUMENT, call.span, reason, hint, name)


def _unknown_argument(argument: Argument, shape: VerbShape, names: list[str], report: Report) -> None:
    similar = None if report.full else nearest(argument.name.replace("_", "-"), names)
    listed = ", ".join(f":{name}" for name in names[:_LISTED])
    hint = f"Did you mean :{similar}?" if similar else f"It takes {listed or 'no arguments'}."
    reason = f"{shape.name} takes no argument :{shown(argument.name)}"
    report.add(Mistake.UNKNOWN_ARGUMENT, argument.span, reason, hint, argument.name)


def _check_enum(argument: Argument, shape: ArgumentShape, report: Report) -> None:
    """Only literals can be judged; what a symbol or a nested call brings is known when it runs."""
    value = argument.value
    if not shape.enum or not isinstance(value, Literal) or any(_same(value.value, allowed) for allowed in shape.enum):
        return
    texts = [allowed for allowed in shape.enum if isinstance(allowed, str)]
    similar = nearest(value.value, texts) if isinstance(value.value, str) and not report.full else None
    listed = " ".join(written(Literal(allowed)) for allowed in shape.enum[:_LISTED])
    hint = f'Did you mean "{similar}"? Allowed are {listed}.' if similar else f"Allowed are {listed}."
    reason = f"{shown(written(value))} is not among the values of :{argument.name}"
    report.add(Mistake.OUTSIDE_ENUM, value.span, reason, hint, argument.name)


def _same(value: Scalar, allowed: Scalar) -> bool:
    """Equality as JSON has it: true is not 1."""
    return value == allowed and isinstance(value, bool) == isinstance(allowed, bool)
