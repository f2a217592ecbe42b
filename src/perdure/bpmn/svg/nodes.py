"""Nodes as pictures: events, gateways, tasks, subprocesses, call activities."""

from __future__ import annotations

from typing import assert_never

from perdure.bpmn.layout.text_metrics import label_size
from perdure.bpmn.model import (
    Activity,
    Bounds,
    CallActivity,
    Event,
    Gateway,
    Node,
    Shape,
    SubProcess,
    Task,
)  # fmt: skip
from perdure.bpmn.svg.activity_icons import MARKER_STEP, markers, task_icon
from perdure.bpmn.svg.event_symbols import event_symbol, pentagon
from perdure.bpmn.svg.markup import at, circle, path, polygon, rectangle
from perdure.bpmn.svg.text_lines import beginning, fitted, label


def draw_node(node: Node, shape: Shape) -> str:
    """The picture of a node where its shape says."""
    match node:
        case Event():
            return _event(node, shape.bounds) + _outer_label(node, shape)
        case Gateway():
            return _gateway(node, shape.bounds) + _outer_label(node, shape)
        case Task():
            return _task(node, shape.bounds)
        case CallActivity():
            box = shape.bounds
            frame = rectangle(box.x, box.y, box.width, box.height, "box thick", 10)
            return frame + _name(node, box, 0) + _markers(node, box, is_collapsed=True)
        case SubProcess():
            return _subprocess(node, shape)
        case _:
            assert_never(node)


def _outer_label(node: Node, shape: Shape) -> str:
    if not node.name:
        return ""
    box = shape.bounds
    width, height = label_size(node.name)
    below = Bounds(box.x + box.width / 2 - width / 2, box.y + box.height + 3, width, height)
    return label(node.name, shape.label or below)


def _event(event: Event, box: Bounds) -> str:
    x, y, radius = box.x + box.width / 2, box.y + box.height / 2, box.width / 2
    dashed = "" if event.is_interrupting or event.position not in ("start", "boundary") else " dashed"
    ring = circle(x, y, radius, f"box{dashed}" + (" thick" if event.position == "end" else ""))
    if event.position in ("catch", "throw", "boundary"):
        ring += circle(x, y, radius - 3.5, f"line{dashed}")
    return ring + at(x, y, event_symbol(event), radius / 18 * (0.92 if event.position != "start" else 1))


def _gateway(gateway: Gateway, box: Bounds) -> str:
    x, y, half, rise = box.x + box.width / 2, box.y + box.height / 2, box.width / 2, box.height / 2
    diamond = polygon([(x, y - rise), (x + half, y), (x, y + rise), (x - half, y)], "box")
    return diamond + at(x, y, _marker(gateway), half / 25)


def _marker(gateway: Gateway) -> str:
    match gateway.kind:
        case "exclusive":
            return path("M-7,-8L7,8M7,-8L-7,8", "heavy")
        case "parallel":
            return path("M0,-10.5V10.5M-10.5,0H10.5", "heavy")
        case "inclusive":
            return circle(0, 0, 10.5, "heavy")
        case "complex":
            return path("M0,-11V11M-11,0H11M-7.5,-7.5L7.5,7.5M7.5,-7.5L-7.5,7.5", "heavy")
        case "event":
            rings = circle(0, 0, 13.5, "line") + ("" if gateway.is_instantiating else circle(0, 0, 11, "line"))
            return rings + pentagon(7, False)
        case _:
            assert_never(gateway.kind)


def _task(task: Task, box: Bounds) -> str:
    frame = rectangle(box.x, box.y, box.width, box.height, "box", 10)
    icon = at(box.x + 15, box.y + 13.5, task_icon(task.kind)) if task.kind != "none" else ""
    return frame + icon + _name(task, box, 18 if icon else 0) + _markers(task, box)


def _name(activity: Activity, box: Bounds, top: float) -> str:
    foot = 16.0 if markers(activity, isinstance(activity, CallActivity)) else 0.0
    head = top if foot or len(activity.name) > 24 else top * 0.5
    room = Bounds(box.x + 6, box.y + 5 + head, box.width - 12, box.height - 8 - head - foot)
    return fitted(activity.name, room)


def _markers(activity: Activity, box: Bounds, is_collapsed: bool = False) -> str:
    found = markers(activity, is_collapsed)
    left = box.x + box.width / 2 - (len(found) - 1) * MARKER_STEP / 2
    bottom = box.y + box.height - 11
    return "".join(at(left + number * MARKER_STEP, bottom, marker) for number, marker in enumerate(found))


def _subprocess(node: SubProcess, shape: Shape) -> str:
    box = shape.bounds
    dashes = " dotted" if node.kind == "event" else ""
    kind = "scope" if shape.is_expanded and node.body.nodes else "box"
    frame = rectangle(box.x, box.y, box.width, box.height, kind + dashes, 10)
    if node.kind == "transaction":
        frame += rectangle(box.x + 3.5, box.y + 3.5, box.width - 7, box.height - 7, "line", 7)
    marked = _markers(node, box, is_collapsed=not shape.is_expanded)
    if not shape.is_expanded or not node.body.nodes:
        return frame + _name(node, box, 0) + marked
    return frame + beginning(node.name, Bounds(box.x + 12, box.y + 7, box.width - 24, 16), 12) + marked
