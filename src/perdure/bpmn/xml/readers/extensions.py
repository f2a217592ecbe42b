"""Extension elements in: those with a place in the process model by name, all the rest kept."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import NamedTuple

from perdure.bpmn import model
from perdure.bpmn.model import Extension
from perdure.bpmn.xml import extension_schema
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.known_attributes import KNOWN
from perdure.bpmn.xml.namespaces import (
    EVENT_DEFINITIONS,
    EXPRESSIONS,
    KEPT,
    NOT_SUPPORTED,
    PARTS,
    SCOPE_CONTENT,
    WITHOUT_MEANING_AT_THE_ROOT,
    with_article,
)
from perdure.bpmn.xml.readers.file_context import Reading
from perdure.bpmn.xml.value_text import parse_value

_EVERYWHERE = frozenset(("bpmn:documentation", "bpmn:extensionElements", "bpmn:incoming", "bpmn:outgoing"))
_NOTHING = Tag("")
_NO_EXTENSIONS = frozenset(
    (*SCOPE_CONTENT, *EVENT_DEFINITIONS, *EXPRESSIONS, *KEPT, "bpmn:script", *extension_schema.LOOPS)
)
"""Elements of BPMN that say something where they belong, and nothing among extension elements."""


class Extras(NamedTuple):
    """What an element has beyond plain BPMN."""

    modelled: dict[str, Tag]
    rest: tuple[Extension, ...]

    def get(self, name: str) -> Tag:
        """The modelled element of that name, an empty one where there is none."""
        return self.modelled.get(name, _NOTHING)

    def properties(self, reading: Reading) -> dict[str, str]:
        return _table(reading, self.get("zeebe:properties"), "zeebe:property", "name")

    def headers(self, reading: Reading) -> dict[str, str]:
        return _table(reading, self.get("zeebe:taskHeaders"), "zeebe:header", "key")

    def mappings(self) -> tuple[model.Mapping, ...]:
        tags = self.get("zeebe:ioMapping").all("zeebe:input", "zeebe:output")
        return tuple(_mapping(tag) for tag in tags)

    def task_type(self, reading: Reading, tag: Tag) -> str:
        """The type of the work; the contract profile's element says it as well."""
        contract = next((each.attributes for each in self.rest if each.name == "ameide:taskDefinition"), {})
        said, also = self.get("zeebe:taskDefinition").get("type"), contract.get("type", "")
        if said and also and said != also:
            fact = (
                f"its type is '{said[:80]}' by zeebe:taskDefinition and '{also[:80]}' by the contract's taskDefinition"
            )
            reading.report("BPM015", tag, fact, "Keep one of them.")
        return said or also

    def without(self, attribute: str) -> Extras:
        """The same, but for an attribute that was given a meaning."""
        odd, *rest = self.rest
        kept = {name: text for name, text in odd.attributes.items() if name != attribute}
        return self._replace(rest=(*([Extension(odd.name, kept)] if kept else []), *rest))


def read_extras(
    reading: Reading, tag: Tag, modelled: frozenset[str], handled: frozenset[str], holders: tuple[Tag, ...] = ()
) -> Extras:
    """`modelled` names what has a place, `handled` the standard children read elsewhere."""
    found: dict[str, Tag] = {}
    others: list[Extension] = []
    for holder in (tag, *holders):
        for child in extension_elements(holder):
            if child.name in _NO_EXTENSIONS:
                refuse(reading, child, SCOPE_CONTENT)
            elif child.name not in modelled:
                others.append(extension(child))
            elif found.setdefault(child.name, child) is not child:
                reading.report("BPM015", tag, f"it has two {child.name}", "Remove one.")
    kept = [residual(found[name], known) for name, known in extension_schema.MODELLED.items() if name in found]
    inner = map(leftover, (*holders, *tag.all(*EXPRESSIONS)))
    rest = [_odd_attributes(tag), *kept, *others, *_standard(reading, tag, handled), *inner]
    return Extras(found, tuple(each for each in rest if each is not None))


def extension(tag: Tag) -> Extension:
    """The element as it is, white space around its text aside."""
    return Extension(tag.name, tag.attributes, tag.text.strip(), tuple(map(extension, tag.children)))


