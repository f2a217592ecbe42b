"""Which boxes are near: a coarse grid, so that asking does not depend on how many boxes there are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from perdure.bpmn.layout.boxes import Point, overlaps
from perdure.bpmn.model import Bounds

CELL = 120.0
MOST_CELLS = 4_000
"""A box over more cells than that is kept aside and always looked at."""
LONGEST = 10_000.0
"""Pieces of line longer than that are not minded, or thousands of them would be asked about each time."""


class Lines:
    """Pieces of line, level and upright apart: whether another one would run along them."""

    def __init__(self) -> None:
        self._level = Index()
        self._upright = Index()

    def add(self, points: tuple[Point, ...]) -> None:
        for one, other in itertools.pairwise(points):
            if abs(one[0] - other[0]) + abs(one[1] - other[1]) < LONGEST:
                self._like(one, other).add(segment_box(one, other, 1))

    def are_along(self, one: Point, other: Point) -> bool:
        return self._like(one, other).hits(segment_box(one, other, 3))

    def _like(self, one: Point, other: Point) -> Index:
        return self._level if abs(one[1] - other[1]) < 0.5 else self._upright


class Index:
    """Boxes that can be asked for by place."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], dict[Bounds, None]] = {}
        self._large: list[Bounds] = []

    def add(self, bounds: Bounds) -> None:
        cells = list(_cells(bounds))
        if len(cells) == MOST_CELLS:
            self._large.append(bounds)
            return
        for cell in cells:
            self._cells.setdefault(cell, {})[bounds] = None

    def add_line(self, points: tuple[Point, ...]) -> None:
        """A line as thin boxes."""
        for one, other in itertools.pairwise(points):
            if abs(one[0] - other[0]) + abs(one[1] - other[1]) < LONGEST:
                self.add(segment_box(one, other, 0.5))

    def hits(self, bounds: Bounds) -> bool:
        """Whether any box overlaps this one."""
        if any(overlaps(bounds, other) for other in self._large):
            return True
        return any(overlaps(bounds, other) for cell in _cells(bounds) for other in self._cells.get(cell, ()))


def segment_box(one: Point, other: Point, margin: float) -> Bounds:
    """The box around a straight piece of line."""
    left, top = min(one[0], other[0]), min(one[1], other[1])
    width, height = abs(one[0] - other[0]), abs(one[1] - other[1])
    return Bounds(left - margin, top - margin, width + 2 * margin, height + 2 * margin)


def _cells(bounds: Bounds) -> Iterator[tuple[int, int]]:
    count = 0
    for column in range(int(bounds.x // CELL), int((bounds.x + bounds.width) // CELL) + 1):
        for row in range(int(bounds.y // CELL), int((bounds.y + bounds.height) // CELL) + 1):
            yield column, row
            count += 1
            if count == MOST_CELLS:
                return
