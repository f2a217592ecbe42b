"""How wide channels between columns are, and on which line in them each wire changes its height."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterator

import msgspec

from perdure.bpmn.layout.channel_routes import Crossing, Way
from perdure.bpmn.layout.column_graph import Graph
from perdure.bpmn.layout.text_metrics import label_size

TRACK = 14.0
MARGIN = 18.0
NARROWEST = 50.0
MOST_SHARED = 1_500
"""With more bundles than that in one channel each gets a line of its own, so that the work stays linear."""


class _Bundle(msgspec.Struct, eq=False):
    crossings: list[Crossing]
    low: float = 0.0
    high: float = 0.0
    track: int = 0


def place_columns(graph: Graph, ways: list[Way]) -> tuple[list[float], float]:
    """The middle of each column and the whole width; every crossing gets its line."""
    channels: dict[int, list[Crossing]] = {}
    for way in ways:
        for crossing in way.crossings:
            channels.setdefault(crossing.channel, []).append(crossing)
    rooms = _label_rooms(ways)
    x = _channel(channels.get(-1, []), 0.0, 0.0, is_outer=True)
    middles = []
    for number, column in enumerate(graph.columns):
        left = max((item.left for item in column), default=0.0)
        right = max((item.right for item in column), default=0.0)
        middle = round((x + left) / 10 + 0.4999) * 10.0
        middles.append(middle)
        is_last = number == len(graph.columns) - 1
        x = _channel(channels.get(number, []), middle + right, rooms.get(number, 0.0), is_outer=is_last)
    return middles, x


def _label_rooms(ways: list[Way]) -> dict[int, float]:
    rooms: dict[int, float] = {}
    for way in ways:
        if way.wire.name and way.crossings and not way.wire.is_back:
            first = way.crossings[0].channel
            rooms[first] = max(rooms.get(first, 0.0), label_size(way.wire.name)[0] + 8)
    return rooms


def _channel(crossings: list[Crossing], x: float, room: float, is_outer: bool) -> float:
    """Where the channel that begins at `x` ends."""
    bundles = _bundles(crossings)
    count = _assign_tracks(bundles)
    for bundle in bundles:
        for crossing in bundle.crossings:
            crossing.x = x + MARGIN + bundle.track * TRACK
    if is_outer:
        return x + (MARGIN + count * TRACK if count else 0.0)
    return x + max(NARROWEST, MARGIN + count * TRACK + max(MARGIN, room))


def _bundles(crossings: list[Crossing]) -> list[_Bundle]:
    """Those that change their height; the others run straight through."""
    found: dict[object, _Bundle] = {}
    for crossing in crossings:
        found.setdefault(crossing.key, _Bundle([])).crossings.append(crossing)
    for bundle in found.values():
        heights = [height for each in bundle.crossings for height in (each.start, each.end)]
        bundle.low, bundle.high = min(heights), max(heights)
    bent = [bundle for bundle in found.values() if bundle.high > bundle.low]
    return sorted(bent, key=_turn)


def _turn(bundle: _Bundle) -> tuple[bool, float, float]:
    """Who turns first: of those that go down the lowest, of those that go up the highest, so that they nest."""
    is_down = sum(each.end - each.start for each in bundle.crossings) > 0
    return (is_down, -bundle.low, -bundle.high) if is_down else (is_down, bundle.low, bundle.high)


def _assign_tracks(bundles: list[_Bundle]) -> int:
    taken: list[list[tuple[float, float]]] = []
    for bundle, least in _from_left(bundles):
        track = least
        while track < len(taken) and (len(bundles) > MOST_SHARED or not _is_free(taken[track], bundle)):
            track = len(taken) if len(bundles) > MOST_SHARED else track + 1
        while len(taken) <= track:
            taken.append([])
        insort(taken[track], (bundle.low, bundle.high))
        bundle.track = track
    return len(taken)


def _is_free(spans: list[tuple[float, float]], bundle: _Bundle) -> bool:
    index = bisect_left(spans, (bundle.low - 4, bundle.low - 4))
    is_clear_above = index == 0 or spans[index - 1][1] < bundle.low - 4
    return is_clear_above and (index == len(spans) or spans[index][0] > bundle.high + 4)


def _from_left(bundles: list[_Bundle]) -> Iterator[tuple[_Bundle, int]]:
    """Bundles with the least track each may take, given those of the bundles before it.

    Who comes from the left at the height at which another goes to the right must turn before it; where that goes
    round in a circle, somebody has to give way.
    """
    comers: dict[float, list[_Bundle]] = {}
    goers: dict[float, list[_Bundle]] = {}
    for bundle in bundles:
        for height in _heights(bundle, "left"):
            comers.setdefault(height, []).append(bundle)
        for height in _heights(bundle, "right"):
            goers.setdefault(height, []).append(bundle)
    after: dict[int, list[_Bundle]] = {}
    waiting = {id(bundle): 0 for bundle in bundles}
    for height, early in comers.items():
        for one in early:
            for other in goers.get(height, ()):
                if one is not other:
                    after.setdefault(id(one), []).append(other)
                    waiting[id(other)] += 1
    return _in_turn(bundles, after, waiting)


def _in_turn(
    bundles: list[_Bundle], after: dict[int, list[_Bundle]], waiting: dict[int, int]
) -> Iterator[tuple[_Bundle, int]]:
    least = {id(bundle): 0 for bundle in bundles}
    ready = deque(bundle for bundle in bundles if not waiting[id(bundle)])
    rest = iter(bundles)
    done: set[int] = set()
    while len(done) < len(bundles):
        bundle = ready.popleft() if ready else next(each for each in rest if id(each) not in done)
        if id(bundle) in done:
            continue
        done.add(id(bundle))
        yield bundle, least[id(bundle)]
        for other in after.get(id(bundle), ()):
            least[id(other)] = max(least[id(other)], bundle.track + 1)
            waiting[id(other)] -= 1
            if not waiting[id(other)]:
                ready.append(other)


def _heights(bundle: _Bundle, side: str) -> set[float]:
    return {
        height
        for each in bundle.crossings
        for height, where in zip((each.start, each.end), each.sides, strict=True)
        if where == side
    }
