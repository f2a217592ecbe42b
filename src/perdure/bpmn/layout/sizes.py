"""How large things are drawn, in pixels: the sizes modellers use."""

from __future__ import annotations

from perdure.bpmn.layout.text_metrics import LABEL_SIZE, LINE, text_width, wrap
from perdure.bpmn.model import Annotation, CallActivity, Event, Gateway, Node, SubProcess, Task

TASK = (100.0, 80.0)
EVENT = 36.0
GATEWAY = 50.0
EMPTY_SUBPROCESS = (140.0, 80.0)
PADDING = 20.0
"""Between the border of a subprocess and what is in it."""
TITLE = 24.0
"""Room for the name of a subprocess."""
HEADER = 30.0
"""Width of the strip that holds the name of a pool or lane."""
ANNOTATION_WIDTH = 140.0
NOTE_SIZE = LABEL_SIZE
SHOWN_ANNOTATIONS = ("text", "data_object_reference", "data_store_reference")
"""Groups have no place of their own, and data objects are shown by their references."""


def node_size(node: Node) -> tuple[float, float]:
    """Width and height of a node that holds nothing."""
    match node:
        case Event():
            return EVENT, EVENT
        case Gateway():
            return GATEWAY, GATEWAY
        case SubProcess():
            return EMPTY_SUBPROCESS
        case Task() | CallActivity():
            return TASK


def annotation_size(annotation: Annotation) -> tuple[float, float]:
    """Width and height of an artifact."""
    match annotation.kind:
        case "data_object_reference":
            return 36.0, 50.0
        case "data_store_reference":
            return 50.0, 50.0
    lines = wrap(annotation.text, ANNOTATION_WIDTH, NOTE_SIZE, max_lines=8)
    widest = max((text_width(line, NOTE_SIZE) for line in lines), default=0.0)
    return max(60.0, widest + 16), max(30.0, len(lines) * NOTE_SIZE * LINE + 12)
