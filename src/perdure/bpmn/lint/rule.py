"""A rule: a module with a code, a name, severities, a page of text and a check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index


class Rule(Protocol):
    """A module of `perdure.bpmn.lint.rules`; its docstring is its page."""

    CODE: str
    NAME: str
    SEVERITIES: Severities

    def check(self, index: Index) -> Iterator[Note]: ...
