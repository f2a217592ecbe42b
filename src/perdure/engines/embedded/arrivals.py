"""Arrivals: what a message, a signal or a person brings is checked at the door and merged when the wait ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.bpmn.machine.places import place_of
from perdure.bpmn.machine.state import Instance, Node
from perdure.engines.embedded.arguments import checked_args, declared
from perdure.engines.embedded.binding import INTAKE
from perdure.engines.embedded.instances import Instances
from perdure.engines.embedded.merging import Change, seen_from
from perdure.engines.embedded.plans import Definition
from perdure.errors import RejectedError, Rejection
from perdure.kernel.kernel import Aggregate
from perdure.sources import iso
from perdure.verbs import CompiledSchema

SCHEMA = "schema"


class Brought(msgspec.Struct, frozen=True, gc=False):
    """`head` is the payload after merging, or `message` what waits for the intake; `payloads` are to be stored."""

    head: bytes = b""
    message: bytes = b""
    payloads: tuple[tuple[bytes, bytes], ...] = ()
    intake: str = ""


NOTHING = Brought()


class Arrivals:
    """Synchronous, to be used while a command is prepared: asks for what is not in memory by MissingPayload."""

    def __init__(self, instances: Instances) -> None:
        self._instances = instances
        self._schemas: dict[str, CompiledSchema] = {}

    def of_watch(
        self, aggregate: Aggregate, watch: int, data: Mapping[str, Any] | None, *, by: str, key: str
    ) -> Brought:
        """What a message or signal brings to the watch it is for; nothing once that is gone."""
        state: Instance = aggregate.state
        armed = state.watches.get(watch)
        if armed is None:
            return NOTHING
        return self._brought(aggregate, armed.event, state.nodes[armed.node], data, by=by, key=key)

    def of_task(self, aggregate: Aggregate, node: int, data: Mapping[str, Any] | None, *, by: str, key: str) -> Brought:
        """What a person brings when they complete a task; another branch's changes since it opened are not undone."""
        found = aggregate.state.nodes.get(node)
        if found is None or found.task is None:
            return NOTHING
        return self._brought(aggregate, found.element, found, data, by=by, key=key, base=found.task.base)

    def by_hand(self, aggregate: Aggregate, node: int, data: Mapping[str, Any] | None, *, by: str) -> Brought:
        """What a person records when they resolve an incident."""
        found = aggregate.state.nodes.get(node)
        if found is None or data is None:
            return NOTHING
        definition = self._instances.definition(aggregate)
        return self._merged(aggregate, definition, found.element, found, dict(data), by=by, key=f"by hand {by}")

    def form(self, aggregate: Aggregate, node: Node, data: dict[str, Any]) -> dict[str, Any] | None:
        """The schema of what may be brought to a wait; what its intake verb knows already is filled in.

        None when nothing is declared, or only where the verb is not loaded.
        """
        definition = self._instances.definition(aggregate)
        properties = definition.elements[node.element].properties if node.element in definition.elements else {}
        if schema := properties.get(SCHEMA):
            return self._schema(schema, node.element).schema
        binding = definition.binding(properties.get(INTAKE, ""))
        verb = self._instances.conductor.catalogue.find(binding.verb, binding.version) if binding is not None else None
        if verb is None:
            return None
        known = declared(verb, seen_from(data, place_of(aggregate.state, node))) if verb.input.properties else {}
        return _filled(verb.definition.input_schema, known)

    def _brought(
        self, aggregate: Aggregate, element: str, node: Node, data: Mapping[str, Any] | None, *, by: str, key: str,
        base: bytes = b"",
    ) -> Brought:  # fmt: skip
        definition = self._instances.definition(aggregate)
        declares = definition.elements.get(element)
        properties = declares.properties if declares is not None else {}
        given = dict(data) if data else {}
        if schema := properties.get(SCHEMA):
            given = self._schema(schema, element).check(given)
        if intake := properties.get(INTAKE):
            return self._for_intake(aggregate, definition, intake, node, given)
        if not given:
            return NOTHING
        return self._merged(aggregate, definition, element, node, given, by=by, key=key, base=base)

    def _for_intake(
        self, aggregate: Aggregate, definition: Definition, intake: str, node: Node, given: dict[str, Any]
    ) -> Brought:
        """Kept as it came until the intake verb has run; what that verb would refuse is refused here."""
        binding = definition.binding(intake)
        verb = self._instances.conductor.catalogue.find(binding.verb, binding.version) if binding is not None else None
        payloads = self._instances.payloads
        if verb is not None:
            head = payloads.held(aggregate.id, aggregate.state.head)
            known = declared(verb, seen_from(head.data, place_of(aggregate.state, node)))
            checked_args(self._instances.conductor.router, verb, {**known, **given})
        sealed = payloads.seal_first(aggregate.id, intake, 1, verb, given, self._instances.sources.now())
        return Brought(message=sealed[0], payloads=(sealed,), intake=intake)

    def _merged(
        self, aggregate: Aggregate, definition: Definition, element: str, node: Node, given: dict[str, Any], *,
        by: str, key: str, base: bytes = b"",
    ) -> Brought:  # fmt: skip
        instances, id, state = self._instances, aggregate.id, aggregate.state
        head, payloads = state.head, instances.payloads
        before = payloads.held(id, base) if base and base != head else None
        at = iso(instances.sources.now()) or ""
        change = Change(given, element, key, at, by, place_of(state, node), before)
        sealed = payloads.seal_change(id, head, change, instances.budget(definition))
        return Brought(sealed[0], b"", (sealed,))

    def _schema(self, text: str, element: str) -> CompiledSchema:
        """A schema written out as JSON, the name of a definition that verbs share, or of a verb whose input it is."""
        compiled = self._schemas.get(text)
        if compiled is None:
            schema = self._named(text) if not text.lstrip().startswith("{") else msgspec.json.decode(text, type=dict)
            if schema is None:
                fact = f"its schema '{text}' is neither JSON nor the name of a definition or a verb"
                raise RejectedError(Rejection("invalid", "accept data for", "element", element, fact))
            compiled = self._schemas[text] = CompiledSchema(schema, "accept data for", "element", element)
        return compiled

    def _named(self, name: str) -> dict[str, Any] | None:
        catalogue = self._instances.conductor.catalogue
        if name in catalogue.definitions:
            found: dict[str, Any] = catalogue.definitions[name]
            return found
        verb = catalogue.find(name)
        return verb.definition.input_schema if verb is not None else None


def _filled(schema: dict[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """A schema that does not ask for what is known, and offers it as the default."""
    properties = {
        name: {**part, "default": known[name]} if name in known and isinstance(part, dict) else part
        for name, part in schema.get("properties", {}).items()
    }
    required = [name for name in schema.get("required", ()) if name not in known]
    return {**schema, "properties": properties, "required": required}
