"""Which nodes may write a flag, whether a reading comes after a writing, and what may happen at the same time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from perdure.bpmn.lint.contract import same_name, same_names
from perdure.bpmn.lint.flag_access import Read, reads, writing_nodes
from perdure.bpmn.lint.flow_graph import end_of, entries, joins
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import Event, Gateway, Node, SubProcess
from perdure.verb_contract import FlagContract

Branches = tuple[list[str], frozenset[str]]
"""Where each branch starts, and where none of them goes on."""


def may_write(index: Index) -> dict[str, list[str]]:
    """The nodes that may write each flag, as far as anything is declared."""
    return _writers(index, surely=False)


def surely_write(index: Index) -> dict[str, list[str]]:
    """The nodes that write each flag because the verb or the flag says so."""
    return _writers(index, surely=True)


def _writers(index: Index, surely: bool) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {name: [] for name in index.flags}
    known: dict[str, list[str]] = {}
    for node, verb in writing_nodes(index):
        if verb not in known:
            known[verb] = [flag.name for flag in index.flags.values() if _writes(index, verb, flag, surely)]
        for flag in known[verb]:
            found[flag].append(node.id)
    return found


def _writes(index: Index, name: str, flag: FlagContract, surely: bool) -> bool:
    verb = index.verbs.get(same_name(name))
    if verb is not None and verb.writes_flags is not None:
        return flag.name in verb.writes_flags
    writers = same_names(flag.writers)
    if not writers and not surely and index.contract is not None:
        writers = index.contract.allowed()
    return same_name(name) in writers


def reads_of(index: Index) -> dict[str, list[Read]]:
    """The readings of each flag."""
    found: dict[str, list[Read]] = defaultdict(list)
    for read in reads(index):
        found[read.flag].append(read)
    return found


def written_before(index: Index, readings: Collection[Read], writers: Collection[str]) -> Iterator[tuple[Read, bool]]:
    """Each reading, with whether some writing may have happened before it."""
    left = [end_of(index, writer) for writer in writers]
    later = index.graph.past(left)
    for read in readings:
        match read.moment:
            case "any":
                yield read, bool(writers)
            case "entry":
                yield read, read.node in later
            case _:
                yield read, end_of(index, read.node) in later or read.node in writers


def reached_without(index: Index, writers: Collection[str]) -> set[str]:
    """What can be entered from a start without any of the writers having done its work: by its boundary events, too."""
    avoided = frozenset(writers)
    reached: set[str] = set()
    left = {process.id for process in index.processes}
    while left:
        reached |= index.graph.reach(left, avoided.__contains__)
        left = {event.id for writer in avoided & reached for event in index.boundaries.get(writer, ())} - reached
    return reached


def concurrent_pairs(index: Index, groups: Mapping[str, Collection[str]]) -> Iterator[tuple[str, str, str]]:
    """For each key, pairs of its nodes that may happen at the same time."""
    wanted = {key: frozenset(nodes) for key, nodes in groups.items() if len(nodes) > 1}
    if not wanted:
        return
    of_interest = frozenset().union(*wanted.values())
    for starts, stops in _forks(index):
        sides = _sides(index, starts, stops, of_interest)
        for key, nodes in wanted.items():
            found = [sorted(side & nodes) for side in sides if side & nodes]
            if len(found) > 1:
                yield key, found[0][0], found[1][0]


def _sides(index: Index, starts: list[str], stops: frozenset[str], of_interest: frozenset[str]) -> list[set[str]]:
    """What of interest only one branch leads to, branch by branch."""
    avoided = stops | frozenset(starts)
    sides = []
    for start in starts:
        others = avoided - {start}
        sides.append(index.graph.reach([start], others.__contains__) & of_interest)
    counts: dict[str, int] = defaultdict(int)
    for side in sides:
        for id in side:
            counts[id] += 1
    return [{id for id in side if counts[id] == 1} for side in sides]


def _forks(index: Index) -> Iterator[Branches]:
    for room in index.rooms:
        outside = frozenset((f"{room.id}/while", f"{room.id}/end"))
        after = joins(index, room)
        for node in room.body.nodes:
            stops = outside | {after[node.id]} if node.id in after else outside
            if is_fork(index, node):
                yield list(dict.fromkeys(flow.target for flow in index.outgoing(node.id))), stops
            if isinstance(node, Event) and node.position == "boundary" and not node.is_interrupting:
                yield [node.attached_to, node.id], outside
            if isinstance(node, SubProcess) and node.kind == "event" and _is_beside(index, node):
                yield [*entries(index, room), node.id], outside


def is_fork(index: Index, node: Node) -> bool:
    """Whether several outgoing flows of a node may be taken at once."""
    outgoing = index.outgoing(node.id)
    if len(outgoing) < 2:
        return False
    if isinstance(node, Gateway):
        return node.kind in ("parallel", "inclusive", "complex")
    return True


def _is_beside(index: Index, node: SubProcess) -> bool:
    return any(isinstance(each, Event) and not each.is_interrupting for each in node.body.nodes)
