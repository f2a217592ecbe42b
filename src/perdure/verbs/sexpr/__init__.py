"""S-expressions: call programs such as `(kyc.open-case :entity "Allianz" :as @case)`, read, checked and written."""

from __future__ import annotations

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
    calls,
    walk,
)
from perdure.verbs.sexpr.json_arguments import arguments
from perdure.verbs.sexpr.mistakes import Mistake, render
from perdure.verbs.sexpr.program_check import ArgumentShape, VerbShape, check
from perdure.verbs.sexpr.reader import read
from perdure.verbs.sexpr.writer import write

__all__ = [
    "Argument",
    "ArgumentShape",
    "CallForm",
    "ListForm",
    "Literal",
    "MapForm",
    "Mistake",
    "Program",
    "Span",
    "Symbol",
    "Value",
    "Variable",
    "VerbShape",
    "arguments",
    "calls",
    "check",
    "read",
    "render",
    "walk",
    "write",
]
