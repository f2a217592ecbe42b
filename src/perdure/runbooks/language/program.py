"""The program: calls, choices, conditions and values, whichever form it was written in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.runbooks.plan import Branch, Condition, OnFailure, Operator, Path, Provenance, Reevaluate, Reference
from perdure.verbs.sexpr.forms import (
    NOWHERE,
    Argument,
    CallForm,
    ListForm,
    Literal,
    MapForm,
    Span,
    Symbol,
    Value,
    Variable,
)

__all__ = [
    "NOWHERE", "All", "Argument", "CallForm", "CallSource", "ConditionForm", "Either", "IfForm", "ListForm", "Literal",
    "MapForm", "Not", "Program", "Ref", "Span", "Statement", "Symbol", "Test", "Value", "Var", "Variable",
]  # fmt: skip


class Test(msgspec.Struct, frozen=True):
    """A field of a result, alone or compared with a value."""

    subject: Symbol
    operator: Operator | None = None
    value: Value | None = None
    span: Span = NOWHERE


class Not(msgspec.Struct, frozen=True):
    of: ConditionForm
    span: Span = NOWHERE


class All(msgspec.Struct, frozen=True):
    of: tuple[ConditionForm, ...]
    span: Span = NOWHERE


class Either(msgspec.Struct, frozen=True):
    of: tuple[ConditionForm, ...]
    span: Span = NOWHERE


ConditionForm = Test | Not | All | Either


class IfForm(msgspec.Struct, frozen=True):
    """A choice; the comments named after a branch are those that no statement of it follows."""

    condition: ConditionForm
    then: tuple[Statement, ...] = ()
    otherwise: tuple[Statement, ...] = ()
    span: Span = NOWHERE
    comments: tuple[str, ...] = ()
    then_comments: tuple[str, ...] = ()
    otherwise_comments: tuple[str, ...] = ()
    has_gap: bool = False


Statement = CallForm | IfForm


class Program(msgspec.Struct, frozen=True):
    """Statements in the order written; `comments` are those that no statement follows."""

    statements: tuple[Statement, ...] = ()
    comments: tuple[str, ...] = ()


class Ref(msgspec.Struct, frozen=True):
    """Inside arguments given as JSON: the result of a step, or what a path leads to in it."""

    step: str
    path: Path = ()
    span: Span = NOWHERE
    is_made: bool = False
    """Whether it stands for a nested call, whose step nobody named."""


class Var(msgspec.Struct, frozen=True):
    """Inside arguments given as JSON: a variable, replaced when compiling."""

    name: str
    path: Path = ()
    span: Span = NOWHERE


class CallSource(msgspec.Struct, frozen=True, kw_only=True):
    """A step asked for by a draft, a pack or an agent instead of by text.

    `args` is JSON in which `Ref` and `Var` objects stand for what is not known yet; text is never looked into. Instead
    of `Ref` objects, `references` may say what goes where.
    Without a name it is called after its verb. With a `condition` it is a choice and names no verb.
    """

    verb: str = ""
    args: Mapping[str, Any] = {}
    references: tuple[Reference, ...] = ()
    name: str = ""
    after: tuple[str, ...] = ()
    branches: tuple[Branch, ...] = ()
    condition: Condition | None = None
    on_failure: OnFailure = "fail"
    alternative: str = ""
    gate: str = ""
    reevaluate: Reevaluate = "decisions"
    section: str = ""
    provenance: Mapping[str, Provenance] = {}


def steps_of(path: tuple[str, ...]) -> Path:
    """The path of a symbol as a path into JSON: fields of digits are places in a list."""
    return tuple(int(field) if field.isdecimal() and field.isascii() else field for field in path)
