"""The payload of a message, a signal or a task: checked on arrival and merged when the wait ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.bpmn.machine.result_paths import place_of
from perdure.bpmn.machine.state import Instance, Node
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.jobs.job_arguments import checked_args
from perdure.kernel.kernel import Aggregate
from perdure.processes.known_values import Asked, contested, is_same, refuse, replaceable, still_known
from perdure.processes.payload_merge import Change, seen_from
from perdure.processes.plan_cache import Definition
from perdure.processes.verb_bindings import INTAKE
from perdure.processes.wait_schemas import SCHEMA, Forms, declared
from perdure.sources import iso
from perdure.verbs import Verb


class Brought(msgspec.Struct, frozen=True, gc=False):
    """`head` is the payload after merging, or `message` what waits for the intake; `payloads` are to be stored."""

    head: bytes = b""
    message: bytes = b""
    payloads: tuple[tuple[bytes, bytes], ...] = ()
    intake: str = ""
    flags: Mapping[str, str | bool | int] = {}
    """Those that follow the data, in the contract profile."""


NOTHING = Brought()


class MessageIntake:
    """Synchronous, to be used while a command is prepared: asks for what is not in memory by MissingPayload."""

    def __init__(self, instances: Instances, forms: Forms) -> None:
        self._instances = instances
        self._forms = forms

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

    def _brought(
        self, aggregate: Aggregate, element: str, node: Node, data: Mapping[str, Any] | None, *, by: str, key: str,
        base: bytes = b"",
    ) -> Brought:  # fmt: skip
        definition = self._instances.definition(aggregate)
        if definition.contract is not None:
            seen = self._seen(aggregate, Asked(element, "", ()))
            change = definition.contract.change(element, seen, dict(data or {}))
            return self._merged(aggregate, definition, element, node, change, by=by, key=key, base=base)
        declares = definition.elements.get(element)
        properties = declares.properties if declares is not None else {}
        intake, schema = properties.get(INTAKE, ""), properties.get(SCHEMA, "")
        if not intake and not data and not schema:
            return NOTHING
        verb = self._verb(definition, intake)
        given = verb.normalise_args(data or {}) if verb is not None else dict(data or {})
        asked = Asked(element, intake, place_of(aggregate.state, node))
        known = self._known(aggregate, asked, verb, given, replaceable(properties))
        if schema:
            given = self._fitted(schema, element, known, given)
        if verb is not None:
            checked_args(
                self._instances.conductor.router, verb, {**declared(verb, self._seen(aggregate, asked)), **given}
            )
        given = {name: value for name, value in given.items() if not (name in known and is_same(known[name], value))}
        if intake:
            return self._for_intake(aggregate, intake, verb, given)
        return (
            self._merged(aggregate, definition, element, node, given, by=by, key=key, base=base) if given else NOTHING
        )

    def _verb(self, definition: Definition, intake: str) -> Verb | None:
        binding = definition.binding(intake) if intake else None
        if binding is None:
            return None
        return self._instances.conductor.texts.find(binding.verb, binding.version, binding.definition)

    def _seen(self, aggregate: Aggregate, asked: Asked) -> dict[str, Any]:
        head = self._instances.payloads.held(aggregate.id, aggregate.state.head)
        return seen_from(head.data, asked.place)

    def _known(
        self, aggregate: Aggregate, asked: Asked, verb: Verb | None, given: dict[str, Any], replaced: frozenset[str]
    ) -> dict[str, Any]:
        """The fields that the process itself gives; refuses what arrives with another value for one of them."""
        seen, is_merged = self._seen(aggregate, asked), not asked.intake
        known = declared(verb, seen) if verb is not None else seen
        known = {name: value for name, value in known.items() if name not in replaced}
        if contested(known, given, is_merged=is_merged):
            known = still_known(known, self._instances.answers.of(aggregate, asked))
        if names := contested(known, given, is_merged=is_merged):
            raise refuse(asked.element, names)
        return known

    def _fitted(self, text: str, element: str, known: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        """The answer as its form accepts it together with the known fields that the form declares."""
        schema = self._forms.schema(text, element)
        filled = {name: known[name] for name in schema.properties if name in known}
        fitted: dict[str, Any] = schema.check({**filled, **given})
        return fitted

    def _for_intake(self, aggregate: Aggregate, intake: str, verb: Verb | None, given: dict[str, Any]) -> Brought:
        """Kept as it came until the intake verb has run; what that verb would refuse was refused before."""
        payloads = self._instances.payloads
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
        change = Change(given, element, key, at, by, place_of(state, node), before, definition.deployed.merge)
        sealed = payloads.seal_change(id, head, change, instances.budget(definition))
        if definition.contract is None:
            return Brought(sealed[0], b"", (sealed,))
        flags = definition.contract.flags(payloads.held(id, sealed[0]).data, state.flags)
        return Brought(sealed[0], b"", (sealed,), flags=flags)
