"""Writes a program as text that reads back as the same program."""

from __future__ import annotations

import math
import re
from typing import assert_never

from perdure.errors import DefinitionError
from perdure.verbs.sexpr.bracket_outline import DEEPEST
from perdure.verbs.sexpr.forms import (
    Argument,
    CallForm,
    ListForm,
    Literal,
    MapForm,
    Program,
    Span,
    Symbol,
    Value,
    Variable,
    snake,
)
from perdure.verbs.sexpr.literals import LARGEST_INTEGER, written_number, written_string
from perdure.verbs.sexpr.mistakes import Mistake, refuse, shown
from perdure.verbs.sexpr.name_syntax import ALWAYS, FIELD, NAME, ON_FAILURE, RESERVED, VERB

_WIDTH = 100


def write(program: Program) -> str:
    """The text of a program: comments, then one statement, and so on; long statements take several lines.

    Raises DefinitionError for a form made by hand that no text stands for.
    """
    lines: list[str] = []
    for statement in program.statements:
        lines += [""] if statement.has_gap and lines else []
        lines += [_comment(comment) for comment in statement.comments]
        lines.append(_statement(statement))
    lines += [_comment(comment) for comment in program.comments]
    return "".join(f"{line}\n" for line in lines)


def written(value: Value, depth: int = 1) -> str:
    """One value on one line."""
    if depth > DEEPEST and not isinstance(value, Literal | Symbol | Variable):
        raise _unwritable(Mistake.TOO_DEEP, value.span, f"brackets are nested deeper than {DEEPEST}")
    match value:
        case Literal():
            return _literal(value)
        case Symbol():
            return _symbol(value)
        case Variable():
            return _symbol(value, "$")
        case ListForm(items=items):
            return f"[{' '.join(written(item, depth + 1) for item in items)}]"
        case MapForm(entries=entries):
            return f"{{{' '.join(_argument(entry, depth + 1) for entry in entries)}}}"
        case CallForm():
            return f"({' '.join(_parts(value, depth + 1))})"
        case _:
            assert_never(value)


def _statement(call: CallForm) -> str:
    parts = _parts(call, 2)
    text = f"({' '.join(parts)})"
    return text if len(text) <= _WIDTH else "(" + "\n  ".join(parts) + ")"


def _parts(call: CallForm, depth: int) -> list[str]:
    parts = [_name(call.verb, VERB, Mistake.MALFORMED_VERB, call.span)]
    for argument in call.args:
        if snake(argument.name) in RESERVED:
            reason = f":{argument.name} is not free to be an argument"
            raise _unwritable(Mistake.MALFORMED_KEYWORD, argument.span, reason)
        parts.append(_argument(argument, depth))
    if call.bind:
        parts.append(f":as {_symbol(call.bind)}")
    if call.after:
        parts.append(f":after [{' '.join(map(_symbol, call.after))}]")
    if call.on_failure:
        parts.append(f":on-failure {_on_failure(call)}")
    if call.gate:
        parts.append(f":gate {_literal(Literal(call.gate, call.span))}")
    if call.reevaluate:
        parts.append(f":reevaluate {ALWAYS}")
    return parts


def _on_failure(call: CallForm) -> str:
    if call.on_failure not in ON_FAILURE or (call.on_failure == "decide") != bool(call.alternative):
        reason = f"'{shown(call.on_failure)}' is not what can follow a failure"
        raise _unwritable(Mistake.ON_FAILURE, call.span, reason)
    return f"{{:decide {_literal(Literal(call.alternative))}}}" if call.alternative else call.on_failure


def _argument(argument: Argument, depth: int) -> str:
    name = _name(argument.name, NAME, Mistake.MALFORMED_KEYWORD, argument.span)
    if argument.is_exact:
        reason = f"the key '{shown(name)}' would be read as '{snake(name)}'"
        raise _unwritable(Mistake.MALFORMED_KEYWORD, argument.span, reason)
    return f":{name} {written(argument.value, depth)}"


def _symbol(symbol: Symbol | Variable, sign: str = "@") -> str:
    name = _name(symbol.name, NAME, Mistake.MALFORMED_SYMBOL, symbol.span)
    path = [_name(field, FIELD, Mistake.MALFORMED_SYMBOL, symbol.span) for field in symbol.path]
    return sign + ".".join([name, *path])


def _literal(literal: Literal) -> str:
    match literal.value:
        case None:
            return "nil"
        case bool():
            return "true" if literal.value else "false"
        case int() | float():
            if not _is_writable(literal.value):
                raise _unwritable(Mistake.INEXACT_NUMBER, literal.span, "the number cannot be written exactly")
            return written_number(literal.value)
        case str():
            if re.search(r"[\ud800-\udfff]", literal.value):
                raise _unwritable(Mistake.UNKNOWN_CHARACTER, literal.span, "half a character cannot be written")
            return written_string(literal.value)
        case _:
            assert_never(literal.value)


def _is_writable(number: int | float) -> bool:
    return abs(number) <= LARGEST_INTEGER if isinstance(number, int) else math.isfinite(number)


def _name(text: str, spelling: re.Pattern[str], mistake: Mistake, span: Span) -> str:
    if spelling.match(text):
        return text
    raise _unwritable(mistake, span, f"'{shown(text)}' cannot be written as a name")


def _comment(text: str) -> str:
    """A line break would end the comment and let its rest be read as code."""
    return "\n".join(f";; {line.lstrip('; ')}".rstrip() for line in re.split(r"\r\n|\n|\r", text))


def _unwritable(mistake: Mistake, span: Span, reason: str) -> DefinitionError:
    hint = "Only programs that can be read can be written."
    return refuse(mistake, "<program>", span, reason, hint)
