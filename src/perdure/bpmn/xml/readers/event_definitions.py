"""Event definitions in: what an event waits for or brings about."""

from __future__ import annotations

from collections.abc import Callable

from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.conditions.tree import Condition, Foreign
from perdure.bpmn.model import (
    CancelTrigger,
    CompensationTrigger,
    ConditionalTrigger,
    ErrorTrigger,
    EscalationTrigger,
    LinkTrigger,
    MessageTrigger,
    SignalTrigger,
    TerminateTrigger,
    TimerKind,
    TimerTrigger,
    Trigger,
    Value,
)
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import EVENT_DEFINITIONS
from perdure.bpmn.xml.readers.file_context import Reading
from perdure.bpmn.xml.value_text import parse_value

_TIMERS: dict[str, TimerKind] = {
    "bpmn:timeDuration": "duration",
    "bpmn:timeDate": "date",
    "bpmn:timeCycle": "cycle",
}
_REFERENCE = "bpmn:eventDefinitionRef"
_LINK = "bpmn:linkEventDefinition"
TRIGGER_TAGS = frozenset((*EVENT_DEFINITIONS, _REFERENCE))
_OUR_LANGUAGE = "Compare flags with literals, and leave the language out or name FEEL."


def definitions_of(reading: Reading, event: Tag) -> tuple[Tag, ...]:
    """The event definitions of an event; those that stand at the root are looked up."""
    found = [_resolved(reading, event, child) for child in event.all(*EVENT_DEFINITIONS, _REFERENCE)]
    return tuple(each for each in found if each is not None)


def read_trigger(reading: Reading, tag: Tag) -> Trigger:
    return _READERS[tag.name](reading, tag)


def condition_of(reading: Reading, tag: Tag, name: str) -> Condition | None:
    """The condition that stands in a child of that name, if there is such a child."""
    child = reading.only(tag, name)
    if child is None:
        return None
    text, language = child.text.strip(), child.get("language").strip()
    if not language or "feel" in language.lower():
        return parse_condition(text)
    # However much it looks like ours, it may mean something else.
    return Foreign(text, f"it is written in '{language[:80]}'", 0, _OUR_LANGUAGE, language)


def _resolved(reading: Reading, event: Tag, child: Tag) -> Tag | None:
    if child.name != _REFERENCE:
        return child
    wanted = reading.resolve(child.text)
    if wanted not in reading.definitions:
        fact = f"its event definition '{wanted[:80]}' is not at the root of the file"
        reading.report("BPM008", event, fact, "Create it there, or put the definition into the event.")
    return reading.definitions.get(wanted)


def _timer(reading: Reading, tag: Tag) -> Trigger:
    times = list(tag.all(*_TIMERS))
    if len(times) > 1:
        reading.report("BPM015", tag, "a timer has more than one time", "Keep a duration, a date or a cycle.")
    if not times:
        return TimerTrigger("duration", Value(""))
    return TimerTrigger(_TIMERS[times[0].name], parse_value(times[0].text))


def _compensation(reading: Reading, tag: Tag) -> Trigger:
    return CompensationTrigger(reading.reference(tag, "activityRef"), reading.boolean(tag, "waitForCompletion", True))


def _link(reading: Reading, tag: Tag) -> Trigger:
    """A link goes on by its name; the other end, where the file says it as well, must be a link of that name."""
    for child in tag.all("bpmn:source", "bpmn:target"):
        if wanted := reading.resolve(child.text):
            _look_at_end(reading, tag, child.name.removeprefix("bpmn:"), wanted)
    return LinkTrigger(tag.get("name"))


def _look_at_end(reading: Reading, tag: Tag, end: str, wanted: str) -> None:
    named = reading.tags.get(wanted)
    other = named if named is None or named.name == _LINK else named.first(_LINK)
    if named is None:
        fact = f"the {end} of the link is '{wanted[:80]}', which is not in the file"
        reading.report("BPM008", tag, fact, f"Remove it: the {end} is the link of the same name.")
    elif other is None:
        fact = f"the {end} of the link is '{wanted[:80]}', which is no link"
        reading.report("BPM009", tag, fact, f"Remove it: the {end} is the link of the same name.")
    elif other.get("name") != tag.get("name"):
        fact = f"the link is named '{tag.get('name')[:80]}' and its {end} '{other.get('name')[:80]}'"
        reading.report("BPM015", tag, fact, "Name both ends alike.")


def _conditional(reading: Reading, tag: Tag) -> Trigger:
    return ConditionalTrigger(condition_of(reading, tag, "bpmn:condition") or parse_condition(""))


_READERS: dict[str, Callable[[Reading, Tag], Trigger]] = {
    "bpmn:messageEventDefinition": lambda reading, tag: MessageTrigger(reading.reference(tag, "messageRef")),
    "bpmn:timerEventDefinition": _timer,
    "bpmn:signalEventDefinition": lambda reading, tag: SignalTrigger(reading.reference(tag, "signalRef")),
    "bpmn:errorEventDefinition": lambda reading, tag: ErrorTrigger(reading.reference(tag, "errorRef")),
    "bpmn:escalationEventDefinition": lambda reading, tag: EscalationTrigger(reading.reference(tag, "escalationRef")),
    "bpmn:compensateEventDefinition": _compensation,
    _LINK: _link,
    "bpmn:conditionalEventDefinition": _conditional,
    "bpmn:terminateEventDefinition": lambda *_: TerminateTrigger(),
    "bpmn:cancelEventDefinition": lambda *_: CancelTrigger(),
}
