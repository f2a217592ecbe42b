"""Finds a line between two boxes around everything in between: simple shapes first, then a bounded search."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator

import msgspec

from perdure.bpmn.layout.index import Index, segment_box
from perdure.bpmn.layout.pieces import Point
from perdure.bpmn.model import Bounds

GRID = 10.0
CLEAR = 4.0
BEND_COST = 30.0
MOST_STEPS = 6_000
"""Points looked at for one line."""
DIRECTIONS = ((0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0))


class Budget(msgspec.Struct):
    """Points that may still be looked at for all lines of one page."""

    left: int = 200_000


def search(source: Bounds, target: Bounds, index: Index, budget: Budget) -> list[Point]:
    """Points from the border of one box to that of the other."""
    for points in _simple(source, target):
        if _is_clear(points, index):
            return points
    found = _searched(source, target, index, budget)
    return found or next(_simple(source, target))


def _is_clear(points: list[Point], index: Index) -> bool:
    return not any(_hits(one, other, index) for one, other in _trimmed(points))


def _trimmed(points: list[Point]) -> Iterator[tuple[Point, Point]]:
    """The pieces of a line without the ends that touch the boxes."""
    last = len(points) - 2
    for number, (one, other) in enumerate(itertools.pairwise(points)):
        start = _towards(one, other) if number == 0 else one
        end = _towards(other, one) if number == last else other
        yield start, end


def _towards(one: Point, other: Point) -> Point:
    length = abs(one[0] - other[0]) + abs(one[1] - other[1])
    share = min(1.0, (CLEAR + 1) / length) if length else 0.0
    return one[0] + (other[0] - one[0]) * share, one[1] + (other[1] - one[1]) * share


def _hits(one: Point, other: Point, index: Index) -> bool:
    return index.hits(segment_box(one, other, CLEAR))


def _simple(source: Bounds, target: Bounds) -> Iterator[list[Point]]:
    """Straight, then with two corners."""
    one, other = _centre(source), _centre(target)
    is_below = target.y >= source.y + source.height
    is_above = source.y >= target.y + target.height
    if is_below or is_above:
        start = source.y + source.height if is_below else source.y
        end = target.y if is_below else target.y + target.height
        for x in _shared(source.x, source.width, target.x, target.width):
            yield [(x, start), (x, end)]
        for share in (0.5, 0.2, 0.8):
            middle = start + (end - start) * share
            yield [(one[0], start), (one[0], middle), (other[0], middle), (other[0], end)]
        return
    is_right = other[0] >= one[0]
    begin = source.x + source.width if is_right else source.x
    finish = target.x if is_right else target.x + target.width
    for y in _shared(source.y, source.height, target.y, target.height):
        yield [(begin, y), (finish, y)]
    middle = (begin + finish) / 2
    yield [(begin, one[1]), (middle, one[1]), (middle, other[1]), (finish, other[1])]


def _shared(start: float, length: float, other_start: float, other_length: float) -> Iterator[float]:
    """Where a straight line touches both: in the middle of one that lies within the other."""
    for middle in (start + length / 2, other_start + other_length / 2):
        if start <= middle <= start + length and other_start <= middle <= other_start + other_length:
            yield middle


def _centre(bounds: Bounds) -> Point:
    return bounds.x + bounds.width / 2, bounds.y + bounds.height / 2


def _ports(bounds: Bounds) -> list[tuple[Point, tuple[float, float]]]:
    """Where a line may touch a box, and in which direction it leaves."""
    x, y = _centre(bounds)
    return [
        ((x, bounds.y + bounds.height), DIRECTIONS[0]), ((x, bounds.y), DIRECTIONS[1]),
        ((bounds.x + bounds.width, y), DIRECTIONS[2]), ((bounds.x, y), DIRECTIONS[3]),
    ]  # fmt: skip


def _away(port: tuple[Point, tuple[float, float]]) -> Point:
    (x, y), (dx, dy) = port
    return x + dx * GRID, y + dy * GRID


Place = tuple[int, int, int]
"""Steps from the first port right and down, and the number of the direction of the last one."""


def _searched(source: Bounds, target: Bounds, index: Index, budget: Budget) -> list[Point] | None:
    """The cheapest way over a grid of points, few corners counting more than a short way."""
    ends = {number: _away(port) for number, port in enumerate(_ports(target))}
    queue: list[tuple[float, float, Point, int, tuple[Point, ...]]] = []
    for number, port in enumerate(_ports(source)):
        queue.append((_far(_away(port), ends), 0.0, _away(port), number, (port[0],)))
    heapq.heapify(queue)
    seen: set[tuple[float, float, int]] = set()
    steps = min(MOST_STEPS, budget.left)
    while queue and steps > 0:
        _, cost, point, direction, line = heapq.heappop(queue)
        if (round(point[0]), round(point[1]), direction) in seen:
            continue
        seen.add((round(point[0]), round(point[1]), direction))
        steps -= 1
        budget.left -= 1
        for number, end in ends.items():
            if (finished := _finish(point, direction, end, index)) is not None:
                return [*line, *finished, _ports(target)[number][0]]
        for turned, (dx, dy) in enumerate(DIRECTIONS):
            following = (point[0] + dx * GRID, point[1] + dy * GRID)
            if turned == direction ^ 1 or _hits(point, following, index):
                continue
            price = cost + GRID + (BEND_COST if turned != direction else 0.0)
            longer = (*line, point) if turned != direction else line
            heapq.heappush(queue, (price + _far(following, ends), price, following, turned, longer))
    return None


def _far(point: Point, ends: dict[int, Point]) -> float:
    return min(abs(point[0] - x) + abs(point[1] - y) for x, y in ends.values())


def _finish(point: Point, direction: int, end: Point, index: Index) -> list[Point] | None:
    """The last corner, once the end lies straight ahead or one free corner away and near."""
    if abs(point[0] - end[0]) + abs(point[1] - end[1]) > 3 * GRID:
        return None
    corner = (point[0], end[1]) if direction < 2 else (end[0], point[1])
    if _hits(point, corner, index) or _hits(corner, end, index):
        return None
    return [point, corner, end]
