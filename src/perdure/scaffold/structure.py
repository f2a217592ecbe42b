"""From flows to statements: gateways become choices, flows that lead back become loops, forks become branches.

Every flow graph of exclusive choices whose loops are entered at one place has such a form. Where a way leaves two
loops at once, or joins another one from the side, its tail is written again, at most `MOST_COPIES` times; beyond that
the element is refused by name.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from perdure.bpmn.contract import Contract
from perdure.bpmn.model import Scope, SubProcess, nodes
from perdure.scaffold.flow_graph import EXIT, FlowGraph, Vertex, Way, dominators, flow_graph, refused
from perdure.scaffold.program import (
    Again,
    Arm,
    Body,
    Choice,
    Do,
    End,
    Fail,
    Fork,
    Leave,
    Loop,
    Program,
    Side,
    Statement,
    never_goes_on,
)

MOST_COPIES = 3
_HINT = "Put the part that is reached from several sides into an embedded subprocess."


def program_of(contract: Contract) -> Program:
    """The process as a program. Raises RejectedError by the name of the first element that no statement says."""
    inner = [node for node in nodes(contract.process.body) if isinstance(node, SubProcess)]
    body = scope_body(contract.process.body, contract, contract.process.id)
    scopes = {node.id: scope_body(node.body, contract, node.id) for node in inner}
    bindings = {id: f"activity {work.definition.type}" for id, work in contract.work.items()}
    bindings |= {id: f"message {wait.name}" for id, wait in contract.waits.items()}
    bindings |= {id: f"update {gate.update}" for id, gate in contract.gates.items()}
    return Program(body, scopes, bindings)


def scope_body(scope: Scope, contract: Contract, scope_id: str) -> Body:
    graph = flow_graph(scope, contract, scope_id)
    return _Structure(graph).whole()


class _LoopAt(msgspec.Struct, frozen=True):
    header: str
    members: frozenset[str]
    after: str
    """Where leaving it leads; empty when every way out ends the scope."""


class _Context(msgspec.Struct, frozen=True):
    """`follow`: what comes after the statements being written. `stop`: where the branch ends."""

    follow: str
    stop: str
    loop: _LoopAt | None = None


class _Structure:
    def __init__(self, graph: FlowGraph) -> None:
        self._graph = graph
        self._reached = self._reach(graph.entry)
        before: dict[str, list[str]] = {id: [] for id in (*self._reached, EXIT)}
        for id in self._reached:
            for target in graph.targets(id):
                before[target].append(id)
        self._dominators = dominators(graph.entry, (*self._reached, EXIT), lambda id: before[id])
        self._check_endless(before)
        self._after = dominators(EXIT, (*self._reached, EXIT), lambda id: list(graph.targets(id)))
        self._loops = self._find_loops(before)
        self._copies: Counter[str] = Counter()

    def whole(self) -> Body:
        return self._statements(self._graph.entry, _Context(EXIT, EXIT))

    def _reach(self, start: str) -> list[str]:
        found, waiting = dict.fromkeys([start]), [start]
        while waiting:
            for target in self._graph.targets(waiting.pop()):
                if target != EXIT and target not in found:
                    found[target] = None
                    waiting.append(target)
        return sorted(found, key=lambda id: self._graph.order[id])

    def _check_endless(self, before: dict[str, list[str]]) -> None:
        ending, waiting = {EXIT}, [EXIT]
        while waiting:
            for id in before[waiting.pop()]:
                if id not in ending:
                    ending.add(id)
                    waiting.append(id)
        for id in self._reached:
            if id not in ending:
                raise refused(id, "no way leads from it to an end event", "Lead a flow out of the loop.")

    def _find_loops(self, before: dict[str, list[str]]) -> dict[str, _LoopAt]:
        members: dict[str, set[str]] = {}
        for id in self._reached:
            for target in self._graph.targets(id):
                if target in self._dominators[id]:
                    members.setdefault(target, {target}).update(self._leading_to(id, target, before))
        self._check_entries(set(members))
        return {header: _LoopAt(header, frozenset(inside), self._exit(inside)) for header, inside in members.items()}

    def _leading_to(self, id: str, header: str, before: dict[str, list[str]]) -> set[str]:
        found, waiting = {id}, [id]
        while waiting:
            at = waiting.pop()
            if at == header:
                continue
            for other in before[at]:
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return found

    def _check_entries(self, headers: set[str]) -> None:
        """A loop that is entered at two places has no beginning: with its headers gone, a cycle remains."""
        remaining, removed = set(self._reached), True
        while removed:
            gone = {
                id for id in remaining if not any(t in remaining and not self._leads_back(id, t, headers)
                                                  for t in self._graph.targets(id))
            }  # fmt: skip
            remaining, removed = remaining - gone, bool(gone)
        if remaining:
            first = min(remaining, key=lambda id: self._graph.order[id])
            raise refused(first, "it is in a loop that is entered at two places", _HINT)

    def _leads_back(self, id: str, target: str, headers: set[str]) -> bool:
        return target in headers and target in self._dominators[id]

    def _exit(self, members: set[str]) -> str:
        """Where a loop is left to: what all ways out have in common, else the way that has most after it."""
        outs = dict.fromkeys(t for id in self._ordered(members) for t in self._graph.targets(id) if t not in members)
        real = [out for out in outs if out != EXIT]
        if len(real) <= 1:
            return real[0] if real else EXIT
        shared = set.intersection(*(self._after[out] for out in real)) - {EXIT}
        for out in self._ordered(shared):
            if all(out in self._after[each] for each in real) and self._is_nearest(out, shared):
                return out
        return max(real, key=lambda out: (len(self._reach(out)), -self._graph.order[out]))

    def _is_nearest(self, id: str, among: set[str]) -> bool:
        return all(other in self._after[id] for other in among)

    def _ordered(self, ids: set[str] | frozenset[str]) -> list[str]:
        return sorted(ids, key=lambda id: self._graph.order.get(id, -1))

    def _meeting(self, id: str) -> str:
        """The nearest place that every way from a node passes."""
        later = self._after[id] - {id}
        return next((each for each in later if all(other in self._after[each] for other in later)), EXIT)

    def _statements(self, at: str, context: _Context, *, begins: bool = False) -> Body:
        found: list[Statement] = []
        while True:
            if not begins and (end := self._ending(at, context)) is not None:
                return (*found, *end)
            begins = False
            loop = self._loops.get(at)
            if loop is not None and (context.loop is None or context.loop.header != at):
                inner = self._statements(at, _Context(at, context.stop, loop), begins=True)
                found.append(Loop(at, inner))
                if never_goes_on(tuple(found)):
                    return tuple(found)
                at = loop.after
                continue
            written, after = self._one(self._graph.vertices[at], context)
            found += written
            if after is None:
                return tuple(found)
            at = after

    def _ending(self, at: str, context: _Context) -> Body | None:
        """What is written where the statements are at their end; None when they are not."""
        loop = context.loop
        if at == context.follow:
            return ()
        if loop is not None and at == loop.header:
            return (Again(),)
        if loop is not None and at == loop.after and at != EXIT:
            return (Leave(),)
        if at == context.stop:
            return (End(),)
        return None

    def _one(self, vertex: Vertex, context: _Context) -> tuple[Body, str | None]:
        """The statements of one vertex, and where it goes on; None when they say all of it."""
        self._count(vertex)
        match vertex.kind:
            case "pass":
                return (), vertex.ways[0].target
            case "step":
                return (self._do(vertex),), vertex.ways[0].target
            case "fork":
                return self._fork(vertex)
            case "end":
                return self._end(vertex, context), None
            case _:
                return self._choice(vertex, context)

    def _count(self, vertex: Vertex) -> None:
        self._copies[vertex.id] += 1
        if vertex.kind != "end" and self._copies[vertex.id] > MOST_COPIES:
            raise refused(vertex.id, f"ways reach it from more than {MOST_COPIES} sides that do not meet", _HINT)

    def _do(self, vertex: Vertex) -> Do:
        sides = (Side(way.event, self._side(way)) for way in vertex.sides)
        return Do(vertex.id, tuple(sides))

    def _side(self, way: Way) -> Body:
        """A path of its own, from an event that does not interrupt to its end."""
        crossing = [id for id in self._reach_from(way.target) if id in self._reached]
        if crossing:
            raise refused(way.event, f"its path joins the main one at '{crossing[0]}'", "Lead it to its own end event.")
        graph = msgspec.structs.replace(self._graph, entry=way.target)
        return _Structure(graph).whole() if way.target != EXIT else ()

    def _reach_from(self, start: str) -> list[str]:
        return self._reach(start) if start != EXIT else []

    def _end(self, vertex: Vertex, context: _Context) -> Body:
        if vertex.error:
            return (Fail(vertex.id, vertex.error),)
        if context.stop != EXIT:
            raise refused(
                vertex.id, f"it ends a branch that '{context.stop}' waits for", "Lead the branch to its join."
            )
        return (End(vertex.id),)

    def _fork(self, vertex: Vertex) -> tuple[Body, str | None]:
        join = self._meeting(vertex.id)
        if join != EXIT:
            self._check_join(vertex, join)
        ways = [self._statements(way.target, _Context(join, join)) for way in vertex.ways]
        fork = Fork(vertex.id, tuple(_without_end(way) for way in ways))
        return ((fork, End()), None) if join == EXIT else ((fork,), join)

    def _check_join(self, fork: Vertex, join: str) -> None:
        joined = self._graph.vertices[join]
        if joined.incoming != len(fork.ways) or joined.kind not in ("pass", "fork"):
            fact = f"its {len(fork.ways)} branches meet at '{join}', which does not join exactly them"
            raise refused(fork.id, fact, "Join the branches of a parallel gateway by one parallel gateway.")

    def _choice(self, vertex: Vertex, context: _Context) -> tuple[Body, str | None]:
        meeting = self._meeting(vertex.id)
        if not self._is_within(meeting, context):
            meeting = EXIT
        inner = msgspec.structs.replace(context, follow=meeting) if meeting != EXIT else context
        arms = tuple(Arm(self._statements(way.target, inner), way.condition, way.event) for way in vertex.ways)
        activity = self._do(vertex) if vertex.kind == "boundary" else None
        kind = vertex.kind if vertex.kind in ("boundary", "race") else "gateway"
        choice = Choice(kind, vertex.id, arms, activity)
        return (choice,), (meeting if meeting not in (EXIT, context.follow) else None)

    def _is_within(self, meeting: str, context: _Context) -> bool:
        if meeting == EXIT:
            return False
        if meeting in (context.follow, context.stop):
            return meeting == context.follow
        loop = context.loop
        return loop is None or (meeting != loop.after and meeting in loop.members)


def _without_end(body: Body) -> Body:
    """A branch ends by itself where its statements end."""
    return body[:-1] if body and body[-1] == End() else body
