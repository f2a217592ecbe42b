"""A group as GLEIF reports it: up to its head, down to its last child, with circles seen and not followed."""

from __future__ import annotations

from collections import deque
from typing import Any

import msgspec

from casework.gleif.client import Gleif
from casework.gleif.records import LeiRecord

MAX_ENTITIES = 500


class Node(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entity of the group. `depth` counts from the entity asked about: parents are negative."""

    lei: str
    name: str
    depth: int
    country: str = ""
    category: str = ""
    status: str = ""
    parent: str = ""
    manager: str = ""
    exception: str = ""
    """Why no parent is reported."""


class Group(msgspec.Struct, frozen=True):
    """What was found; `is_whole` is false when a limit ended the search."""

    entity: str
    nodes: tuple[Node, ...]
    cycles: tuple[tuple[str, ...], ...]
    is_whole: bool

    @property
    def head(self) -> Node:
        return min(self.nodes, key=lambda node: (node.depth, node.lei))

    def told(self) -> dict[str, Any]:
        """As the result of a verb."""
        below = [node for node in self.nodes if node.depth >= 0]
        return {
            "entity": self.entity,
            "hierarchy": [msgspec.to_builtins(node) for node in self.nodes],
            "subsidiaries": [{"lei": node.lei, "name": node.name} for node in below],
            "ultimate_parent": {"lei": self.head.lei, "name": self.head.name},
            "cycles": [list(cycle) for cycle in self.cycles],
            "is_whole": self.is_whole,
        }


async def discover(gleif: Gleif, lei: str, max_depth: int, *, has_funds: bool = True) -> Group:
    """The group of an entity, at most so many levels up and so many down."""
    start = await gleif.record(lei)
    above, up_cycles, is_topped = await _above(gleif, start, max_depth)
    below, down_cycles, is_bottomed = await _below(gleif, start, max_depth, has_funds)
    parent = above[-1].lei if above else ""
    exception = "" if parent else await _why_none(gleif, start)
    here = _node(start, 0, parent=parent, exception=exception)
    cycles = tuple(sorted({_turned(cycle) for cycle in (*up_cycles, *down_cycles)}))
    known = {node.lei for node in above}
    nodes = (*above, here, *(node for node in below if node.lei not in known))
    return Group(lei, nodes, cycles, is_topped and is_bottomed)


async def chain(gleif: Gleif, lei: str, max_depth: int) -> tuple[list[Node], list[tuple[str, ...]], bool]:
    """The entity and its parents, the nearest first."""
    start = await gleif.record(lei)
    above, cycles, is_whole = await _above(gleif, start, max_depth)
    parent = above[-1].lei if above else ""
    exception = "" if parent else await _why_none(gleif, start)
    return [_node(start, 0, parent=parent, exception=exception), *reversed(above)], cycles, is_whole


async def _above(gleif: Gleif, start: LeiRecord, limit: int) -> tuple[list[Node], list[tuple[str, ...]], bool]:
    """Parents, the head first."""
    line, nodes = [start], list[Node]()
    while len(line) <= limit:
        parent = await gleif.parent(line[-1].id)
        if parent is None:
            break
        seen = [record.id for record in line]
        if parent.id in seen:
            return _upward(line), [tuple(seen[seen.index(parent.id) :])], True
        line.append(parent)
    else:
        return _upward(line), [], await gleif.parent(line[-1].id) is None
    nodes = _upward(line)
    if nodes:
        nodes[0] = msgspec.structs.replace(nodes[0], exception=await _why_none(gleif, line[-1]))
    return nodes, [], True


def _upward(line: list[LeiRecord]) -> list[Node]:
    """The line without its first, turned round, each knowing its own parent."""
    parents = [record.id for record in line[2:]] + [""]
    return [_node(record, -depth, parent=parents[depth - 1]) for depth, record in enumerate(line) if depth][::-1]


async def _below(
    gleif: Gleif, start: LeiRecord, limit: int, has_funds: bool
) -> tuple[list[Node], list[tuple[str, ...]], bool]:
    found: dict[str, Node] = {}
    cycles: list[tuple[str, ...]] = []
    is_whole = True
    waiting: deque[tuple[LeiRecord, tuple[str, ...]]] = deque([(start, (start.id,))])
    while waiting:
        record, path = waiting.popleft()
        if has_funds and record.has("managed-funds"):
            for fund in await gleif.managed_funds(record.id):
                found.setdefault(fund.id, _node(fund, len(path), manager=record.id))
        children = await gleif.children(record.id)
        if children and (len(path) > limit or len(found) >= MAX_ENTITIES):
            is_whole = False
            continue
        for child in children:
            if child.id in path:
                cycles.append(path[path.index(child.id) :])
            elif child.id not in found:
                found[child.id] = _node(child, len(path), parent=record.id)
                waiting.append((child, (*path, child.id)))
    return list(found.values()), cycles, is_whole


async def _why_none(gleif: Gleif, record: LeiRecord) -> str:
    exception = await gleif.exception(record.id)
    return "" if exception is None else exception.attributes.reason


def _node(record: LeiRecord, depth: int, parent: str = "", manager: str = "", exception: str = "") -> Node:
    entity = record.attributes.entity
    country = entity.jurisdiction or entity.legal_address.country
    return Node(
        record.id, record.name, depth, country, entity.category or "", entity.status or "", parent, manager, exception
    )


def _turned(cycle: tuple[str, ...]) -> tuple[str, ...]:
    """The same circle always begins with the same entity."""
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]
