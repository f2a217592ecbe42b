"""The symbols inside events, drawn around 0, 0 for an event of 36 pixels; thrown ones are filled."""

from __future__ import annotations

import math
from typing import assert_never

from perdure.bpmn.layout.boxes import Point
from perdure.bpmn.model import (
    CancelTrigger,
    CompensationTrigger,
    ConditionalTrigger,
    ErrorTrigger,
    EscalationTrigger,
    Event,
    LinkTrigger,
    MessageTrigger,
    SignalTrigger,
    TerminateTrigger,
    TimerTrigger,
    Trigger,
)  # fmt: skip
from perdure.bpmn.svg.markup import circle, path, polygon, rectangle


def event_symbol(event: Event) -> str:
    """What tells the kind of an event."""
    is_thrown = event.position in ("throw", "end")
    if not event.triggers:
        return ""
    if len(event.triggers) > 1:
        return _plus() if event.is_parallel else pentagon(9.5, is_thrown)
    return _symbol(event.triggers[0], is_thrown)


def _symbol(trigger: Trigger, is_thrown: bool) -> str:
    kind = "full" if is_thrown else "thin"
    match trigger:
        case MessageTrigger():
            return envelope(9.5, 6.5, is_thrown)
        case TimerTrigger():
            return clock()
        case SignalTrigger():
            return polygon([(0, -9.5), (9, 6.5), (-9, 6.5)], kind)
        case ErrorTrigger():
            return polygon([(-9.5, 8.5), (-4, -7.5), (3, 2.5), (9.5, -9), (4.5, 7.5), (-3, -2)], kind)
        case EscalationTrigger():
            return polygon([(0, -10), (7.5, 8.5), (0, 1.5), (-7.5, 8.5)], kind)
        case CompensationTrigger():
            return rewind(10.5, 7.0, kind)
        case LinkTrigger():
            return polygon([(-10, -4), (2, -4), (2, -8.5), (10.5, 0), (2, 8.5), (2, 4), (-10, 4)], kind)
        case ConditionalTrigger():
            return rectangle(-7, -9, 14, 18, "thin") + path("M-4.5,-5.5h9M-4.5,-1.8h9M-4.5,1.8h9M-4.5,5.5h9", "thin")
        case TerminateTrigger():
            return circle(0, 0, 10.5, "full")
        case CancelTrigger():
            return polygon([_turned(point, 45) for point in _cross(9.5, 2.2)], kind)
        case _:
            assert_never(trigger)


def envelope(half_width: float, half_height: float, is_filled: bool) -> str:
    w, h = half_width, half_height
    frame = rectangle(-w, -h, 2 * w, 2 * h, "full" if is_filled else "hollow")
    return frame + path(f"M{-w},{-h}L0,{h * 0.25:.2f}L{w},{-h}", "inlay" if is_filled else "thin")


def clock() -> str:
    ticks = "".join(
        f"M{9.6 * math.sin(a):.2f},{-9.6 * math.cos(a):.2f}L{8 * math.sin(a):.2f},{-8 * math.cos(a):.2f}"
        for a in (number * math.pi / 6 for number in range(12))
    )
    return circle(0, 0, 10.5, "thin") + path(ticks, "thin") + path("M1.5,-7L0,0.5L5.5,0.5", "thin")


def pentagon(radius: float, is_filled: bool) -> str:
    points = [(radius * math.sin(a), -radius * math.cos(a)) for a in (number * 2 * math.pi / 5 for number in range(5))]
    return polygon(points, "full" if is_filled else "thin")


def rewind(half_width: float, half_height: float, kind: str) -> str:
    """Two triangles to the left."""
    w, h = half_width, half_height
    return polygon([(-w, 0), (-0.5, -h), (-0.5, h)], kind) + polygon([(-0.5, 0), (w - 1, -h), (w - 1, h)], kind)


def _plus() -> str:
    return polygon(_cross(10.0, 2.8), "thin")


def _cross(arm: float, half: float) -> list[Point]:
    return [
        (-half, -arm), (half, -arm), (half, -half), (arm, -half), (arm, half), (half, half),
        (half, arm), (-half, arm), (-half, half), (-arm, half), (-arm, -half), (-half, -half),
    ]  # fmt: skip


def _turned(point: Point, degrees: float) -> Point:
    angle = math.radians(degrees)
    x, y = point
    return x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)
