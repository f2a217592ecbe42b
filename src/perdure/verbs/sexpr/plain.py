"""A call that stands alone as plain JSON arguments."""

from __future__ import annotations

from typing import Any, assert_never

from perdure.errors import InvariantBroken
from perdure.verbs.sexpr.forms import CallForm, ListForm, Literal, MapForm, Symbol, Value, snake, walk
from perdure.verbs.sexpr.report import Mistake, Report, shown


def arguments(call: CallForm, *, file: str = "<input>") -> dict[str, Any]:
    """The arguments of a call as JSON, `:case-type` as `case_type`, in maps as well.

    Raises DefinitionError naming every symbol and nested call: their values are known only when a program runs.
    """
    report = Report(file)
    for value in walk(argument.value for argument in call.args):
        if isinstance(value, Symbol | CallForm):
            _refuse(value, report)
    report.raise_if_any()
    return {snake(argument.name): _json(argument.value) for argument in call.args}


def _refuse(value: Symbol | CallForm, report: Report) -> None:
    name = f"@{shown(value.name)}" if isinstance(value, Symbol) else f"the call of {shown(value.verb)}"
    reason = f"{name} has no value until the program runs"
    hint = "Give the value itself, or run the calls together as one runbook."
    report.add(Mistake.NOT_PLAIN, value.span, reason, hint)


def _json(value: Value) -> Any:
    match value:
        case Literal(value=plain):
            return plain
        case ListForm(items=items):
            return [_json(item) for item in items]
        case MapForm(entries=entries):
            return {snake(entry.name): _json(entry.value) for entry in entries}
        case Symbol() | CallForm():
            fact = "it holds values known only when it runs"
            raise InvariantBroken("convert", "call", str(value.span.start), fact)
        case _:
            assert_never(value)
