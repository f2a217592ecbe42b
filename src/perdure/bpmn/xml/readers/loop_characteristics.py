"""Loop characteristics in: standard loops and multiple instances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from perdure.bpmn.model import Extension, MultiInstance, StandardLoop, Value
from perdure.bpmn.xml import extension_schema
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.readers.event_definitions import condition_of
from perdure.bpmn.xml.readers.extensions import extension, leftover
from perdure.bpmn.xml.readers.file_context import Reading
from perdure.bpmn.xml.value_text import parse_cardinality, parse_collection

LOOP_TAGS = extension_schema.LOOPS
_READ = frozenset(("bpmn:loopCardinality", "bpmn:completionCondition", "bpmn:extensionElements", "bpmn:documentation"))


class Repeat(NamedTuple):
    how: StandardLoop | MultiInstance | None
    rest: tuple[Extension, ...] = ()
    """What the loop has beyond what the process model holds."""


def read_repeat(reading: Reading, tag: Tag) -> Repeat:
    loops = list(tag.all(*LOOP_TAGS))
    if len(loops) > 1:
        reading.report("BPM015", tag, "it repeats in two ways", "Keep one kind of loop.")
    if not loops:
        return Repeat(None)
    if loops[0].name == extension_schema.STANDARD_LOOP:
        left = leftover(loops[0])
        return Repeat(_standard(reading, loops[0]), () if left is None else (left,))
    return _multi_instance(reading, loops[0])


def _standard(reading: Reading, tag: Tag) -> StandardLoop:
    condition = condition_of(reading, tag, "bpmn:loopCondition")
    return StandardLoop(condition, reading.boolean(tag, "testBefore"), reading.number(tag, "loopMaximum"))


def _multi_instance(reading: Reading, tag: Tag) -> Repeat:
    found = [child for holder in tag.all("bpmn:extensionElements") for child in holder.children]
    loops = [child for child in found if child.name == extension_schema.LOOP]
    if len(loops) > 1:
        reading.report("BPM015", loops[1], f"it has two {extension_schema.LOOP}", "Remove one.")
    zeebe = loops[0] if loops else Tag(extension_schema.LOOP)
    how = MultiInstance(
        _cardinality(reading, tag, zeebe),
        reading.boolean(tag, "isSequential"),
        condition_of(reading, tag, "bpmn:completionCondition"),
    )
    attributes = {name: text for name, text in zeebe.attributes.items() if name != "inputCollection"}
    rest = [Extension(extension_schema.LOOP, attributes)] if attributes else []
    left = leftover(tag) or Extension(extension_schema.MULTI_INSTANCE)
    odd = tuple(extension(child) for child in tag.children if child.name not in _READ) + left.children
    others = tuple(extension(child) for child in found if child.name != extension_schema.LOOP)
    if others:
        odd += (Extension("bpmn:extensionElements", {}, "", others),)
    if odd or left.attributes:
        rest.append(Extension(extension_schema.MULTI_INSTANCE, left.attributes, "", odd))
    return Repeat(how, tuple(rest))


def _cardinality(reading: Reading, tag: Tag, zeebe: Tag) -> Value:
    said = dict(_said(reading, tag, zeebe))
    if len(set(said.values())) > 1:
        fact = f"it says how often in two ways, as {' and as '.join(said)}"
        reading.report("BPM015", tag, fact, "Keep one of them.")
    return next(iter(said.values()), Value(""))


def _said(reading: Reading, tag: Tag, zeebe: Tag) -> Iterator[tuple[str, Value]]:
    """How often an activity repeats, in each way the file says it; what counts comes first."""
    if collection := zeebe.get("inputCollection"):
        yield "an inputCollection", parse_collection(collection)
    cardinality, data = reading.only(tag, "bpmn:loopCardinality"), tag.first("bpmn:loopDataInputRef")
    if cardinality is not None and cardinality.text.strip():
        yield "a loopCardinality", parse_cardinality(cardinality.text)
    if data is not None:
        yield "a loopDataInputRef", Value(data.text.strip(), "foreign")
