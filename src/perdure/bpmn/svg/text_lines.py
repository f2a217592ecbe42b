"""Texts in pictures, broken into lines."""

from __future__ import annotations

from perdure.bpmn.layout.text_metrics import LABEL_SIZE, LINE, text_width, wrap
from perdure.bpmn.model import Bounds
from perdure.bpmn.svg.markup import element, escaped, number

NAME_SIZE = 12.0


def fitted(text: str, box: Bounds) -> str:
    """A name in the middle of a box, in smaller letters where it would be cut."""
    for size in (NAME_SIZE, 11.0, 10.0):
        if len(wrap(text, box.width, size, 99)) * size * LINE <= box.height:
            return centred(text, box, size)
    return centred(text, box, 10.0)


def centred(text: str, box: Bounds, size: float = NAME_SIZE, kind: str = "") -> str:
    """A text in the middle of a box, cut where it does not fit."""
    room = max(1, int(box.height // (size * LINE)))
    lines = wrap(text, box.width, size, room)
    middle = box.y + box.height / 2 - (len(lines) - 1) * size * LINE / 2
    return _lines(lines, box.x + box.width / 2, middle, size, kind, "middle")


def label(text: str, box: Bounds) -> str:
    """A text beside what it names; boxes of other tools may be too small, so only their middle and top count."""
    width = max(box.width, 90.0)
    lines = wrap(text, width, LABEL_SIZE)
    return _lines(lines, box.x + box.width / 2, box.y + LABEL_SIZE * LINE / 2, LABEL_SIZE, "halo", "middle")


def beginning(text: str, box: Bounds, size: float = LABEL_SIZE, kind: str = "") -> str:
    """A text that begins in the upper left corner of a box."""
    lines = wrap(text, box.width, size, max(1, int(box.height // (size * LINE))))
    return _lines(lines, box.x, box.y + size * LINE / 2, size, kind, "start")


def upright(text: str, box: Bounds) -> str:
    """A text that runs from bottom to top in the middle of a narrow box."""
    size = NAME_SIZE
    lines = wrap(text, max(box.height - 8, 20.0), size, 2 if box.width > 28 else 1)
    x, y = box.x + box.width / 2, box.y + box.height / 2
    first = y - (len(lines) - 1) * size * LINE / 2
    turned = f"rotate(-90 {number(x)} {number(y)})"
    return element("g", _lines(lines, x, first, size, "", "middle"), transform=turned)


def badge_width(text: str, size: float) -> float:
    """How wide a badge with this text is."""
    return max(size * 1.7, text_width(text, size) + size)


def _lines(lines: list[str], x: float, y: float, size: float, kind: str, anchor: str) -> str:
    # Moved down by a third of the size instead of dominant-baseline, which many readers do not know.
    spans = [
        element("tspan", escaped(line), x=x, y=y + size * 0.35 + place * size * LINE)
        for place, line in enumerate(lines)
    ]
    return element("text", spans, font_size=size, text_anchor=anchor, class_=kind) if spans else ""
