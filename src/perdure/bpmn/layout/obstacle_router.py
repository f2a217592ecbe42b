"""The obstacle router leads a line between two boxes around all others: simple shapes first, then a bounded search."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator

import msgspec

from perdure.bpmn.layout.boxes import Point
from perdure.bpmn.layout.spatial_index import Index, Lines, segment_box
from perdure.bpmn.model import Bounds

STUB = 10.0
"""How far a line runs straight from a box."""
GRID = 20.0
EAGERNESS = 1.4
"""How much nearness to the end counts: a little more than it should finds good lines much sooner than the best."""
CLEAR = 4.0
BEND_COST = 40.0
ALONG_COST = 40.0
"""For a step on top of another line."""
MOST_STEPS = 4_000
"""Points looked at for one line."""
DIRECTIONS = ((0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0))
Port = tuple[Point, tuple[float, float]]
"""Where a line may touch a box, and in which direction it leaves."""


class Budget(msgspec.Struct):
    """Points that may still be looked at for all lines of one page."""

    left: int = 200_000


def search(source: Bounds, target: Bounds, index: Index, lines: Lines, budget: Budget) -> list[Point]:
    """Points from the border of one box to that of the other."""
    for points in _simple(source, target):
        if _is_clear(points, index) and not any(lines.are_along(*piece) for piece in _trimmed(points)):
            return points
    found = _searched(source, target, index, lines, budget)
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


def _ports(bounds: Bounds) -> list[Port]:
    """Below, above, right, left: in the order of `DIRECTIONS`."""
    x, y = _centre(bounds)
    return [
        ((x, bounds.y + bounds.height), DIRECTIONS[0]), ((x, bounds.y), DIRECTIONS[1]),
        ((bounds.x + bounds.width, y), DIRECTIONS[2]), ((bounds.x, y), DIRECTIONS[3]),
    ]  # fmt: skip


def _away(port: Port) -> Point:
    (x, y), (dx, dy) = port
    return x + dx * STUB, y + dy * STUB


class _Step(msgspec.Struct, frozen=True, order=True):
    """A point reached: what it costs at least to the end, what it cost so far, from where and in which direction."""

    estimate: float
    cost: float
    point: Point
    direction: int
    """Into `DIRECTIONS`; -1 once the line is complete."""
    line: tuple[Point, ...]


def _searched(source: Bounds, target: Bounds, index: Index, lines: Lines, budget: Budget) -> list[Point] | None:
    """The cheapest way over a grid of points, few corners counting more than a short way."""
    ends = _ports(target)
    queue = [_first(number, port, ends) for number, port in enumerate(_ports(source))]
    heapq.heapify(queue)
    seen: set[tuple[int, int, int]] = set()
    left = min(MOST_STEPS, budget.left)
    while queue and left > 0:
        step = heapq.heappop(queue)
        if step.direction < 0:
            return list(step.line)
        place = (round(step.point[0]), round(step.point[1]), step.direction)
        if place in seen:
            continue
        seen.add(place)
        left -= 1
        budget.left -= 1
        for following in (*_finished(step, ends, index), *_further(step, ends, index, lines)):
            heapq.heappush(queue, following)
    return None


def _first(number: int, port: Port, ends: list[Port]) -> _Step:
    point = _away(port)
    return _Step(_side_cost(number) + _far(point, ends), _side_cost(number), point, number, (port[0],))


def _side_cost(number: int) -> float:
    """Flows touch nodes at their sides, so these lines had better do so above or below."""
    return 0.0 if number < 2 else 2 * BEND_COST


def _finished(step: _Step, ends: list[Port], index: Index) -> Iterator[_Step]:
    """The last corner, once an end is near and one free corner away."""
    for number, port in enumerate(ends):
        end = _away(port)
        if abs(step.point[0] - end[0]) + abs(step.point[1] - end[1]) <= 2 * GRID:
            corner = (step.point[0], end[1]) if step.direction < 2 else (end[0], step.point[1])
            if not _hits(step.point, corner, index) and not _hits(corner, end, index):
                cost = step.cost + _side_cost(number) + _bends(step, port)
                yield _Step(cost, cost, end, -1, (*step.line, step.point, corner, end, port[0]))


def _bends(step: _Step, port: Port) -> float:
    """A line goes best into its end the way it came."""
    into = (-port[1][0], -port[1][1])
    return 0.0 if DIRECTIONS[step.direction] == into else BEND_COST


def _further(step: _Step, ends: list[Port], index: Index, lines: Lines) -> Iterator[_Step]:
    for turned, (dx, dy) in enumerate(DIRECTIONS):
        following = (step.point[0] + dx * GRID, step.point[1] + dy * GRID)
        if turned == step.direction ^ 1 or _hits(step.point, following, index):
            continue
        is_bend = turned != step.direction
        cost = step.cost + GRID + (BEND_COST if is_bend else 0.0)
        cost += ALONG_COST if lines.are_along(step.point, following) else 0.0
        line = (*step.line, step.point) if is_bend else step.line
        yield _Step(cost + _far(following, ends), cost, following, turned, line)


def _far(point: Point, ends: list[Port]) -> float:
    return EAGERNESS * min(abs(point[0] - x) + abs(point[1] - y) for (x, y), _ in ends)
