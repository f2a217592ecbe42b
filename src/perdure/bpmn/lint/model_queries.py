"""Small things many rules ask: texts and extensions anywhere in a model, near names, what waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from perdure.bpmn.conditions.tree import Foreign
from perdure.bpmn.lint.flag_access import conditions, uses
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Event,
    Extension,
    Gateway,
    MessageTrigger,
    Node,
    SignalTrigger,
    Task,
    TimerTrigger,
    Trigger,
)
from perdure.bpmn.xml.extension_schema import ATTRIBUTES, ZEEBE


def all_extensions(index: Index) -> Iterator[tuple[str, Extension]]:
    """Every extension we give no meaning to, however deep, with the element it belongs to."""
    return ((element, extension) for element, _, extension in nested_extensions(index))


def nested_extensions(index: Index) -> Iterator[tuple[str, str, Extension]]:
    """The same, each also with the name of the extension it stands in, if it does; that one comes before it."""
    holders: list[tuple[str, tuple[Extension, ...]]] = [
        *((process.id, process.extensions) for process in index.processes),
        *((node.id, node.extensions) for node in index.nodes.values()),
        *((flow.id, flow.extensions) for flow in index.flows.values()),
        *((message.id, message.extensions) for message in index.definitions.messages),
    ]
    for element, extensions in holders:
        waiting = [("", each) for each in extensions]
        while waiting:
            around, extension = waiting.pop()
            yield element, around, extension
            waiting.extend((extension.name, each) for each in extension.children)


def all_attributes(index: Index) -> Iterator[tuple[str, str, str]]:
    """Every attribute we give no meaning to, with its element."""
    for element, extension in all_extensions(index):
        if extension.name == ATTRIBUTES or extension.name.startswith("bpmn:"):
            yield from ((element, name, value) for name, value in extension.attributes.items())


def all_texts(index: Index) -> Iterator[tuple[str, str, str]]:
    """Every text that could be evaluated somewhere, with its element and where it stands in it."""
    for test in conditions(index):
        if isinstance(test.condition, Foreign):
            yield test.element, "condition", test.condition.text
    for use in uses(index):
        yield use.element, use.role.replace("_", " "), use.value.text
    for node in index.nodes.values():
        yield from _node_texts(node)
    for element, extension in all_extensions(index):
        for text in (extension.text, *extension.attributes.values()):
            yield element, f"extension {extension.name}", text


def _node_texts(node: Node) -> Iterator[tuple[str, str, str]]:
    if isinstance(node, (Task, Event)):
        for key, value in node.headers.items():
            yield node.id, f"header '{key}'", f"{key} {value}"
    if isinstance(node, Task):
        yield node.id, "script", node.script
    if not isinstance(node, Gateway):
        for mapping in node.mappings:
            yield node.id, "mapping", mapping.target
    for key, value in node.properties.items():
        yield node.id, f"property '{key}'", f"{key} {value}"


def misspelt(name: str) -> str:
    """The extension element of Camunda 8 that an unknown one was meant to be: at most a letter and cases differ."""
    if name in ZEEBE or not name.startswith("zeebe:") or len(name) > _LONGEST:
        return ""
    return next((_MEANT[each] for each in _shortened(name) if each in _MEANT), "")


def _shortened(name: str) -> list[str]:
    """The name in small letters, whole and without each one of them: looking these up needs no comparing."""
    lower = name.lower()
    return [lower, *(lower[:at] + lower[at + 1 :] for at in range(len("zeebe:"), len(lower)))]


_LONGEST = 40
_MEANT = {each: known for known in sorted(ZEEBE) for each in _shortened(known)}


def nearest(name: str, names: Iterable[str]) -> str:
    """A question naming what was probably meant, or nothing."""
    near = get_close_matches(name, list(names), n=1)
    return f"Did you mean '{near[0]}'?" if near else ""


def is_wait(node: Node) -> bool:
    """Whether a token rests here for something from outside or for time."""
    if isinstance(node, Event):
        waits = (MessageTrigger, SignalTrigger, TimerTrigger)
        return node.position == "catch" and any(isinstance(trigger, waits) for trigger in node.triggers)
    if isinstance(node, Gateway):
        return node.kind == "event"
    return isinstance(node, Task) and node.kind in ("receive", "user")


def trigger_kind(trigger: Trigger) -> str:
    """The word for what triggers an event."""
    return str(type(trigger).__struct_config__.tag)
