"""Mistakes in a call program: their stable codes, how they are collected and how they are shown."""

from __future__ import annotations

import difflib
import enum
import re
import unicodedata
from collections.abc import Sequence
from typing import Protocol

from perdure.errors import DefinitionError, Problem

MOST_PROBLEMS = 100
_SHOWN_CHARACTERS = 40
_COMPARED_CHARACTERS = 80
_COMPARED_NAMES = 1000
_LINE_BEFORE, _LINE_SHOWN = 70, 110
_LINE_END = re.compile(r"\r\n|\n|\r")


class Mistake(enum.StrEnum):
    """One code per kind of mistake; a code is never given another meaning."""

    UNCLOSED = "DSL001"
    STRAY_CLOSE = "DSL002"
    MISMATCHED = "DSL003"
    OUTSIDE_CALL = "DSL004"
    MISSING_VERB = "DSL005"
    MALFORMED_VERB = "DSL006"
    KEYWORD_WITHOUT_VALUE = "DSL007"
    VALUE_WITHOUT_KEYWORD = "DSL008"
    KEYWORD_WITHOUT_COLON = "DSL009"
    MALFORMED_KEYWORD = "DSL010"
    UNTERMINATED_STRING = "DSL011"
    BAD_ESCAPE = "DSL012"
    MALFORMED_NUMBER = "DSL013"
    INEXACT_NUMBER = "DSL014"
    BARE_WORD = "DSL015"
    MALFORMED_SYMBOL = "DSL016"
    AS_WITHOUT_SYMBOL = "DSL017"
    AFTER_WITHOUT_LIST = "DSL018"
    DUPLICATE_ARGUMENT = "DSL019"
    MAP_KEY = "DSL020"
    DUPLICATE_KEY = "DSL021"
    DUPLICATE_BINDING = "DSL022"
    UNDEFINED_SYMBOL = "DSL023"
    TOO_DEEP = "DSL024"
    TOO_LARGE = "DSL025"
    UNKNOWN_CHARACTER = "DSL026"
    TOO_MANY = "DSL027"
    ON_FAILURE = "DSL028"
    GATE = "DSL029"
    REEVALUATE = "DSL043"
    UNKNOWN_VERB = "DSL101"
    AMBIGUOUS_VERB = "DSL102"
    UNKNOWN_ARGUMENT = "DSL103"
    MISSING_ARGUMENT = "DSL104"
    OUTSIDE_ENUM = "DSL105"
    NOT_PLAIN = "DSL106"


class Place(Protocol):
    """Anything that knows its line and column, counted from one."""

    @property
    def line(self) -> int: ...

    @property
    def column(self) -> int: ...


class Report:
    """Collects problems of one text, at most `MOST_PROBLEMS` of them and a note that there are more."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._problems: list[Problem] = []
        self._left_out = 0

    @property
    def full(self) -> bool:
        return len(self._problems) >= MOST_PROBLEMS

    @property
    def empty(self) -> bool:
        return not self._problems

    def add(self, mistake: enum.StrEnum, place: Place, reason: str, hint: str, field: str = "") -> None:
        if self.full:
            self._left_out += 1
            return
        self._problems.append(Problem(mistake.value, self.file, place.line, place.column, field, reason, hint))

    def problems(self) -> list[Problem]:
        found = sorted(self._problems, key=lambda problem: (problem.line, problem.column))
        if self._left_out:
            last = found[-1]
            reason = f"further problems ({self._left_out}) were left out"
            hint = "Correct those shown and read the text again."
            found.append(Problem(Mistake.TOO_MANY.value, self.file, last.line, last.column, "", reason, hint))
        return found

    def raise_if_any(self) -> None:
        if self._problems:
            raise DefinitionError(self.problems())


def refuse(mistake: enum.StrEnum, file: str, place: Place, reason: str, hint: str) -> DefinitionError:
    """A definition error of one problem, to be raised by the caller."""
    return DefinitionError([Problem(mistake.value, file, place.line, place.column, "", reason, hint)])


def shown(text: str) -> str:
    """User text fit for a message: short, on one line, printable."""
    short = text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"
    return "".join(character if character.isprintable() else f"U+{ord(character):04X}" for character in short)


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The most similar of `names`, if one is similar enough to suggest; the work is bounded."""
    if len(name) > _COMPARED_CHARACTERS:
        return None
    candidates = [candidate for candidate in names[:_COMPARED_NAMES] if len(candidate) <= _COMPARED_CHARACTERS]
    found = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    return found[0] if found else None


def source_lines(text: str) -> list[str]:
    """The lines of a text, to render many problems of it."""
    return _LINE_END.split(text.removeprefix("\ufeff"))


def render(problem: Problem, text: str | list[str]) -> str:
    """The problem as a person reads it: the place, the source line, a caret, the suggestion."""
    lines = source_lines(text) if isinstance(text, str) else text
    start = max(0, problem.column - 1 - _LINE_BEFORE)
    line = lines[min(problem.line, len(lines)) - 1][start : start + _LINE_SHOWN]
    visible = "".join(character if character.isprintable() else " " for character in line)
    padding = " " * sum(_width(character) for character in visible[: problem.column - 1 - start])
    margin = " " * len(str(problem.line))
    field = f"{problem.field}: " if problem.field else ""
    rows = [
        f"{problem.where()}: {problem.code}: {field}{problem.reason}.",
        f" {problem.line} | {visible}",
        f" {margin} | {padding}^",
    ]
    if problem.hint:
        rows.append(f" {margin} = {problem.hint}")
    return "\n".join(rows)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
