"""Wires as lines: the points of each, once columns and channels have their places."""

from __future__ import annotations

from perdure.bpmn.layout.boxes import Point, tidy
from perdure.bpmn.layout.channel_routes import Way
from perdure.bpmn.layout.node_attachments import Slot


def line_of(way: Way, middles: list[float]) -> tuple[Point, ...]:
    """From the border of the source to the border of the target, in right angles."""
    points = [*_start(way, middles)]
    for crossing in way.crossings:
        if crossing.start != crossing.end:
            points += [(crossing.x, crossing.start), (crossing.x, crossing.end)]
    return tidy([*points, *_end(way, middles)])


def _start(way: Way, middles: list[float]) -> list[Point]:
    wire, source = way.wire, way.wire.source
    middle, slot = middles[source.column], _slot(source.slot)
    if wire.exit:
        return [(middle + x, source.y + y) for x, y in slot.exits[wire.exit]]
    if way.leaves == "side":
        return [(middle + slot.width / 2, source.y)]
    height = wire.bends[0].y if wire.is_back else way.crossings[0].start
    return [(middle, _border(source.y, slot, way.leaves)), (middle, height)]


def _end(way: Way, middles: list[float]) -> list[Point]:
    wire, target = way.wire, way.wire.target
    middle, slot = middles[target.column], _slot(target.slot)
    if way.arrives == "side":
        return [(middle - slot.width / 2, target.y)]
    height = wire.bends[-1].y if wire.is_back else way.crossings[-1].end
    return [(middle, height), (middle, _border(target.y, slot, way.arrives))]


def _border(y: float, slot: Slot, side: str) -> float:
    return y - slot.height / 2 if side == "above" else y + slot.height / 2


def _slot(slot: Slot | None) -> Slot:
    assert slot is not None  # wires begin and end at slots, only bends have none
    return slot
