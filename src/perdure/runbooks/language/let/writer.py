"""Writes a program in the LET form so that it reads back as the same program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from perdure.errors import DefinitionError
from perdure.runbooks.language.faults import DEEPEST, Fault
from perdure.runbooks.language.let.token_cursor import KEYWORDS, RESERVED
from perdure.runbooks.language.program import (
    All,
    Argument,
    CallForm,
    ConditionForm,
    Either,
    IfForm,
    ListForm,
    Literal,
    MapForm,
    Not,
    Program,
    Span,
    Statement,
    Symbol,
    Test,
    Value,
    Variable,
)
from perdure.verbs.sexpr.mistakes import Mistake, refuse, shown
from perdure.verbs.sexpr.name_syntax import ALWAYS, FIELD, NAME, ON_FAILURE, VERB
from perdure.verbs.sexpr.writer import written as written_in_lisp

_WIDTH = 100
_INDENT = "    "


def write_let(program: Program) -> str:
    """The text of a program: its comments kept, one blank line where there was one, long calls over several lines.

    Raises DefinitionError for a form made by hand, or in the other form, that no text stands for.
    """
    lines = [*_block(program.statements, ""), *_comments(program.comments, "")]
    return "".join(f"{line}\n" for line in lines)


def _block(statements: tuple[Statement, ...], indent: str) -> Iterator[str]:
    for number, statement in enumerate(statements):
        if statement.has_gap and number:
            yield ""
        yield from _comments(statement.comments, indent)
        yield from _choice(statement, indent) if isinstance(statement, IfForm) else _step(statement, indent)


def _choice(choice: IfForm, indent: str) -> Iterator[str]:
    if len(indent) >= DEEPEST * len(_INDENT):
        raise _unwritable(Mistake.TOO_DEEP, choice.span, f"choices are nested deeper than {DEEPEST}")
    inner = indent + _INDENT
    yield f"{indent}IF {_condition(choice.condition)} THEN"
    yield from _block(choice.then, inner)
    yield from _comments(choice.then_comments, inner)
    if choice.otherwise or choice.otherwise_comments:
        yield f"{indent}ELSE"
        yield from _block(choice.otherwise, inner)
        yield from _comments(choice.otherwise_comments, inner)
    yield f"{indent}END"


def _step(call: CallForm, indent: str) -> Iterator[str]:
    lead = f"LET {_symbol(call.bind)} = EXEC" if call.bind is not None else "EXEC"
    arguments = [_argument(argument, 2) for argument in call.args]
    said = list(_options(call))
    line = f"{indent}{lead} {_verb(call)}({', '.join(arguments)})"
    if len(" ".join([line, *said])) <= _WIDTH:
        yield " ".join([line, *said])
        return
    if len(line) <= _WIDTH or not arguments:
        yield line
    else:
        yield f"{indent}{lead} {_verb(call)}("
        yield from (f"{indent}{_INDENT}{argument}," for argument in arguments[:-1])
        yield f"{indent}{_INDENT}{arguments[-1]}"
        yield f"{indent})"
    yield from (f"{indent}{_INDENT}{each}" for each in said)


def _options(call: CallForm) -> Iterator[str]:
    if call.after:
        yield f"AFTER {', '.join(_symbol(symbol) for symbol in call.after)}"
    if call.on_failure:
        if call.on_failure not in ON_FAILURE or (call.on_failure == "decide") != bool(call.alternative):
            reason = f"'{shown(call.on_failure)}' is not what can follow a failure"
            raise _unwritable(Mistake.ON_FAILURE, call.span, reason)
        yield f"ON FAILURE {call.on_failure} {call.alternative}".rstrip()
    if call.gate:
        yield f"GATE {_literal(Literal(call.gate, call.span))}"
    if call.reevaluate:
        yield f"REEVALUATE {ALWAYS}"


def _condition(form: ConditionForm, is_inner: bool = False) -> str:
    match form:
        case Test(subject=subject, operator=None):
            return _symbol(subject)
        case Test(subject=subject, operator=operator, value=value):
            assert value is not None
            return f"{_symbol(subject)} {operator} {_value(value, 1)}"
        case Not(of=part):
            return f"not {_condition(part, True)}"
        case All(of=parts):
            text = " and ".join(_condition(part, True) for part in parts)
        case Either(of=parts):
            text = " or ".join(_condition(part, True) for part in parts)
    return f"({text})" if is_inner else text


def _value(value: Value, depth: int) -> str:
    if depth > DEEPEST and not isinstance(value, Literal | Symbol | Variable):
        raise _unwritable(Mistake.TOO_DEEP, value.span, f"brackets are nested deeper than {DEEPEST}")
    match value:
        case Literal():
            return _literal(value)
        case Symbol():
            return _symbol(value)
        case Variable():
            return f"${_path(value)}"
        case ListForm(items=items):
            return f"[{', '.join(_value(item, depth + 1) for item in items)}]"
        case MapForm(entries=entries):
            return f"{{{', '.join(_argument(entry, depth + 1) for entry in entries)}}}"
        case CallForm():
            return f"{_verb(value)}({', '.join(_argument(argument, depth + 1) for argument in value.args)})"


def _argument(argument: Argument, depth: int) -> str:
    if argument.is_exact:
        name = _literal(Literal(argument.name, argument.span))
    else:
        name = _name(argument.name, NAME, Mistake.MALFORMED_KEYWORD, argument.span)
    return f"{name}: {_value(argument.value, depth)}"


def _literal(literal: Literal) -> str:
    if literal.value is None:
        return "null"
    return written_in_lisp(literal)


def _symbol(symbol: Symbol) -> str:
    if symbol.name in RESERVED:
        reason = f"'{shown(symbol.name)}' is a word of the language and cannot be a name"
        raise _unwritable(Fault.RESERVED_WORD, symbol.span, reason)
    return _path(symbol)


def _path(symbol: Symbol | Variable) -> str:
    text = _name(symbol.name, NAME, Mistake.MALFORMED_SYMBOL, symbol.span)
    for field in symbol.path:
        name = _name(field, FIELD, Mistake.MALFORMED_SYMBOL, symbol.span)
        text += f"[{name}]" if name.isdecimal() else f".{name}"
    return text


def _verb(call: CallForm) -> str:
    if call.verb in KEYWORDS:
        raise _unwritable(Fault.RESERVED_WORD, call.span, f"'{shown(call.verb)}' is a word of the language")
    return _name(call.verb, VERB, Mistake.MALFORMED_VERB, call.span)


def _name(text: str, spelling: re.Pattern[str], mistake: Mistake, span: Span) -> str:
    if spelling.match(text):
        return text
    raise _unwritable(mistake, span, f"'{shown(text)}' cannot be written as a name")


def _comments(comments: tuple[str, ...], indent: str) -> Iterator[str]:
    """A line break would end the comment and let its rest be read as code."""
    for comment in comments:
        for line in re.split(r"\r\n|\n|\r", comment):
            yield f"{indent}# {line.lstrip('# ')}".rstrip()


def _unwritable(mistake: Mistake | Fault, span: Span, reason: str) -> DefinitionError:
    return refuse(mistake, "<program>", span, reason, "Only programs that can be read can be written.")
