"""Element mapping: the elements of a new version that stand for those of the old one whose ids it does not have.

An element is matched with one of its kind, in the scope that stands for its own, which the old version does not have.
The first question with exactly one answer on both sides decides:

| question | example |
|---|---|
| the same name and the same content | renamed id only |
| the same content | `client.ask` under another id and name |
| the same name | another verb in the same place |
| the only start, or the only end, of its scope | |
| the same content, and the same elements before and behind it | the second of two tasks of one verb; a gateway |

Content is what an element does or waits for: the verb, the message, the timer, the called process.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from perdure.bpmn import model as m
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.migration import kind_of

Names = Mapping[str, str]


def proposed_mapping(old: Deployed, new: Deployed) -> dict[str, str]:
    """Old element or flow to new one, of those whose ids the new version does not have; what is not certain is left."""
    before, after = _Side(old), _Side(new)
    found: dict[str, str] = {}
    matched: dict[str, str] | None = None
    while matched is None or matched:  # what was found tells more of its neighbours, and of what stands inside it
        answers = (_matches(before, after, found, question) for question in _QUESTIONS)
        matched = next((each for each in answers if each), {})
        found |= matched
    return found | _flows(before, after, found)


class _Side:
    """One version with what can be asked of its elements."""

    def __init__(self, deployed: Deployed) -> None:
        self.process = deployed.process
        self.messages = {each.id: each.name or each.id for each in deployed.messages}
        self.signals = {each.id: each.name or each.id for each in deployed.signals}
        self.nodes: dict[str, m.Node] = {}
        self.area: dict[str, str] = {}
        self.flows: dict[str, m.Flow] = {}
        self._read(deployed.process.id, deployed.process.body)

    def _read(self, area: str, body: m.Scope) -> None:
        self.flows.update({each.id: each for each in body.flows})
        for node in body.nodes:
            self.nodes[node.id], self.area[node.id] = node, area
            if isinstance(node, m.SubProcess):
                self._read(node.id, node.body)

    def content(self, node: m.Node) -> tuple[Hashable, ...]:
        """What an element does or waits for; empty when that tells it from no other."""
        match node:
            case m.Task():
                message = self.messages.get(node.message, node.message)
                return (node.type or message or node.script,) if node.type or message or node.script else ()
            case m.CallActivity():
                return (node.process,)
            case m.Event():
                return tuple(self._trigger(each) for each in node.triggers)
            case _:
                return ()

    def _trigger(self, trigger: m.Trigger) -> Hashable:
        match trigger:
            case m.MessageTrigger():
                return "message", self.messages.get(trigger.message, trigger.message)
            case m.SignalTrigger():
                return "signal", self.signals.get(trigger.signal, trigger.signal)
            case m.TimerTrigger():
                return "timer", trigger.kind, trigger.value.text
            case _:
                return trigger

    def beside(self, node: m.Node, named: Names) -> tuple[frozenset[str], frozenset[str]]:
        """The elements before and behind it, by the names they have in the new version."""
        before = {each.source for each in self.flows.values() if each.target == node.id}
        behind = {each.target for each in self.flows.values() if each.source == node.id}
        if isinstance(node, m.Event) and node.attached_to:
            before.add(node.attached_to)
        return frozenset(named.get(each, each) for each in before), frozenset(named.get(each, each) for each in behind)


def _name_and_content(side: _Side, node: m.Node, named: Names) -> Hashable | None:
    return (node.name, side.content(node)) if node.name and side.content(node) else None


def _content(side: _Side, node: m.Node, named: Names) -> Hashable | None:
    return side.content(node) or None


def _name(side: _Side, node: m.Node, named: Names) -> Hashable | None:
    return node.name or None


def _edge(side: _Side, node: m.Node, named: Names) -> Hashable | None:
    return node.position if isinstance(node, m.Event) and node.position in ("start", "end") else None


def _neighbours(side: _Side, node: m.Node, named: Names) -> Hashable | None:
    beside = side.beside(node, named)
    return (side.content(node), beside) if any(beside) else None


Question = Callable[[_Side, m.Node, Names], Hashable | None]
_QUESTIONS: tuple[Question, ...] = (_name_and_content, _content, _name, _edge, _neighbours)


def _matches(before: _Side, after: _Side, found: Names, question: Question) -> dict[str, str]:
    """Pairs with the same answer that nobody else gives."""
    there, taken = {before.process.id: after.process.id, **found}, set(found.values())
    gone = [each for each in before.nodes if each not in after.nodes and each not in found]
    added = [each for each in after.nodes if each not in before.nodes and each not in taken]
    old, new = _answers(before, gone, there, question), _answers(after, added, {}, question)
    return {ids[0]: new[answer][0] for answer, ids in old.items() if len(ids) == 1 and len(new.get(answer, ())) == 1}


def _answers(side: _Side, ids: Iterable[str], named: Names, question: Question) -> dict[Hashable, list[str]]:
    """Elements by what they are, the scope they stand in, and the answer to a question."""
    found: dict[Hashable, list[str]] = {}
    for id in ids:
        node, area = side.nodes[id], side.area[id]
        if (told := question(side, node, named)) is not None:
            found.setdefault((kind_of(node), named.get(area, area), told), []).append(id)
    return found


def _flows(before: _Side, after: _Side, found: Names) -> dict[str, str]:
    """Flows that lead from and to the same elements, where no other does."""
    there: dict[tuple[str, str], list[str]] = {}
    for flow in after.flows.values():
        there.setdefault((flow.source, flow.target), []).append(flow.id)
    mapped: dict[str, str] = {}
    for flow in before.flows.values():
        ids = there.get((found.get(flow.source, flow.source), found.get(flow.target, flow.target)), [])
        if flow.id not in after.flows and len(ids) == 1 and ids[0] not in before.flows:
            mapped[flow.id] = ids[0]
    return mapped
