"""Reads the conditions of the LET form: fields of results, compared and joined."""

from __future__ import annotations

from typing import get_args

from perdure.runbooks.language.faults import DEEPEST, Fault
from perdure.runbooks.language.let.token_cursor import RESERVED, Cursor
from perdure.runbooks.language.let.tokens import Kind, Token
from perdure.runbooks.language.let.values import read_value, split_path
from perdure.runbooks.language.program import All, ConditionForm, Either, ListForm, Literal, Not, Symbol, Test, Variable
from perdure.runbooks.plan import Operator
from perdure.verbs.sexpr.forms import Span
from perdure.verbs.sexpr.mistakes import shown
from perdure.verbs.sexpr.name_syntax import NAME

OPERATORS: dict[str, Operator] = {**{each: each for each in get_args(Operator)}, "IN": "in"}


def read_condition(cursor: Cursor) -> ConditionForm | None:
    """The condition at hand, or None when it is none; then that has been reported."""
    first = cursor.peek()
    return _joined(cursor, first, 0)


def _joined(cursor: Cursor, first: Token, depth: int) -> ConditionForm | None:
    parts = [_both(cursor, cursor.peek(), depth)]
    while cursor.takes("or") or cursor.takes("OR"):
        parts.append(_both(cursor, cursor.peek(), depth))
    found = tuple(part for part in parts if part is not None)
    if len(found) < len(parts):
        return None
    return found[0] if len(found) == 1 else Either(found, _since(first, cursor))


def _both(cursor: Cursor, first: Token, depth: int) -> ConditionForm | None:
    parts = [_single(cursor, depth)]
    while cursor.takes("and") or cursor.takes("AND"):
        parts.append(_single(cursor, depth))
    found = tuple(part for part in parts if part is not None)
    if len(found) < len(parts):
        return None
    return found[0] if len(found) == 1 else All(found, _since(first, cursor))


def _single(cursor: Cursor, depth: int) -> ConditionForm | None:
    token = cursor.peek()
    if depth > DEEPEST:
        hint = "Let a verb work it out and look at its result."
        cursor.add(Fault.CONDITION, token, f"the condition is nested deeper than {DEEPEST}", hint)
        cursor.give_up()
        return None
    if cursor.takes("not") or cursor.takes("NOT"):
        part = _single(cursor, depth + 1)
        return None if part is None else Not(part, _since(token, cursor))
    if token.kind is Kind.SIGN and token.text == "(":
        if not cursor.enter():
            cursor.open.pop()
            return None
        inner = _joined(cursor, cursor.peek(), depth + 1)
        cursor.leave()
        return inner
    return _test(cursor, token)


def _test(cursor: Cursor, token: Token) -> Test | None:
    name, path = split_path(token.text)
    if token.kind is not Kind.WORD or token.text in RESERVED or not NAME.match(name):
        _no_subject(cursor, token)
        return None
    cursor.next()
    subject = Symbol(name, path, token.span)
    operator = OPERATORS.get(cursor.peek().text) if cursor.peek().kind in (Kind.SIGN, Kind.WORD) else None
    if cursor.peek().text == "=" and cursor.peek().kind is Kind.SIGN:
        cursor.add(Fault.CONDITION, cursor.peek(), "an equals sign alone compares nothing", "Write '=='.")
        operator = "=="
    if operator is None:
        return Test(subject, span=token.span)
    cursor.next()
    value = read_value(cursor)
    return None if value is None else _compared(cursor, token, subject, operator, value)


def _compared(cursor: Cursor, token: Token, subject: Symbol, operator: Operator, value: object) -> Test | None:
    span = _since(token, cursor)
    if operator == "in":
        is_fit = isinstance(value, ListForm) and all(isinstance(each, Literal | Variable) for each in value.items)
        is_fit = is_fit or isinstance(value, Variable)
        hint = 'Write a list after \'in\': case.state in ["open", "held"].'
    else:
        is_fit = isinstance(value, Literal | Variable)
        hint = "A result is compared with a value known beforehand: text, a number, true, false, null or a $variable."
    if not is_fit:
        cursor.add(Fault.CONDITION, token, f"'{shown(token.text)}' is compared with what it cannot be", hint)
        return None
    assert isinstance(value, Literal | Variable | ListForm)
    return Test(subject, operator, value, span)


def _no_subject(cursor: Cursor, token: Token) -> None:
    hint = "A condition looks at a result: IF decision.complete THEN, or IF decision.score >= 3 THEN."
    found = shown(token.text) or "the end of the text"
    reason = "the condition is missing" if token.text in ("THEN", "") else f"'{found}' is not a result"
    cursor.add(Fault.CONDITION, token, reason, hint)
    while not cursor.ends() and cursor.peek().text not in ("THEN", "and", "or", "AND", "OR"):
        if cursor.is_statement():
            break
        cursor.next()


def _since(first: Token, cursor: Cursor) -> Span:
    return Span(first.start, cursor.previous().end, first.line, first.column)
