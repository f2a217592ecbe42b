"""Elements of the contract profile as rules look at them: with their holder, their place and what stands inside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from perdure.bpmn.contract import elements
from perdure.bpmn.contract.contract import is_wait, is_work
from perdure.bpmn.contract.paths import Path, parse_path
from perdure.bpmn.contract.templates import Template, parse_template
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import Extension, Node, Place, Task

TEMPLATES = {
    elements.WORKFLOW: "workflowIdTemplate",
    elements.TASK: "idempotencyKeyTemplate",
    elements.SUBSCRIPTION: "correlationKeyTemplate",
}


class Found(msgspec.Struct, frozen=True):
    """One element of the profile: `around` is the element of the profile it stands in, empty for none."""

    element: str
    around: str
    extension: Extension
    place: Place | None

    @property
    def name(self) -> str:
        return self.extension.name

    def attribute(self, name: str) -> str:
        return self.extension.attributes.get(name, "")


def found_elements(index: Index) -> Iterator[Found]:
    """Every element of the profile in the processes and messages, in the order of each holder."""
    holders = (*index.processes, *index.nodes.values(), *index.flows.values(), *index.definitions.messages)
    for holder in holders:
        counts: dict[str, int] = defaultdict(int)
        waiting = [("", each) for each in reversed(holder.extensions)]
        while waiting:
            around, extension = waiting.pop()
            if extension.name.startswith(elements.PREFIX):
                places = index.written.extension_places.get(f"{holder.id}/{extension.name}", ())
                at = counts[extension.name]
                counts[extension.name] += 1
                yield Found(holder.id, around, extension, places[at] if at < len(places) else None)
            inside = extension.name if extension.name.startswith(elements.PREFIX) else around
            waiting.extend((inside, each) for each in reversed(extension.children))


def found_on(index: Index, holder: str, name: str) -> list[Found]:
    """The elements of that name that stand on a node, process or message."""
    return [each for each in found_by_holder(index).get(holder, ()) if each.name == name]


def found_by_holder(index: Index) -> dict[str, list[Found]]:
    """The same, looked for once per index."""
    known = index.notes.get("contract")
    if known is None:
        known = index.notes["contract"] = {}
        for each in found_elements(index):
            known.setdefault(each.element, []).append(each)
    return known


def templates(index: Index) -> Iterator[tuple[Found, str, Template]]:
    """Every template with the attribute that holds it."""
    for each in all_found(index):
        attribute = TEMPLATES.get(each.name, "")
        if attribute in each.extension.attributes:
            yield each, attribute, parse_template(each.attribute(attribute))


def paths(index: Index) -> Iterator[tuple[Found, str, Path]]:
    """Every source and target of a mapping."""
    for each in all_found(index):
        if each.name in (elements.INPUT, elements.OUTPUT):
            for attribute in ("source", "target"):
                yield each, attribute, parse_path(each.attribute(attribute))


def all_found(index: Index) -> Iterator[Found]:
    for each in found_by_holder(index).values():
        yield from each


def is_bound(node: Node) -> bool:
    """Whether a node may have inputs or outputs: work, waits and user tasks."""
    return is_work(node) or is_wait(node) or (isinstance(node, Task) and node.kind == "user")
