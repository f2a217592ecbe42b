"""Which form a text is in, and its program."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Literal

import msgspec

from perdure.errors import DefinitionError
from perdure.runbooks.language.faults import LARGEST_BYTES, raise_if_any, refused
from perdure.runbooks.language.let.statements import read_let
from perdure.runbooks.language.program import Program
from perdure.verbs.sexpr.forms import Span
from perdure.verbs.sexpr.mistakes import Report
from perdure.verbs.sexpr.reader import read_forms
from perdure.verbs.sexpr.text_limits import check_size

Form = Literal["lisp", "let"]
AnyForm = Literal["auto", "lisp", "let"]
_BOUND = re.compile(r"(?::as[ \t\r\n]++@|\bLET[ \t\r\n]++)([A-Za-z][A-Za-z0-9_-]*+)")
_BLANK = re.compile(r"\s*+(\S?+)")
_NOTES = re.compile(r"(?:\s*+\#[^\n\r]*+)*+\s*+(\S?+)")
"""What a text begins with after blank lines, and after comments that may be of either form."""
_STATEMENT = re.compile(r"^[ \t]*+(?:LET|EXEC|IF|let|exec|if)[ \t]", re.MULTILINE)


def form_of(text: str, file: str = "") -> Form:
    """The form a text is in, by how it begins; the name of its file decides where that says nothing."""
    has_statement = _STATEMENT.search(text) is not None
    is_open = not has_statement and "(" in text and ":" not in text.partition("(")[0]
    begins = (_NOTES if is_open else _BLANK).match(text.removeprefix("\ufeff"))
    if begins is not None and begins[1] in ("(", ";"):
        return "lisp"
    if has_statement:
        return "let"
    return "lisp" if PurePath(file).suffix == ".lisp" or _looks_lisp(text) else "let"


def _looks_lisp(text: str) -> bool:
    """Whether a text without statements of the LET form has what only S-expressions have."""
    return re.search(r"^[ \t]*+\(|[ (]:[A-Za-z]", text, re.MULTILINE) is not None


def read_program(text: str, form: AnyForm = "auto", *, file: str = "<input>") -> Program:
    """The program of a text, or ProgramError with everything that is wrong with how it is written."""
    report = Report(file)
    program = read_into(text, form, report)
    raise_if_any(report, text)
    return program


def read_into(text: str, form: AnyForm, report: Report) -> Program:
    """The statements that could be read; what is wrong is in the report. Only too large a text is refused at once."""
    try:
        return _read(text, form, report)
    except DefinitionError as error:
        raise refused(error.problems) from None


def _read(text: str, form: AnyForm, report: Report) -> Program:
    check_size(text, report.file, LARGEST_BYTES)
    if (form_of(text, report.file) if form == "auto" else form) == "let":
        return read_let(text, report)
    forms = read_forms(text, report)
    return Program(tuple(forms.statements), forms.comments)


class Damage(msgspec.Struct, frozen=True):
    """What could not be read of a text, so that what follows from it alone is not told as well."""

    text: str = ""
    names: frozenset[str] = frozenset()
    """Bound somewhere, perhaps in a statement that was lost."""
    lines: frozenset[int] = frozenset()

    def touches(self, place: Span) -> bool:
        """Whether something is wrong on the lines of a call."""
        if not self.lines:
            return False
        last = place.line + self.text.count("\n", place.start, place.end)
        return any(line in self.lines for line in range(place.line, last + 1))


def damage_of(text: str, report: Report) -> Damage:
    if report.empty:
        return Damage()
    return Damage(text, frozenset(names_in(text)), frozenset(problem.line for problem in report.problems()))


def names_in(text: str) -> set[str]:
    """Names that are bound somewhere in a text, in statements that could not be read as well."""
    return set(_BOUND.findall(text))
