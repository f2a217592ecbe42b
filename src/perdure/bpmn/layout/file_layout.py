"""The layout of a file: pools or processes one below the other, lanes as bands, and edges between them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from perdure.bpmn.layout.boxes import Block
from perdure.bpmn.layout.cross_scope_edges import tie
from perdure.bpmn.layout.scope_layout import Bands, lay_out_scope
from perdure.bpmn.layout.sizes import HEADER, SHOWN_ANNOTATIONS, annotation_size
from perdure.bpmn.model import Bounds, Collaboration, Definitions, Diagram, Lane, Participant, Process, Shape

MARGIN = 20.0
POOL_GAP = 60.0
BLACK_BOX = (200.0, 60.0)
CORNER = (160.0, 80.0)
"""Where modellers begin."""


def lay_out(definitions: Definitions) -> Diagram:
    """A readable diagram of everything in the file, the same for the same file."""
    collaboration = definitions.collaboration or Collaboration(id="")
    processes = {process.id: process for process in definitions.processes}
    pooled = {each.process for each in collaboration.participants}
    blocks = [_pool(each, processes.get(each.process)) for each in collaboration.participants]
    widest = max((block.width for block in blocks), default=0.0)
    blocks = [_widened(block, widest) for block in blocks]
    blocks += [_process(process) for process in definitions.processes if process.id not in pooled]
    page = _stacked([_notes(collaboration), *blocks])
    page.edges.extend(tie(definitions, page))
    plane = definitions.collaboration.id if definitions.collaboration else next(iter(processes), definitions.id)
    return Diagram(plane=plane, shapes=tuple(page.shapes), edges=tuple(page.edges))


def _stacked(blocks: list[Block]) -> Block:
    page = Block()
    x, y = CORNER
    for block in blocks:
        if block.shapes:
            page.put(block, x, y)
            y += math.ceil(block.height / 10) * 10 + POOL_GAP
    return page


def _process(process: Process) -> Block:
    """A process without a pool; with lanes it still has its bands."""
    if process.lanes:
        return _banded(process, 0.0)
    return lay_out_scope(process.body).block


def _pool(participant: Participant, process: Process | None) -> Block:
    if process is None:
        pool = Block(*BLACK_BOX)
    elif process.lanes:
        pool = _banded(process, HEADER)
    else:
        body = lay_out_scope(process.body).block
        pool = Block(HEADER + body.width + 2 * MARGIN, max(body.height, 60.0) + 2 * MARGIN)
        pool.put(body, HEADER + MARGIN, MARGIN + max(0.0, 60.0 - body.height) / 2)
    pool.width, pool.height = (math.ceil(side / 10) * 10.0 for side in (pool.width, pool.height))
    pool.shapes.insert(0, Shape(element=participant.id, bounds=Bounds(0, 0, pool.width, pool.height)))
    return pool


def _widened(pool: Block, width: float) -> Block:
    """All pools are as wide as the widest, and so are the lanes that reach its right border."""
    shapes = [
        Shape(element=shape.element, bounds=Bounds(box.x, box.y, width - box.x, box.height))
        if box.x + box.width == pool.width
        else shape
        for shape in pool.shapes
        for box in (shape.bounds,)
    ]
    return Block(width, pool.height, shapes, pool.edges)


def _banded(process: Process, left: float) -> Block:
    """A process in lanes, to the right of the header of its pool."""
    leaves = [leaf for lane in process.lanes for leaf in _leaves(lane)]
    of = {member: number for number, lane in enumerate(leaves) for member in lane.members}
    for lane in process.lanes:
        _inherit(lane, leaves, of)
    is_whole = all(node.id in of for node in process.body.nodes)
    laid_out = lay_out_scope(process.body, Bands(len(leaves) + (0 if is_whole else 1), of))
    headers = left + HEADER * max(_depth(lane) for lane in process.lanes)
    block = Block(math.ceil((headers + laid_out.block.width + 2 * MARGIN) / 10) * 10.0, laid_out.block.height)
    spans = iter(laid_out.bands)
    for lane in process.lanes:
        _put_lane(block, lane, spans, left)
    block.put(laid_out.block, headers + MARGIN, 0.0)
    return block


def _leaves(lane: Lane) -> list[Lane]:
    return [leaf for inner in lane.lanes for leaf in _leaves(inner)] or [lane]


def _depth(lane: Lane) -> int:
    return 1 + max((_depth(inner) for inner in lane.lanes), default=0)


def _inherit(lane: Lane, leaves: list[Lane], of: dict[str, int]) -> None:
    """Members of an outer lane that no inner one names stand in its first inner one."""
    first = next(number for number, leaf in enumerate(leaves) if leaf is _leaves(lane)[0])
    for member in lane.members:
        of.setdefault(member, first)
    for inner in lane.lanes:
        _inherit(inner, leaves, of)


def _put_lane(block: Block, lane: Lane, spans: Iterator[tuple[float, float]], left: float) -> tuple[float, float]:
    """Put a lane with the lanes in it; returns its top and height."""
    place = len(block.shapes)
    inner = [_put_lane(block, each, spans, left + HEADER) for each in lane.lanes]
    top, height = (inner[0][0], sum(each[1] for each in inner)) if inner else next(spans)
    shape = Shape(element=lane.id, bounds=Bounds(left, top, block.width - left, height))
    block.shapes.insert(place, shape)
    return top, height


def _notes(collaboration: Collaboration) -> Block:
    """Annotations that belong to no process, in a row."""
    block = Block()
    for annotation in collaboration.annotations:
        if annotation.kind in SHOWN_ANNOTATIONS:
            width, height = annotation_size(annotation)
            block.shapes.append(Shape(element=annotation.id, bounds=Bounds(block.width, 0, width, height)))
            block.width += width + MARGIN
            block.height = max(block.height, height)
    return block
