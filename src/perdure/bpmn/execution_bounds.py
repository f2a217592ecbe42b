"""Execution bounds: how often each element of a process runs at most, from the graph and the bounds of its loops.

A token that comes to a choice takes one way, one that comes to a fork all of them; a join takes one from each way. So
the most that can come to an element is a sum over the graph, and it is exact enough to be a promise: never too low.

| in the graph | bound |
|---|---|
| multi-instance with a literal | times that number |
| multi-instance with a flag, a standard loop without a maximum | unbounded |
| a standard loop with a maximum | times that |
| a cycle of sequence flows | unbounded inside; behind it as before it, unless it forks inside |
| an event that does not interrupt: a timer of one time | once more for each |
| another event that does not interrupt, a cycle of a timer, an ad-hoc subprocess | unbounded |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from perdure.bpmn import model as m

Bound = Fraction | None
"""None: unbounded."""


class Bounds(NamedTuple):
    """How often each activity runs at most (None: unbounded), and why some have no bound."""

    times: dict[str, int | None]
    reasons: tuple[str, ...]


def execution_bounds(process: m.Process) -> Bounds:
    """Of every task and call activity of a process that is begun once."""
    times: dict[str, int | None] = {}
    reasons: dict[str, None] = {}
    _scope(process.body, Fraction(1), times, reasons)
    return Bounds(times, tuple(reasons))


def _scope(body: m.Scope, entered: Bound, times: dict[str, int | None], reasons: dict[str, None]) -> None:
    graph = _Graph(body)
    for cycle in graph.cycles:
        reasons[f"cycle through {', '.join(sorted(cycle))}"] = None
    for node in body.nodes:
        if not isinstance(node, m.Activity):
            continue
        arrivals = (
            _times(entered, _begun(node, reasons)) if _is_event_subprocess(node) else graph.most(node.id, entered)
        )
        if node.is_for_compensation:
            arrivals = _times(entered, _undone(body, graph, node.id))
        runs = _times(arrivals, _repeats(node, reasons))
        if isinstance(node, m.SubProcess):
            _scope(node.body, None if node.kind == "ad_hoc" else runs, times, reasons)
            if node.kind == "ad_hoc":
                reasons[f"ad-hoc subprocess {node.id}"] = None
        else:
            times[node.id] = None if runs is None else -(-runs.numerator // runs.denominator)


def _undone(body: m.Scope, graph: _Graph, handler: str) -> Bound:
    """How often what a handler undoes has run at most."""
    events = {each.source for each in body.associations if each.target == handler}
    done = [node for node in body.nodes if any(each.id in events for each in graph.boundaries.get(node.id, ()))]
    return _sum(
        _times(graph.most(each.id, Fraction(1)), _repeats(each, {}) if isinstance(each, m.Activity) else Fraction(1))
        for each in done
    )


def _is_event_subprocess(node: m.Activity) -> bool:
    return isinstance(node, m.SubProcess) and node.kind == "event"


def _begun(node: m.Activity, reasons: dict[str, None]) -> Bound:
    """How often an event subprocess begins, each time its scope does."""
    assert isinstance(node, m.SubProcess)
    starts = [each for each in node.body.nodes if isinstance(each, m.Event) and each.position == "start"]
    return _sum(_occurs(each, reasons) for each in starts)


def _occurs(event: m.Event, reasons: dict[str, None]) -> Bound:
    is_once = event.triggers and all(
        isinstance(each, m.ErrorTrigger | m.EscalationTrigger)
        or (isinstance(each, m.TimerTrigger) and each.kind in ("duration", "date"))
        for each in event.triggers
    )
    is_error = any(isinstance(each, m.ErrorTrigger) for each in event.triggers)
    is_escalation = any(isinstance(each, m.EscalationTrigger) for each in event.triggers)
    if event.is_interrupting or is_error or (is_once and not is_escalation):
        return Fraction(1)
    reasons[f"event {event.id}, which does not interrupt"] = None
    return None


def _repeats(node: m.Activity, reasons: dict[str, None]) -> Bound:
    match node.repeat:
        case None:
            return Fraction(1)
        case m.StandardLoop(maximum=maximum) if maximum is not None:
            return Fraction(maximum)
        case m.MultiInstance(cardinality=cardinality) if cardinality.kind == "literal" and cardinality.text.isdigit():
            return Fraction(int(cardinality.text))
        case _:
            reasons[f"loop of {node.id}"] = None
            return None


class _Graph:
    """The flows of one scope, with boundary events as ways out of what they are on."""

    def __init__(self, body: m.Scope) -> None:
        self.nodes: Mapping[str, m.Node] = {each.id: each for each in body.nodes}
        self.into: dict[str, int] = {}
        self.out: dict[str, list[str]] = {each.id: [] for each in body.nodes}
        self.boundaries: dict[str, list[m.Event]] = {}
        for flow in body.flows:
            self.out[flow.source].append(flow.target)
            self.into[flow.target] = self.into.get(flow.target, 0) + 1
        for node in body.nodes:
            if isinstance(node, m.Event) and node.attached_to:
                self.boundaries.setdefault(node.attached_to, []).append(node)
        self._join_links(body)
        self.starts = [each for each in self.nodes if not self.into.get(each) and not self._is_inner(each)]
        self.component, self._order = _components({each: list(self._next(each)) for each in self.nodes})
        members: dict[int, list[str]] = {}
        for name, number in self.component.items():
            members.setdefault(number, []).append(name)
        self.cycles = [each for each in members.values() if len(each) > 1 or each[0] in self._next(each[0])]
        self._in_cycle = {name for cycle in self.cycles for name in cycle}

    def _join_links(self, body: m.Scope) -> None:
        """A link that is thrown is a way to where it is caught."""
        events = [each for each in body.nodes if isinstance(each, m.Event)]
        for one in events:
            names = {each.name for each in one.triggers if isinstance(each, m.LinkTrigger)}
            for other in events if names and one.position == "throw" else ():
                caught = {each.name for each in other.triggers if isinstance(each, m.LinkTrigger)}
                if other.position == "catch" and names & caught:
                    self.out[one.id].append(other.id)
                    self.into[other.id] = self.into.get(other.id, 0) + 1

    def _is_inner(self, name: str) -> bool:
        node = self.nodes[name]
        is_boundary = isinstance(node, m.Event) and bool(node.attached_to)
        return is_boundary or (
            isinstance(node, m.Activity) and (node.is_for_compensation or _is_event_subprocess(node))
        )

    def _next(self, name: str) -> Iterator[str]:
        yield from self.out[name]
        yield from (each.id for each in self.boundaries.get(name, ()))

    def most(self, target: str, entered: Bound) -> Bound:
        """How many tokens come to an element at most, when its scope is entered so often."""
        found: dict[str, Bound] = {}
        for name in self._order:  # what comes after an element was looked at before it
            found[name] = self._reach(name, target, found)
        starts = [found[each] for each in self.starts]
        # Of several start events one begins; what has no way in besides begins with them.
        events = [each for each, name in zip(starts, self.starts, strict=True) if isinstance(self.nodes[name], m.Event)]
        others = [
            each for each, name in zip(starts, self.starts, strict=True) if not isinstance(self.nodes[name], m.Event)
        ]
        return _times(entered, _sum([_max(events), *others]))

    def _reach(self, name: str, target: str, found: dict[str, Bound]) -> Bound:
        """How many come to the target from one token at an element."""
        if name in self._in_cycle:
            return self._through_cycle(name, target, found)
        return Fraction(1) if name == target else self._onward(name, target, found)

    def _onward(self, name: str, target: str, found: dict[str, Bound]) -> Bound:
        ways = [_times(self._share(each), found[each]) for each in self.out[name]]
        made = _max(ways) if self._chooses(name) else _sum(ways)
        for event in self.boundaries.get(name, ()):
            extra = Fraction(0) if event.is_interrupting else _occurs(event, {})
            more = _times(extra, found[event.id])
            made = _max([made, found[event.id]]) if event.is_interrupting else _sum([made, more])
        return made

    def _share(self, name: str) -> Fraction:
        """A parallel join needs a token from each way."""
        node = self.nodes[name]
        is_join = isinstance(node, m.Gateway) and node.kind == "parallel" and self.into.get(name, 0) > 1
        return Fraction(1, self.into[name]) if is_join else Fraction(1)

    def _chooses(self, name: str) -> bool:
        node = self.nodes[name]
        return isinstance(node, m.Gateway) and node.kind in ("exclusive", "event")

    def _through_cycle(self, name: str, target: str, found: dict[str, Bound]) -> Bound:
        members = [each for each in self._in_cycle if self.component[each] == self.component[name]]
        if target in members:
            return None
        leaves = [each for member in members for each in self._next(member) if each not in members]
        onward = [_times(self._share(each), found[each]) for each in leaves]
        forks = [
            member for member in members
            if (len(self.out[member]) > 1 and not self._chooses(member))
            or any(not event.is_interrupting for event in self.boundaries.get(member, ()))
        ]  # fmt: skip
        return _max(onward) if not forks or not any(each != 0 for each in onward) else None


def _components(graph: Mapping[str, list[str]]) -> tuple[dict[str, int], list[str]]:
    """The strongly connected component of each node, by Tarjan, without recursion; and the nodes, the last first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    found: dict[str, int] = {}
    order: list[str] = []
    stack: list[str] = []
    for root in graph:
        if root in index:
            continue
        work: list[tuple[str, Iterator[str]]] = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        while work:
            name, ways = work[-1]
            step = next(ways, None)
            if step is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    while True:
                        member = stack.pop()
                        found[member] = index[name]
                        order.append(member)
                        if member == name:
                            break
            elif step not in index:
                index[step] = low[step] = len(index)
                stack.append(step)
                work.append((step, iter(graph[step])))
            elif step not in found:
                low[name] = min(low[name], index[step])
    return found, order


def _sum(bounds: Iterable[Bound]) -> Bound:
    total = Fraction(0)
    for each in bounds:
        if each is None:
            return None
        total += each
    return total


def _max(bounds: list[Bound]) -> Bound:
    if any(each is None for each in bounds):
        return None
    return max((each for each in bounds if each is not None), default=Fraction(0))


def _times(one: Bound, other: Bound) -> Bound:
    if one == 0 or other == 0:
        return Fraction(0)
    return None if one is None or other is None else one * other
