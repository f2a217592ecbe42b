"""Places: the file and line where a part of a workflow was written, and the refusal that names them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from perdure.errors import DefinitionError, Problem

_OURS = str(Path(__file__).parent)


class Place(NamedTuple):
    file: str
    line: int
    column: int = 1


def caller() -> Place:
    """The nearest line outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno)


def problem(place: Place, code: str, field: str, reason: str, hint: str = "") -> Problem:
    """One finding of a workflow; `code` is the part after `workflow.`."""
    return Problem(f"workflow.{code}", place.file, place.line, place.column, field, reason, hint)


def refusal(place: Place, code: str, field: str, reason: str, hint: str = "") -> DefinitionError:
    """The refusal of one part of a workflow."""
    return DefinitionError([problem(place, code, field, reason, hint)])
