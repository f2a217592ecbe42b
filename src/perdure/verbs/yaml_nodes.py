"""Nodes: values that remember where they were written, and the report of what is wrong with them."""

from __future__ import annotations

from typing import Any

from perdure.errors import Problem

MAX_SAID = 1000


class Node:
    """One value of a document: scalar, list or mapping of nodes, with its place (1-based) and path."""

    __slots__ = ("column", "key_places", "line", "path", "size", "value")

    def __init__(self, value: Any, line: int, column: int, path: str) -> None:
        self.value = value
        self.line = line
        self.column = column
        self.path = path
        self.size = 1
        self.key_places: dict[str, tuple[int, int]] = {}

    def plain(self) -> Any:
        """The value without its places."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value

    def beside(self, value: Any, path: str | None = None) -> Node:
        """Another value at the same place."""
        return Node(value, self.line, self.column, self.path if path is None else path)

    def with_children(self, children: dict[str, Node]) -> Node:
        """A mapping at the same place whose keys are found where their values are, or where ours were."""
        node = self.beside(children)
        node.key_places = {key: (child.line, child.column) for key, child in children.items()} | {
            key: place for key, place in self.key_places.items() if key in children
        }
        return node

    def kind(self) -> str:
        """What the value is, in a reader's words."""
        for type_, word in _KINDS:
            if isinstance(self.value, type_):
                return word
        return "nothing"


_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "true or false"),
    (str, "text"),
    (int, "a number"),
    (float, "a number"),
    (list, "a list"),
    (dict, "a mapping"),
)


Place = tuple[str, int, int]
"""File, line and column, both from 1."""


class Report:
    """Collects every problem of every file, so that one run shows them all."""

    MAX_PROBLEMS = 1000

    def __init__(self) -> None:
        self._problems: dict[Problem, None] = {}

    @property
    def is_crowded(self) -> bool:
        """Whether there are already more problems than anyone reads at once."""
        return len(self._problems) >= 100

    @property
    def problems(self) -> list[Problem]:
        return sorted(self._problems, key=lambda problem: (problem.file, problem.line, problem.column))

    def add(self, at: Place, code: str, field: str, reason: str, hint: str = "") -> None:
        if len(self._problems) < self.MAX_PROBLEMS:
            self._problems[Problem(code, *at, field[:MAX_SAID], reason[:MAX_SAID], hint[:MAX_SAID])] = None


def shown_path(node: Node) -> str:
    """The path as people would say it: without the position in the file's outermost list."""
    path = node.path
    return path.partition("]")[2].lstrip(".") or path if path.startswith("[") else path
