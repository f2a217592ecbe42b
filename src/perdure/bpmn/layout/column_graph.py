"""The graph a layout works on: items in columns, and wires that run from item to item through the columns."""

from __future__ import annotations

import msgspec

from perdure.bpmn.layout.node_attachments import Slot

BEND = 6.0
"""Half the room a wire takes where it passes a column."""


class Item(msgspec.Struct, eq=False):
    """Something that stands in a column: a slot, or the place where a long wire passes."""

    band: int
    above: float
    below: float
    left: float
    right: float
    slot: Slot | None = None
    column: int = 0
    place: int = 0
    """Counted from the top of its column."""
    y: float = 0.0
    """Of its axis."""
    beside: Item | None = None
    """For the first and last place of a wire that runs back: the node it turns round."""


class Wire(msgspec.Struct, eq=False):
    """One flow between two items. `exit` is the boundary event it leaves from, if any."""

    flow: str
    name: str
    source: Item
    target: Item
    exit: str = ""
    is_back: bool = False
    """Runs from right to left, or within a column."""
    length: int = 1
    """The least number of columns between its ends."""
    bends: list[Item] = []
    """Where it passes columns, from source to target."""
    is_outside: bool = False
    """Too long for bends: it runs below everything."""
    is_main: bool = False


class Graph(msgspec.Struct, eq=False):
    """Items in the order of the file, wires likewise; columns once they are known."""

    items: list[Item] = []
    wires: list[Wire] = []
    columns: list[list[Item]] = []


def exit_drop(wire: Wire) -> float:
    """How far below the axis of its source a wire leaves the slot."""
    slot = wire.source.slot
    return slot.exits[wire.exit][-1][1] if wire.exit and slot is not None else 0.0


def slot_item(slot: Slot, band: int) -> Item:
    return Item(band, slot.above, slot.below, slot.left, slot.right, slot)
