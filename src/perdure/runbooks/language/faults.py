"""Faults of a program beyond its S-expressions, and their messages."""

from __future__ import annotations

import enum
from typing import Literal

import msgspec

from perdure.errors import Problem, ProgramError
from perdure.verbs.sexpr.mistakes import Report, render, shown, source_lines

LARGEST_BYTES = 8 * 1024 * 1024
MOST_STEPS = 10_000
MOST_VALUES = 300_000
"""Values in the arguments of all calls given as JSON."""
DEEPEST = 64


class Fault(enum.StrEnum):
    """One code per kind of fault, continuing those of S-expressions; a code is never given another meaning."""

    NO_STATEMENT = "DSL030"
    LET_WITHOUT_NAME = "DSL031"
    LET_WITHOUT_EXEC = "DSL032"
    MISSING_PARENTHESIS = "DSL033"
    MISSING_COMMA = "DSL034"
    CONDITION = "DSL035"
    IF_WITHOUT_THEN = "DSL036"
    IF_WITHOUT_END = "DSL037"
    WITHOUT_IF = "DSL038"
    AFTER_NOTHING = "DSL039"
    OPTION_TWICE = "DSL040"
    RESERVED_WORD = "DSL041"
    NOT_IN_THIS_FORM = "DSL042"
    WRONG_VALUE = "DSL107"
    CYCLE = "DSL108"
    NO_SUCH_FIELD = "DSL109"
    WRONG_TYPE = "DSL110"
    MISSING_VARIABLE = "DSL111"
    OTHER_BRANCH = "DSL112"
    UNDECIDABLE = "DSL113"
    NOT_A_DECISION = "DSL114"
    NO_RESULT = "DSL115"
    TOO_MANY_STEPS = "DSL116"
    NO_CHOICE = "DSL117"
    MALFORMED_CALL = "DSL118"


def raise_if_any(report: Report, text: str = "") -> None:
    """Refuse the program when anything was found in it."""
    if not report.empty:
        raise refused(report.problems(), text)


def refused(problems: list[Problem], text: str = "") -> ProgramError:
    """The error that tells all problems, with the lines they are on as far as there is a text."""
    source = source_lines(text)
    lines = [render(problem, source) if text else problem.sentence() for problem in problems]
    error = ProgramError(problems, "\n".join(lines))
    if text:
        error.data["text"] = text
    return error


class Style(msgspec.Struct, frozen=True):
    """The way of one form; calls given as JSON are advised as in the LET form."""

    form: Literal["lisp", "let"] = "let"

    def argument(self, name: str) -> str:
        return f":{name.replace('_', '-')} value" if self.form == "lisp" else f"{name}: value"

    def result(self, name: str) -> str:
        return f"@{shown(name)}" if self.form == "lisp" else f"'{shown(name)}'"

    def undefined(self, name: str) -> str:
        if self.form == "lisp":
            return f"Bind it with ':as @{shown(name)}' on the call whose result it is."
        return f"Bind it with 'LET {shown(name)} = EXEC …', or put text in double quotes: \"{shown(name)}\"."
