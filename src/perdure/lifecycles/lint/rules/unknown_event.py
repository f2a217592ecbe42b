"""A trigger names an event, or a field of one, that nothing tells of.

Events are told of records of declared entities, of documents and of lifecycles. By another one no instance would ever
begin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from perdure.lifecycles.lint.rule import Note, Severity, Subject
from perdure.verbs.near_names import did_you_mean

CODE = "LIF143"
NAME = "unknown-event"
SEVERITY: Severity = "error"
PART = ("trigger",)
RECORD_EVENTS = ("created", "updated", "deleted")
EVENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **{
            f"document.{word}": ("document_type", "document_id")
            for word in ("received", "verified", "rejected", "expired", "superseded")
        },
        **{
            f"lifecycle.{word}": ("lifecycle", "state", "instance_id") for word in ("entered", "completed", "cancelled")
        },
    }
)
"""Events that are no record's, with their fields."""


def check(subject: Subject) -> Iterator[Note]:
    trigger = subject.definition.trigger
    if trigger is None:
        return
    entities = subject.catalogue.entities
    records = {f"{name}.{word}": tuple(entities[name].fields) for name in entities for word in RECORD_EVENTS}
    known = {**EVENTS, **records}
    fields = known.get(trigger.event)
    if fields is None:
        hint = did_you_mean(trigger.event, known) or f"Events: {', '.join(known)}."
        yield Note(PART, f"nothing tells of the event '{trigger.event}'", hint)
        return
    named = [*(each.field for each in trigger.conditions), trigger.subject, *trigger.context.values()]
    for name in filter(None, named):
        if name.partition(".")[0] not in fields:
            hint = did_you_mean(name, fields) or f"Fields: {', '.join(fields)}."
            yield Note(PART, f"the event '{trigger.event}' has no field '{name}'", hint)
