"""Faults of a program beyond its S-expressions, and their messages."""

from __future__ import annotations

import enum

from perdure.errors import Problem, ProgramError
from perdure.verbs.sexpr.mistakes import Report, render

LARGEST_BYTES = 8 * 1024 * 1024
MOST_STEPS = 10_000
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
    lines = [render(problem, text) if text else problem.sentence() for problem in problems]
    error = ProgramError(problems, "\n".join(lines))
    if text:
        error.data["text"] = text
    return error
