"""Triggers: an event that was committed begins instances of the lifecycles that wait for it, each of them once.

| what happens | what becomes of it |
|---|---|
| an event that a lifecycle waits for, and its conditions hold | an instance begins, under an id made of the event |
| the same event again, after a crash | that id is taken: nothing begins |
| the subject has an active instance | that one goes on; nothing begins |
| the start is refused, or lifecycles begin one another without end | a dead letter says why |
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import msgspec

from perdure.errors import QuarantinedError, RejectedError
from perdure.identifiers import Id, derive_id
from perdure.journal import Origin
from perdure.journal.facts import EVENT, FACT, fact_key, fact_kind, fact_parts
from perdure.journal.notice_routes import FactEvent
from perdure.kernel.ports import DEAD, Attachments, InboxRow, Unit
from perdure.lifecycles.instances import PLATFORM, LifecycleInstances
from perdure.lifecycles.machine.definition import Trigger
from perdure.lifecycles.machine.definition_machine import LifecycleVersions
from perdure.lifecycles.machine.names import value_at
from perdure.payload import digest, parse

PAGE = 200
MAX_DEPTH = 20
"""Lifecycles that may begin one another without a person or a timer in between."""
LETTER = "lifecycle_event"
"""The kind of the dead letter of an event by which an instance could not begin."""
log = logging.getLogger("perdure")


class LifecycleTriggers:
    """Of one process. Lifecycles are found by the event they wait for, by index."""

    def __init__(self, instances: LifecycleInstances) -> None:
        self._instances = instances
        self._store = instances.store

    async def begin(self, tenant: str, message_id: str, events: Sequence[FactEvent]) -> None:
        for at, event in enumerate(events):
            key, after = fact_key(EVENT, event.name), 0
            while page := await self._store.find_waits(tenant, FACT, EVENT, key, after, PAGE):
                after = page[-1].number
                for each in page:
                    await self._begin(each.aggregate, tenant, f"{message_id}/{at}", event)

    async def _begin(self, definition: Id, tenant: str, place: str, event: FactEvent) -> None:
        try:
            found = await self._instances.kernel.read(definition, Origin(tenant, PLATFORM))
        except QuarantinedError:
            return  # it is set aside, and the others are not to blame
        state: LifecycleVersions = found.state
        latest = state.latest()
        if latest is None:
            return
        trigger = (await self._instances.definitions.load(state.lifecycle, latest.hash, tenant)).trigger
        fields = await self._fields(tenant, event)
        if trigger is None or not _holds(trigger, fields):
            return
        subject = value_at(fields, trigger.subject) if trigger.subject else event.subject
        try:
            if event.depth > MAX_DEPTH:
                fact = f"{MAX_DEPTH} lifecycles began one another with nobody in between"
                await self._bury(tenant, place, state.lifecycle, event, fact)
                return
            await self._instances.start(
                state.lifecycle, str(subject or ""), _context(trigger, fields),
                Origin(tenant, PLATFORM, behind=(latest.by,)), latest.number, event,
                derive_id(event.at, digest(f"{state.lifecycle}\0{tenant}\0{place}".encode())),
            )  # fmt: skip
        except RejectedError as error:
            await self._bury(tenant, place, state.lifecycle, event, str(error))

    async def _fields(self, tenant: str, event: FactEvent) -> dict[str, Any]:
        """The fields of an event; of a record those that it had then, of a deleted one those before."""
        if fact_kind(event.key) != "record":
            return dict(event.fields)
        entity, key = fact_parts(event.key)
        version = event.version - 1 if event.name.endswith(".deleted") else event.version
        found = await self._store.entity_history(tenant, entity, key, version - 1, 1)
        return parse(found[0].data) if found and found[0].data else {}

    async def _bury(self, tenant: str, place: str, lifecycle: str, event: FactEvent, reason: str) -> None:
        log.error("Event '%s' of '%s' began no '%s': %s", event.name, event.subject, lifecycle, reason)
        row = InboxRow(
            tenant, f"{lifecycle}:{place}", LETTER, event.subject[:500], event.at, DEAD, reason[:2000], None,
            msgspec.json.encode(event), lifecycle,
        )  # fmt: skip
        await self._store.commit(Unit(tenant, None, attachments=[Attachments(inbox=row)]))


def _holds(trigger: Trigger, fields: dict[str, Any]) -> bool:
    return all(value_at(fields, each.field) in each.values for each in trigger.conditions)


def _context(trigger: Trigger, fields: dict[str, Any]) -> dict[str, Any]:
    found = {name: value_at(fields, field) for name, field in trigger.context.items()}
    return {name: value for name, value in found.items() if value is not None}
