"""The small pictures in activities: what kind of task it is, and the markers at the lower border."""

from __future__ import annotations

import math
from typing import assert_never

from perdure.bpmn.layout.boxes import Point
from perdure.bpmn.model import Activity, MultiInstance, StandardLoop, SubProcess, TaskKind
from perdure.bpmn.svg.event_symbols import envelope, rewind
from perdure.bpmn.svg.markup import at, circle, path, polygon, rectangle

MARKER_STEP = 18.0


def task_icon(kind: TaskKind) -> str:
    """Around 0, 0 in about 18 pixels."""
    match kind:
        case "none":
            return ""
        case "service":
            return at(-1.8, -1.8, _gear(6.4)) + at(3.2, 3.2, _gear(6.4))
        case "send":
            return envelope(9, 6, True)
        case "receive":
            return envelope(9, 6, False)
        case "user":
            return _person()
        case "manual":
            return _hand()
        case "script":
            return _scroll()
        case "business_rule":
            return _table()
        case _:
            assert_never(kind)


def markers(activity: Activity, is_collapsed: bool) -> list[str]:
    """What stands in a row at the lower border, each around 0, 0."""
    found = []
    if is_collapsed:
        found.append(rectangle(-7, -7, 14, 14, "thin") + path("M0,-4.5V4.5M-4.5,0H4.5", "thin"))
    match activity.repeat:
        case StandardLoop():
            found.append(path("M-2.2,6.2A6.2,6.2 0 1 1 2.6,6M-6.2,6.6L-2,6.4L-2.6,2.2", "line"))
        case MultiInstance(is_sequential=True):
            found.append(path("M-6,-5H6M-6,0H6M-6,5H6", "line"))
        case MultiInstance():
            found.append(path("M-5,-6V6M0,-6V6M5,-6V6", "line"))
        case None:
            pass
        case _:
            assert_never(activity.repeat)
    if activity.is_for_compensation:
        found.append(rewind(8, 6, "thin"))
    if isinstance(activity, SubProcess) and activity.kind == "ad_hoc":
        found.append(path("M-7,2.5C-5.5,-4.5 -2.5,-4 0,-0.5S5.5,3.5 7,-2.5C5.5,6.5 2,4.5 0,2S-4.5,-2 -7,2.5Z", "full"))
    return found


def _gear(radius: float) -> str:
    points: list[Point] = []
    teeth = 8
    for number in range(teeth):
        for share, length in ((-0.32, 0.76), (-0.2, 1.0), (0.2, 1.0), (0.32, 0.76)):
            angle = (number + share) * 2 * math.pi / teeth
            points.append((radius * length * math.sin(angle), -radius * length * math.cos(angle)))
    return polygon(points, "hollow") + circle(0, 0, radius * 0.34, "hollow")


def _person() -> str:
    body = path("M-7.5,8.5V5C-7.5,1.8 -5,0.2 -2.6,-0.4H2.6C5,0.2 7.5,1.8 7.5,5V8.5Z", "hollow")
    return body + path("M-4,8.5V5.5M4,8.5V5.5", "thin") + circle(0, -4.2, 4.3, "hollow") + _hair()


def _hair() -> str:
    return path("M-4.3,-4.6C-4.2,-10 4.2,-10 4.3,-4.6C2.6,-6.6 0.4,-4.8 -1,-6C-2.2,-6.4 -3.4,-5.6 -4.3,-4.6Z", "full")


def _hand() -> str:
    outline = (
        "M-8.5,-1.5L-3.2,-6.6C-2.4,-7.3 -1,-6.6 -1.6,-5.4L-3,-3H7.4C9.2,-3 9.2,-0.6 7.4,-0.6H2.5H8"
        "C9.8,-0.6 9.8,1.9 8,1.9H2.5H7C8.7,1.9 8.7,4.3 7,4.3H2.5H5.3C6.9,4.3 6.9,6.6 5.3,6.6H-4C-6.2,6.6 -8.5,5 -8.5,3Z"
    )
    return path(outline, "hollow")


def _scroll() -> str:
    sheet = path("M-2.5,-8.5H7.5C1.5,-4.5 10,-1.5 4,8.5H-7C-0.5,-1 -8.5,-4 -2.5,-8.5Z", "hollow")
    return sheet + path("M-2,-5.5H3M-2.2,-2H4.2M-1,1.5H5.2M-3,5H3.8", "thin")


def _table() -> str:
    head = rectangle(-8.5, -6.5, 17, 4.2, "full")
    return rectangle(-8.5, -6.5, 17, 13, "hollow") + head + path("M-8.5,2.1H8.5M-3.5,-2.3V6.5", "thin")
