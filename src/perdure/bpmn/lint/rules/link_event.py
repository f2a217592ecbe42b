"""A link does not lead anywhere, or leads to several places.

A throwing link continues at the one catching link of the same name in the same scope.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, is_named, triggers_of
from perdure.bpmn.model import (
    Event,
    LinkTrigger,
)

CODE = "BPM127"
NAME = "link-event"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        links = [
            (node, trigger.name)
            for node in room.body.nodes
            if isinstance(node, Event)
            for trigger in triggers_of(node, LinkTrigger)
        ]
        throws = {name for node, name in links if node.position != "catch"}
        catches = Counter(name for node, name in links if node.position == "catch")
        for node, name in links:
            if node.position not in ("throw", "catch"):
                continue
            yield from _link(node, name, throws, catches)
            yield from _flows(index, node)


def _link(node: Event, name: str, throws: set[str], catches: Counter[str]) -> Iterator[Note]:
    if not is_named(name):
        yield Note(node.id, "the link has no name", "Name both ends alike.")
    elif node.position == "catch":
        if name not in throws:
            yield Note(node.id, f"no link throws to '{name}'", "Draw the throwing end, or remove it.")
        if catches[name] > 1:
            yield Note(node.id, f"{catches[name]} links catch '{name}'", "Keep one of them.")
    elif name not in catches:
        yield Note(node.id, f"no link catches '{name}'", "Draw the catching end in the same scope.")


def _flows(index: Index, node: Event) -> Iterator[Note]:
    """The link itself is the way: nothing else leads out of its throwing end or into its catching one."""
    if node.position == "catch" and index.incoming(node.id):
        yield Note(node.id, "a flow leads to it as well as the link", "Lead the flow to what follows it.")
    if node.position != "catch" and index.outgoing(node.id):
        yield Note(node.id, "a flow leaves it, though the link goes on elsewhere", "Remove the flow.")
