"""How high everything stands: wires straightened into threads, threads packed, then drawn to their neighbours."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, insort
from statistics import median_low

import msgspec

from perdure.bpmn.layout.boxes import up_to_ten
from perdure.bpmn.layout.column_graph import Graph, Item, exit_drop
from perdure.bpmn.layout.column_order import neighbours

GAP = 24.0
"""Between what stands above each other in a column."""
SWEEPS = 6


class Thread(msgspec.Struct, eq=False):
    """Items of neighbouring columns on one straight line."""

    items: list[Item]
    y: float = 0.0
    above: list[tuple[Thread, float]] = []
    """Threads that stand directly above in some column, with the distance to keep."""
    below: list[tuple[Thread, float]] = []
    joined: list[tuple[Thread, float]] = []
    """Threads reached by a wire, and how much lower than them this one should stand to keep it straight."""


def place_rows(graph: Graph) -> list[float]:
    """Give every item its height; returns the height of each band, which all begin at 0."""
    links = [(one, other) for one, other, _ in neighbours(graph)]
    drops = {(id(wire.source), id((wire.bends or [wire.target])[0])): exit_drop(wire) for wire in graph.wires}
    threads = _threads(graph, links)
    thread_of = {id(item): thread for thread in threads for item in thread.items}
    for one, other in links:
        upper, lower = thread_of[id(one)], thread_of[id(other)]
        if upper is not lower:
            drop = drops.get((id(one), id(other)), 0.0)
            upper.joined.append((lower, -drop))
            lower.joined.append((upper, drop))
    _stack(graph, thread_of)
    ordered = _packed(threads)
    for sweep in range(SWEEPS):
        for thread in reversed(ordered) if sweep % 2 == 0 else ordered:
            _draw_near(thread)
    for thread in threads:
        for item in thread.items:
            item.y = thread.y
    return _settle_bands(graph)


def _threads(graph: Graph, links: list[tuple[Item, Item]]) -> list[Thread]:
    after = _aligned(graph, links)
    followers = {id(item) for item in after.values()}
    threads = []
    for column in graph.columns:
        for item in column:
            if id(item) not in followers:
                items = [item]
                while (following := after.get(id(items[-1]))) is not None:
                    items.append(following)
                threads.append(Thread(items))
    return threads


def _aligned(graph: Graph, links: list[tuple[Item, Item]]) -> dict[int, Item]:
    """For each item the one to its right that stands at the same height; aligned pairs never cross."""
    main = {(id(wire.source), id(wire.target)) for wire in graph.wires if wire.is_main}
    main |= {
        (id(one), id(other))
        for wire in graph.wires
        if wire.is_main
        for one, other in zip([wire.source, *wire.bends], [*wire.bends, wire.target], strict=True)
    }
    ranked = sorted(links, key=lambda pair: (pair[0].column, _rank(pair, main), pair[0].place, pair[1].place))
    after: dict[int, Item] = {}
    taken: set[int] = set()
    accepted: list[tuple[int, int]] = []
    column = -1
    for one, other in ranked:
        if one.column != column:
            column, accepted = one.column, []
        if one.band != other.band or id(one) in after or id(other) in taken:
            continue
        if _fits(accepted, one.place, other.place):
            after[id(one)] = other
            taken.add(id(other))
            insort(accepted, (one.place, other.place))
    return after


def _rank(pair: tuple[Item, Item], main: set[tuple[int, int]]) -> int:
    if (id(pair[0]), id(pair[1])) in main:
        return 0
    return 1 if pair[0].slot is None and pair[1].slot is None else 2


def _fits(accepted: list[tuple[int, int]], one: int, other: int) -> bool:
    index = bisect_left(accepted, (one, other))
    before = accepted[index - 1] if index else (-1, -1)
    following = accepted[index] if index < len(accepted) else None
    return before[1] < other and (following is None or following[1] > other)


def _stack(graph: Graph, thread_of: dict[int, Thread]) -> None:
    for column in graph.columns:
        for upper, lower in itertools.pairwise(column):
            if upper.band == lower.band:
                distance = upper.below + GAP + lower.above
                above, below = thread_of[id(upper)], thread_of[id(lower)]
                below.above.append((above, distance))
                above.below.append((below, distance))


def _packed(threads: list[Thread]) -> list[Thread]:
    """Each as high as it can stand; returned so that whoever is above comes first."""
    waiting = {id(thread): len(thread.above) for thread in threads}
    ordered = [thread for thread in threads if not thread.above]
    for thread in ordered:
        thread.y = max([item.above for item in thread.items] + [other.y + distance for other, distance in thread.above])
        thread.y = up_to_ten(thread.y)
        for other, _ in thread.below:
            waiting[id(other)] -= 1
            if not waiting[id(other)]:
                ordered.append(other)
    return ordered


def _draw_near(thread: Thread) -> None:
    """Towards the middle of what it is joined to, as far as there is room."""
    if not thread.joined:
        return
    wanted = median_low([other.y + drop for other, drop in thread.joined])
    highest = max([item.above for item in thread.items] + [other.y + distance for other, distance in thread.above])
    lowest = min([other.y - distance for other, distance in thread.below], default=float("inf"))
    thread.y = up_to_ten(min(max(wanted, highest), lowest) - 9.999)
    if thread.y < highest:
        thread.y = min(up_to_ten(highest), lowest)


def _settle_bands(graph: Graph) -> list[float]:
    """Every band begins with its highest item."""
    count = max((item.band for item in graph.items), default=0) + 1
    tops = [float("inf")] * count
    bottoms = [float("-inf")] * count
    for item in graph.items:
        tops[item.band] = min(tops[item.band], item.y - item.above)
        bottoms[item.band] = max(bottoms[item.band], item.y + item.below)
    tops = [math.floor(top / 10) * 10.0 if math.isfinite(top) else 0.0 for top in tops]
    for item in graph.items:
        item.y -= tops[item.band]
    return [max(0.0, bottom - top) for top, bottom in zip(tops, bottoms, strict=True)]
