"""Zeebe extensions that nothing reads: unknown attributes, and places where they do not belong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches

from perdure.bpmn.lint.findings import Note
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import Activity, CallActivity, Event, Extension, MultiInstance, Node, SubProcess, Task
from perdure.bpmn.xml import extension_schema
from perdure.bpmn.xml.readers.extensions import unknown_attributes

_TEMPLATES = "zeebe:modelerTemplate"
_COUNTER = "zeebe:retryCounter"
_LONGEST = 40
_OWNERS = Counter(name for known in extension_schema.ATTRIBUTES_OF.values() for name in known)
_OWNER = {
    name: element for element, known in extension_schema.ATTRIBUTES_OF.items() for name in known if _OWNERS[name] == 1
}  # fmt: skip
"""Attributes that one element alone has."""
_LISTENERS = ("istener", "isteners")


def is_misplaced(index: Index, element: str, around: str, name: str) -> bool:
    """Whether nothing reads an extension of that name in an element, or in another extension of it."""
    if around.endswith(_LISTENERS) or (around and not around.startswith(("zeebe:", "bpmn:"))):
        return False
    if name in extension_schema.PARTS:
        return around != extension_schema.PARTS[name]
    if name not in extension_schema.PLACES:
        return False
    return bool(around) or name not in _read_in(index, element)


def unknown(element: str, extension: Extension) -> Iterator[Note]:
    """A note for each attribute that an extension does not have."""
    for name in unknown_attributes(extension.name, extension.attributes):
        fact = f"'{name[:80]}' of its {extension.name} is not known and would be ignored"
        yield Note(element, fact, _meant(extension.name, name))


def unknown_attribute(element: str, name: str) -> Iterator[Note]:
    """A note for an attribute of Camunda 8 on an element of BPMN, where there are none but those of templates."""
    if name.startswith("zeebe:") and not name.startswith(_TEMPLATES) and name != _COUNTER:
        yield Note(element, f"its attribute {name[:80]} is not known and would be ignored", _home(name[6:]))


def nameless(index: Index) -> Iterator[Note]:
    """Notes for headers and properties that nothing can ask for, but for those whose key is told as misspelt."""
    holders = (*index.processes, *index.nodes.values())
    tables = [(each, "zeebe:properties", each.properties) for each in holders]
    workers = (each for each in index.nodes.values() if isinstance(each, (Task, Event)))
    tables += [(each, "zeebe:taskHeaders", each.headers) for each in workers]
    for element, holder, table in tables:
        ((part, key),) = extension_schema.PARTS_OF[holder].items()
        if "" in table and not _is_told(element.extensions, holder, key):
            yield Note(element.id, f"it has a {part} without {key}, which would be ignored", f"Add {key}.")


def _is_told(extensions: tuple[Extension, ...], holder: str, key: str) -> bool:
    inner = (part for each in extensions if each.name == holder for part in each.children)
    return any(part.attributes.get(key) == "" for part in inner)


def _read_in(index: Index, element: str) -> frozenset[str]:
    node = index.nodes.get(element)
    if node is not None:
        return _of_node(node) | _of_loop(node)
    if element in index.flows:
        return frozenset()
    return extension_schema.OF_MESSAGE if element in index.messages else extension_schema.OF_PROCESS


def _of_node(node: Node) -> frozenset[str]:
    match node:
        case Task():
            return extension_schema.OF_TASK
        case Event(position="start"):
            return extension_schema.OF_EVENT | {
                "zeebe:formDefinition"
            }  # the form of whoever starts it by hand describes only
        case Event():
            return extension_schema.OF_EVENT
        case CallActivity():
            return extension_schema.OF_CALL
        case SubProcess():
            return extension_schema.OF_ACTIVITY
        case _:
            return extension_schema.OF_NODE


def _of_loop(node: Node) -> frozenset[str]:
    is_repeated = isinstance(node, Activity) and isinstance(node.repeat, MultiInstance)
    return frozenset((extension_schema.LOOP,)) if is_repeated else frozenset()


def _meant(element: str, name: str) -> str:
    """What an attribute was meant to be: one of the same element, or one of another."""
    lower = {each.lower(): each for each in sorted(extension_schema.ATTRIBUTES_OF[element])}
    near = get_close_matches(name.lower(), list(lower), 1) if len(name) <= _LONGEST else []
    return f"Did you mean '{lower[near[0]]}'?" if near else _home(name)


def _home(name: str) -> str:
    return f"Put it into {_OWNER[name]}." if name in _OWNER else "Remove it."
