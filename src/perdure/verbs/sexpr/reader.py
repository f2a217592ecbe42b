"""Reads a call program and reports every mistake found in it, each with its place."""

from __future__ import annotations

import re
from collections.abc import Collection

from perdure.verbs.sexpr.bracket_outline import Outline
from perdure.verbs.sexpr.forms import CallForm, Program, Symbol, walk
from perdure.verbs.sexpr.mistakes import Mistake, Report, nearest, shown
from perdure.verbs.sexpr.statement_reader import StatementReader
from perdure.verbs.sexpr.text_limits import check_size
from perdure.verbs.sexpr.tokens import tokens

LARGEST_BYTES = 1024 * 1024
_BINDING = re.compile(r":as[ \t\r\n]++@([A-Za-z][A-Za-z0-9_-]*+)")


def read(text: str, *, file: str = "<input>", bound: Collection[str] = ()) -> Program:
    """The program in `text`; `bound` are names that earlier programs of a session already bound.

    Raises DefinitionError with all problems found, in the order of the text.
    """
    check_size(text, file, LARGEST_BYTES)
    report = Report(file)
    program = read_forms(text, report)
    _check_names(program, {*bound, *_names_in_broken(text, report)}, report)
    report.raise_if_any()
    return program


def read_forms(text: str, report: Report) -> Program:
    """The statements of `text` that could be read; what is wrong is in the report, names are not looked at."""
    outline = Outline(list(tokens(text, report)), report)
    read_calls = [StatementReader(statement, report).call() for statement in outline.statements]
    return Program(tuple(call for call in read_calls if call), tuple(outline.comments))


def _names_in_broken(text: str, report: Report) -> list[str]:
    """Names bound in statements that could not be read, lest each use of them be reported as well."""
    return [] if report.empty else _BINDING.findall(text)


def _check_names(program: Program, known: set[str], report: Report) -> None:
    first: dict[str, Symbol] = {}
    uses: list[Symbol] = []
    for value in walk(program.statements):
        if isinstance(value, Symbol):
            uses.append(value)
        elif isinstance(value, CallForm) and value.bind:
            _bind(value.bind, first, report)
    names = [*first, *sorted(known - first.keys())]
    for symbol in uses:
        if symbol.name not in first and symbol.name not in known:
            _undefined(symbol, names, report)


def _bind(symbol: Symbol, first: dict[str, Symbol], report: Report) -> None:
    earlier = first.setdefault(symbol.name, symbol)
    if earlier is not symbol:
        reason = f"@{shown(symbol.name)} is already bound on line {earlier.span.line}, column {earlier.span.column}"
        hint = "Give this call another name."
        report.add(Mistake.DUPLICATE_BINDING, symbol.span, reason, hint)


def _undefined(symbol: Symbol, names: list[str], report: Report) -> None:
    similar = None if report.full else nearest(symbol.name, names)
    name = shown(symbol.name)
    hint = f"Did you mean @{similar}?" if similar else f"Bind it with ':as @{name}' on the call whose result it is."
    reason = f"no call is bound to @{name}"
    report.add(Mistake.UNDEFINED_SYMBOL, symbol.span, reason, hint)
