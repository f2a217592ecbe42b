"""Pools, lanes and artifacts drawn as SVG."""

from __future__ import annotations

from perdure.bpmn.layout.sizes import HEADER
from perdure.bpmn.layout.text_metrics import label_size
from perdure.bpmn.model import Annotation, Bounds, Shape
from perdure.bpmn.svg.markup import path, rectangle
from perdure.bpmn.svg.text_lines import beginning, centred, label, upright


def draw_pool(name: str, shape: Shape, is_black_box: bool) -> str:
    """A pool; one without a process is only a name in a box."""
    box = shape.bounds
    frame = rectangle(box.x, box.y, box.width, box.height, "pool")
    if is_black_box:
        return frame + centred(name, Bounds(box.x + 6, box.y + 6, box.width - 12, box.height - 12))
    return frame + _header(name, shape, "header")


def draw_lane(name: str, shape: Shape) -> str:
    box = shape.bounds
    return rectangle(box.x, box.y, box.width, box.height, "lane") + _header(name, shape, "")


def _header(name: str, shape: Shape, kind: str) -> str:
    box = shape.bounds
    if shape.is_horizontal:
        strip = Bounds(box.x, box.y, HEADER, box.height)
        text = upright(name, strip)
    else:
        strip = Bounds(box.x, box.y, box.width, HEADER)
        text = centred(name, strip)
    return (rectangle(strip.x, strip.y, strip.width, strip.height, kind) if kind else "") + text


def draw_annotation(annotation: Annotation, shape: Shape) -> str:
    """A text with its bracket, or another artifact."""
    box = shape.bounds
    match annotation.kind:
        case "text":
            bracket = path(f"M{box.x + 10},{box.y}H{box.x}V{box.y + box.height}H{box.x + 10}", "thin")
            room = Bounds(box.x + 7, box.y + 5, max(box.width - 9, 40), box.height - 6)
            return bracket + beginning(annotation.text, room)
        case "group":
            return rectangle(box.x, box.y, box.width, box.height, "line dotdash", 10) + _below(annotation, shape)
        case "data_store_reference":
            return _store(box) + _below(annotation, shape)
        case "data_object" | "data_object_reference":
            return _sheet(box) + _below(annotation, shape)


def _below(annotation: Annotation, shape: Shape) -> str:
    if not annotation.name:
        return ""
    box = shape.bounds
    width, height = label_size(annotation.name)
    return label(
        annotation.name, shape.label or Bounds(box.x + box.width / 2 - width / 2, box.y + box.height + 3, width, height)
    )


def _sheet(box: Bounds) -> str:
    right, bottom = box.x + box.width, box.y + box.height
    fold = min(box.width, box.height) * 0.28
    outline = f"M{box.x},{box.y}H{right - fold}L{right},{box.y + fold}V{bottom}H{box.x}Z"
    return path(outline, "box") + path(f"M{right - fold},{box.y}V{box.y + fold}H{right}", "line")


def _store(box: Bounds) -> str:
    right, depth = box.x + box.width, box.height * 0.13
    top, bottom = box.y + depth, box.y + box.height - depth
    arc = f"A{box.width / 2},{depth} 0 0"
    body = f"M{box.x},{top}{arc} 1 {right},{top}V{bottom}{arc} 1 {box.x},{bottom}Z"
    rings = "".join(f"M{box.x},{top + step}{arc} 0 {right},{top + step}" for step in (0, depth, 2 * depth))
    return path(body, "box") + path(rings, "line")