def residual(tag: Tag, known: tuple[str, ...]) -> Extension | None:
    """What an element has beyond what the process model holds of it."""
    attributes = {name: text for name, text in tag.attributes.items() if name not in known}
    parts = extension_schema.PARTS_OF.get(tag.name, {})
    inner = (_odd_part(child, parts[child.name]) if child.name in parts else extension(child) for child in tag.children)
    children = tuple(each for each in inner if each is not None)
    return Extension(tag.name, attributes, "", children) if attributes or children else None


def unknown_attributes(name: str, attributes: Mapping[str, str]) -> dict[str, str]:
    """Those that an element of Camunda 8 does not have; those of other namespaces are none of its own."""
    known = extension_schema.ATTRIBUTES_OF.get(name)
    if known is None:
        return {}
    return {each: text for each, text in attributes.items() if each not in known and each != "id" and _is_plain(each)}


def _is_plain(name: str) -> bool:
    return ":" not in name and not name.startswith("{")


def _odd_part(tag: Tag, key: str) -> Extension | None:
    """Attributes of a part that nothing knows, with the one by which the part is found when it is written again."""
    odd = unknown_attributes(tag.name, tag.attributes)
    return Extension(tag.name, {key: tag.get(key), **odd}) if odd else None


def leftover(tag: Tag) -> Extension | None:
    """Attributes without meaning here of an event definition, a loop or an expression, and of expressions in it."""
    attributes = odd_attributes(tag)
    children = tuple(each for each in map(leftover, tag.all(*EXPRESSIONS)) if each is not None)
    return Extension(tag.name, attributes, "", children) if attributes or children else None


def documentation(tag: Tag) -> str:
    return "\n".join(each.text for each in tag.all("bpmn:documentation"))


def odd_attributes(tag: Tag) -> dict[str, str]:
    return {
        name: text
        for name, text in tag.attributes.items()
        if name not in extension_schema.KNOWN_ATTRIBUTES and text not in extension_schema.WITHOUT_MEANING.get(name, ())
    }


def _odd_attributes(tag: Tag) -> Extension | None:
    odd = odd_attributes(tag)
    return Extension(extension_schema.ATTRIBUTES, odd) if odd else None


def _standard(reading: Reading, tag: Tag, handled: frozenset[str]) -> list[Extension]:
    """Standard content that is kept; other content that is not handled is reported."""
    handled |= _EVERYWHERE
    unread = [child for child in tag.children if child.name.startswith("bpmn:") and child.name not in handled]
    for child in unread:
        if child.name not in KEPT:
            refuse(reading, child, SCOPE_CONTENT)
    return [extension(child) for child in unread if child.name in KEPT]


def refuse(reading: Reading, tag: Tag, expected: frozenset[str]) -> None:
    """Reports an element of BPMN's namespace that has no business where it stands."""
    if reading.is_full():
        return
    local = tag.name.removeprefix("bpmn:")[:80]
    if tag.name in NOT_SUPPORTED:
        reading.report("BPM013", tag, f"{with_article(local)} has no place in a process here", "Remove it.")
    elif tag.name in KNOWN or tag.name in KEPT | PARTS | WITHOUT_MEANING_AT_THE_ROOT:
        reading.report("BPM012", tag, f"{with_article(local)} does not belong where it stands", "Move or remove it.")
    else:
        near = get_close_matches(local, [name.removeprefix("bpmn:") for name in sorted(expected)], 1)
        hint = f"Did you mean '{near[0]}'?" if near else "Correct its name, or remove it."
        reading.report("BPM012", tag, f"BPMN 2.0 has no element '{local}'", hint)


def extension_elements(tag: Tag) -> list[Tag]:
    """What is in `extensionElements`, and what should be: some tools leave that element out."""
    found = [child for holder in tag.all("bpmn:extensionElements") for child in holder.children]
    return found + [child for child in tag.children if not child.name.startswith("bpmn:")]


def _table(reading: Reading, tag: Tag, part: str, key: str) -> dict[str, str]:
    table: dict[str, str] = {}
    for each in tag.all(part):
        name = each.get(key)
        if name in table:
            reading.report("BPM015", each, f"the {key} '{name[:80]}' is given twice", "Remove one.")
        table[name] = each.get("value")
    return table


def _mapping(tag: Tag) -> model.Mapping:
    direction = "input" if tag.name == "zeebe:input" else "output"
    return model.Mapping(direction, parse_value(tag.get("source")), tag.get("target"))  # type: ignore[arg-type]
