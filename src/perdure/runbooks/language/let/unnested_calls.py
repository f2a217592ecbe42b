"""Statements of S-expressions as the LET form can write them: only statements have names there."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from perdure.runbooks.language.program import (
    Argument,
    CallForm,
    IfForm,
    ListForm,
    MapForm,
    Program,
    Statement,
    Symbol,
    Value,
)
from perdure.runbooks.language.step_lowering import bindings


def unnested(program: Program) -> Program:
    """Nested calls that have a name or a say of their own as statements before the one they stand in.

    S-expressions can name a call inside another; the LET form names statements only.
    """
    taken = {symbol.name for symbol in bindings(program.statements)}
    return msgspec.structs.replace(program, statements=tuple(_unnested(program.statements, taken)))


def _unnested(statements: tuple[Statement, ...], taken: set[str]) -> Iterator[Statement]:
    for statement in statements:
        if isinstance(statement, IfForm):
            yield statement
            continue
        before: list[CallForm] = []
        args = tuple(_lifted_argument(argument, before, taken) for argument in statement.args)
        if not before:
            yield statement
            continue
        first = msgspec.structs.replace(before[0], comments=statement.comments, has_gap=statement.has_gap)
        yield from (first, *before[1:])
        yield msgspec.structs.replace(statement, args=args, comments=(), has_gap=False)


def _lifted_argument(argument: Argument, before: list[CallForm], taken: set[str]) -> Argument:
    return msgspec.structs.replace(argument, value=_lifted(argument.value, before, taken))


def _lifted(value: Value, before: list[CallForm], taken: set[str]) -> Value:
    match value:
        case ListForm(items=items):
            return msgspec.structs.replace(value, items=tuple(_lifted(item, before, taken) for item in items))
        case MapForm(entries=entries):
            lifted = tuple(_lifted_argument(entry, before, taken) for entry in entries)
            return msgspec.structs.replace(value, entries=lifted)
        case CallForm(args=args):
            call = msgspec.structs.replace(value, args=tuple(_lifted_argument(each, before, taken) for each in args))
            if not (call.bind or call.after or call.on_failure or call.gate or call.reevaluate):
                return call
            bind = call.bind or Symbol(_fresh(call.verb.rpartition(".")[2], taken), (), call.span)
            before.append(msgspec.structs.replace(call, bind=bind))
            return Symbol(bind.name, (), call.span)
        case _:
            return value


def _fresh(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    taken.add(name)
    return name
