"""A call that stands alone as plain JSON arguments."""

from __future__ import annotations

from typing import Any, assert_never

from perdure.errors import InvariantBroken
from perdure.verbs.sexpr.forms import CallForm, ListForm, Literal, MapForm, Symbol, Value, Variable, snake, walk
from perdure.verbs.sexpr.mistakes import Mistake, Report, shown


def arguments(call: CallForm, *, file: str = "<input>") -> dict[str, Any]:
    """The arguments of a call as JSON, `:case-type` as `case_type`, in maps as well.

    Raises DefinitionError naming every symbol and nested call: their values are known only when a program runs.
    """
    report = Report(file)
    for value in walk(argument.value for argument in call.args):
        if isinstance(value, Symbol | CallForm | Variable):
            _refuse(value, report)
    if call.on_failure or call.gate or call.reevaluate:
        reason = "on-failure, gate and reevaluate belong to the steps of a runbook"
        report.add(Mistake.NOT_PLAIN, call.span, reason, "Leave them out, or run the call as a runbook.")
    report.raise_if_any()
    return {snake(argument.name): _json(argument.value) for argument in call.args}


def _refuse(value: Symbol | CallForm | Variable, report: Report) -> None:
    hint = "Give the value itself, or run the calls together as one runbook."
    report.add(Mistake.NOT_PLAIN, value.span, f"{_named(value)} has no value until the program runs", hint)


def _named(value: Symbol | CallForm | Variable) -> str:
    if isinstance(value, CallForm):
        return f"the call of {shown(value.verb)}"
    return f"@{shown(value.name)}" if isinstance(value, Symbol) else f"${shown(value.name)}"


def _json(value: Value) -> Any:
    match value:
        case Literal(value=plain):
            return plain
        case ListForm(items=items):
            return [_json(item) for item in items]
        case MapForm(entries=entries):
            return {snake(entry.name): _json(entry.value) for entry in entries}
        case Symbol() | CallForm() | Variable():
            fact = "it holds values known only when it runs"
            raise InvariantBroken("convert", "call", str(value.span.start), fact)
        case _:
            assert_never(value)
