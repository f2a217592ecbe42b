"""Which token may move first without hiding anything: one whose moves neither see nor are seen by all the others'.

Branches that do not touch each other need not be tried in every order. A token is chosen when, as long as it stands
still, nothing the others do can enter its element, reach a join it fires, read a flag it writes or write a flag it
reads. What stops it together with its scope belongs to its choice: those moves are tried in each of its states, and
what the others did before is gone with them, unless a flag tells.
"""

from __future__ import annotations

from typing import NamedTuple

from perdure.bpmn.machine.state import Instance, Node
from perdure.bpmn.model import Event, MultiInstance, SubProcess
from perdure.bpmn.proof.enabled_moves import Move
from perdure.bpmn.proof.flag_values import Open
from perdure.bpmn.proof.move_effects import Walk
from perdure.bpmn.proof.process_graph import DONE, Outline, Part
from perdure.bpmn.proof.token_reachability import Flood, Footprint, Standing, is_event_subprocess

LEAVES = frozenset({"job", "task", "wait", "gate", "call"})


class Apart(NamedTuple):
    """A token that may go first, and the nodes around it, whose events must be tried with it."""

    leaf: int
    around: set[int]


class Ample:
    """Chooses. What was worked out for the same places is remembered."""

    def __init__(self, outline: Outline, free: frozenset[str] = frozenset()) -> None:
        self._outline = outline
        self._kept = ~outline.mask(free)
        """Flags that are remembered at all."""
        self._floods: dict[object, Footprint] = {}

    def choose(self, state: Instance, moves: list[Move]) -> Apart | None:
        """Who may go first; None when nobody stands apart, or nobody would be put off."""
        owners = dict.fromkeys(move.owner for move in moves)
        leaves = [owner for owner in owners if state.nodes[owner].kind in LEAVES]
        if len(leaves) < 2 or not self._outline.is_tame:
            return None
        children: dict[int, list[Node]] = {}
        for node in state.nodes.values():
            children.setdefault(node.parent, []).append(node)
        known = self._known(state)
        # The youngest first: one branch is followed to its end before the next, so that choices do not multiply.
        for leaf in sorted(leaves, reverse=True):
            around = self._apart(state, children, state.nodes[leaf], known)
            if around is not None:
                return Apart(leaf, around)
        return None

    def _apart(
        self, state: Instance, children: dict[int, list[Node]], leaf: Node, known: int
    ) -> set[int] | None:  # fmt: skip
        """The nodes around a token that stands apart; None when it does not."""
        part = self._outline.parts.get(leaf.element)
        if part is None or (leaf.job is not None and leaf.job.purpose == "undo"):
            return None
        around: set[int] = set()
        reads, writes, enters, arrives = 0, 0, 0, 0
        shared, own_writes = 0, 0
        node = leaf
        while node.parent:
            above = state.nodes[node.parent]
            others = [each for each in children[above.number] if each.number != node.number]
            seen = self._level(above, node, others, node is leaf)
            if seen is None:
                return None
            reads, writes, arrives = reads | seen.reads, writes | seen.writes, arrives | seen.arrives
            here = self._outline.parts.get(node.element)
            if above.kind == "scope" and here is not None and here.bit & seen.enters and not _is_of_its_own(node, here):
                return None
            enters |= seen.enters
            around.add(above.number)
            told, written = self._around(above)
            shared, own_writes = shared | told, own_writes | written
            node = above
        walk = self._walk(state, children, leaf, part)
        if walk is None or walk.fires & (arrives | enters):
            return None
        own_writes |= self._own_writes(part)
        # A value that is open is read in every way at once: that somebody writes it before adds nothing.
        if (walk.reads | shared) & writes & known or own_writes & (reads | shared) & self._kept:
            return None
        return around

    def _known(self, state: Instance) -> int:
        """Flags that have a certain value now."""
        found = self._outline.bits[DONE]
        for name, bit in self._outline.bits.items():
            if bit & self._kept and type(state.flags.get(name, 0)) is not Open:
                found |= bit
        return found

    def _level(self, above: Node, node: Node, others: list[Node], is_leaf: bool) -> Footprint | None:
        """What the others in the same container may do meanwhile."""
        if above.kind in ("many", "loop"):
            return self._iterations(above, others)
        if above.kind != "scope" or any(each.kind == "undo" for each in others) or (others and self._counts(above)):
            return None
        standing = tuple(sorted((each.element, each.flow if each.kind == "join" else "") for each in others))
        key = (above.element, node.element, standing, above.is_interrupted, is_leaf)
        found = self._floods.get(key)
        if found is None:
            found = self._floods[key] = self._flood(above, node.element, standing, is_leaf)
        return found

    def _flood(self, above: Node, still: str, standing: tuple[Standing, ...], is_leaf: bool) -> Footprint:
        flood = Flood(self._outline, above.element, still)
        part = self._outline.parts.get(still)
        if part is not None and not is_leaf:
            flood.listen(part)
        return flood.walk(standing, listens=not above.is_interrupted)

    def _iterations(self, above: Node, others: list[Node]) -> Footprint | None:
        part = self._outline.parts[above.element]
        repeat = getattr(part.node, "repeat", None)
        if others and isinstance(repeat, MultiInstance) and repeat.completion is not None:
            return None
        if not others:
            return Footprint(part.entry)
        return Footprint(part.reads | part.inner_reads, part.writes | part.inner_writes)

    def _around(self, above: Node) -> tuple[int, int]:
        """Flags that matter when what is around the token is stopped or hears an event, and those such events write."""
        outline = self._outline
        told = outline.always
        written = 0
        part = outline.parts.get(above.element)
        if above.kind == "scope" and not above.is_interrupted:
            for handler in outline.handlers.get(above.element, ()):
                told |= outline.parts[handler].live
                written |= self._start_writes(outline.parts[handler])
        if part is not None:
            for id in part.boundaries:
                told |= outline.parts[id].live
                written |= outline.parts[id].writes
            if self._may_stop(part):
                told |= part.exit | outline.after(part)
        elif outline.is_undone:
            told |= outline.bits[DONE]
        return told, written

    def _start_writes(self, handler: Part) -> int:
        found = 0
        for id in self._outline.members[handler.id]:
            part = self._outline.parts[id]
            if isinstance(part.node, Event) and part.node.position == "start":
                found |= part.writes
        return found

    def _counts(self, above: Node) -> bool:
        """Whether an ad-hoc subprocess may be over with any of its activities."""
        part = self._outline.parts.get(above.element)
        return above.kind == "scope" and part is not None and _has_limit(part)

    def _may_stop(self, part: Part) -> bool:
        """Whether a scope may be ended from inside although tokens stand in it."""
        return _has_limit(part) or any(self._outline.parts[id].kills for id in self._outline.members.get(part.id, ()))

    def _own_writes(self, part: Part) -> int:
        found = part.writes
        for id in part.boundaries:
            found |= self._outline.parts[id].writes
        for id in part.targets:
            found |= self._outline.parts[id].writes if part.node.id and _is_race(part) else 0
        return found

    def _walk(self, state: Instance, children: dict[int, list[Node]], leaf: Node, part: Part) -> Walk | None:
        """How far one command may take the token; None when it may stop others."""
        waiting = {(each.parent, each.element, each.flow) for each in state.nodes.values() if each.kind == "join"}
        node = leaf
        scope = _scope_of(state, leaf)
        walk = Walk(self._outline, lambda element, flow: (scope, element, flow) in waiting)
        self._exits(walk, part)
        if state.nodes[leaf.parent].kind in ("many", "loop"):
            walk.reads |= part.entry  # whether it goes round once more is asked when the iteration ends
        while True:
            above = state.nodes[node.parent] if node.parent else None
            if walk.kills or above is None:
                break
            self._ripen(walk, children[above.number])
            is_alone = len(children[above.number]) == 1
            ends = walk.ends or self._counts(above)
            if not ends or not (is_alone or above.kind in ("many", "loop")):
                break
            outer = self._outline.parts.get(above.element)
            if outer is None:
                break
            if above.many is not None and above.kind == "scope":
                walk.begin(outer)
            outside = _scope_of(state, above)
            # The token that ends may end what is around it as well.
            again = Walk(self._outline, lambda element, flow, scope=outside: (scope, element, flow) in waiting)  # type: ignore[misc]
            again.reads, again.fires, again.kills = walk.reads | outer.entry, walk.fires, walk.kills
            again.leave(outer, 0)
            walk, node = again, above
        return None if walk.kills else walk

    def _exits(self, walk: Walk, part: Part) -> None:
        for id in part.boundaries:
            walk.enter(self._outline.parts[id], 0)
        if _is_race(part):
            for id in part.targets:
                event = self._outline.parts[id]
                walk.leave(event, self._outline.kill(event))
        else:
            walk.leave(part, self._outline.kill(part))

    def _ripen(self, walk: Walk, siblings: list[Node]) -> None:
        """Inclusive joins may fire because this token is no longer before them."""
        for each in siblings:
            join = self._outline.parts.get(each.element) if each.kind == "join" else None
            if join is not None and join.join == "inclusive":
                walk.fires |= join.bit
                walk.enter(join, 0)


def _scope_of(state: Instance, node: Node) -> int:
    current = node.parent
    while current and state.nodes[current].kind != "scope":
        current = state.nodes[current].parent
    return current


def _is_of_its_own(node: Node, part: Part) -> bool:
    """Whether it is an event subprocess at work: when its event occurs again, another one begins beside it."""
    return node.kind == "scope" and is_event_subprocess(part)


def _has_limit(part: Part) -> bool:
    return isinstance(part.node, SubProcess) and part.node.completion is not None


def _is_race(part: Part) -> bool:
    return getattr(part.node, "kind", "") == "event" and not isinstance(part.node, SubProcess)
