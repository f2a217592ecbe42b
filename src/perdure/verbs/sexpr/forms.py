"""The forms a call program is made of, each knowing where in the text it stood."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec


class Span(msgspec.Struct, frozen=True, gc=False):
    """A stretch of source text: offsets in characters (end exclusive), line and column counted from one."""

    start: int
    end: int
    line: int
    column: int


NOWHERE = Span(0, 0, 1, 1)


class Literal(msgspec.Struct, frozen=True):
    """A string, number, boolean or nil (None)."""

    value: str | int | float | bool | None
    span: Span = NOWHERE


class Symbol(msgspec.Struct, frozen=True):
    """`@name`, the result of the call bound to that name, or with a path a field of it: `@name.field`."""

    name: str
    path: tuple[str, ...] = ()
    span: Span = NOWHERE


class Variable(msgspec.Struct, frozen=True):
    """`$name`, a value given when the program is compiled, or with a path a field of it: `$name.field`."""

    name: str
    path: tuple[str, ...] = ()
    span: Span = NOWHERE


class ListForm(msgspec.Struct, frozen=True):
    """`[a b c]`."""

    items: tuple[Value, ...] = ()
    span: Span = NOWHERE


class Argument(msgspec.Struct, frozen=True):
    """`:name value`, in a call or in a map; the name is kept as written, without its colon.

    An exact one is the key of a map in which `-` and `_` differ; no S-expression stands for it.
    """

    name: str
    value: Value
    span: Span = NOWHERE
    is_exact: bool = False

    @property
    def key(self) -> str:
        """The name as JSON has it."""
        return self.name if self.is_exact else snake(self.name)


class MapForm(msgspec.Struct, frozen=True):
    """`{:key value}`."""

    entries: tuple[Argument, ...] = ()
    span: Span = NOWHERE


class CallForm(msgspec.Struct, frozen=True):
    """`(verb :name value :as @bind :after [@a @b])`; `comments` are those before and inside a statement.

    `on_failure` is what follows when the step fails ("" where nothing is said), `alternative` the verb that decides
    then, and someone of the group `gate` must agree before it runs. `reevaluate` is "always" for a decision that is
    asked again at every resume.
    """

    verb: str
    args: tuple[Argument, ...] = ()
    bind: Symbol | None = None
    after: tuple[Symbol, ...] = ()
    span: Span = NOWHERE
    comments: tuple[str, ...] = ()
    on_failure: str = ""
    alternative: str = ""
    gate: str = ""
    has_gap: bool = False
    """Whether a blank line stands before it."""
    reevaluate: str = ""

    @property
    def qualified(self) -> bool:
        """Whether the verb names its domain; a bare name is resolved later, when it is unique."""
        return "." in self.verb


class Program(msgspec.Struct, frozen=True):
    """Statements in the order written; `comments` are those that no statement follows."""

    statements: tuple[CallForm, ...] = ()
    comments: tuple[str, ...] = ()


Value = Literal | Symbol | Variable | ListForm | MapForm | CallForm


def snake(name: str) -> str:
    """The one name that `case-type` and `case_type` share."""
    return name.replace("-", "_")


def walk(values: Iterable[Value]) -> Iterator[Value]:
    """Every value in and under `values`, in the order of the text; names bound by `:as` are not values."""
    waiting = list(values)[::-1]
    while waiting:
        value = waiting.pop()
        yield value
        waiting.extend(reversed(_children(value)))


def calls(program: Program) -> Iterator[CallForm]:
    """Every call of the program, nested ones included, outer before inner."""
    return (value for value in walk(program.statements) if isinstance(value, CallForm))


def _children(value: Value) -> tuple[Value, ...]:
    match value:
        case ListForm(items=items):
            return items
        case MapForm(entries=entries):
            return tuple(entry.value for entry in entries)
        case CallForm(args=args, after=after):
            return (*(argument.value for argument in args), *after)
        case _:
            return ()
