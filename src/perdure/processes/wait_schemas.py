"""Wait schemas: the shape of data brought to a wait of an instance, as its element or its intake verb declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.bpmn.machine.result_paths import place_of
from perdure.bpmn.machine.state import Node
from perdure.bpmn.task_properties import BODY, LABELS
from perdure.errors import RejectedError, Rejection
from perdure.kernel.kernel import Aggregate
from perdure.payload import copied
from perdure.processes.instance_reader import InstanceReader
from perdure.processes.known_values import Asked, replaceable, still_known
from perdure.processes.payload_merge import seen_from
from perdure.processes.verb_bindings import INTAKE
from perdure.sources import id_text
from perdure.verbs import Catalogue, CompiledSchema, Verb
from perdure.verbs.text_templates import substitute

SCHEMA = "schema"


class Form(msgspec.Struct, frozen=True):
    """What a wait asks for, and the fields that its process gives by itself: those are shown and never asked.

    `schema` is None when nothing is declared, or only where the verb is not loaded.
    """

    schema: dict[str, Any] | None = None
    known: dict[str, Any] = {}
    body: str = ""
    """What is asked, at length, with the data filled in."""
    labels: tuple[str, ...] = ()


NO_FORM = Form()


class Forms:
    """One per process of the platform: each schema is compiled once."""

    def __init__(self, instances: InstanceReader, catalogue: Catalogue) -> None:
        self._instances = instances
        self._catalogue = catalogue
        self._schemas: dict[str, CompiledSchema] = {}

    async def of(self, aggregate: Aggregate, node: Node) -> Form:
        """The form of a task's answer: it asks for no field that the process itself gives."""
        definition = await self._instances.loaded(aggregate)
        properties = definition.elements[node.element].properties if node.element in definition.elements else {}
        intake = properties.get(INTAKE, "")
        binding = definition.binding(intake)
        verb = self._catalogue.find(binding.verb, binding.version) if binding is not None else None
        schema = self._asked(properties, node.element, verb)
        told = await self._told(aggregate, node, properties)
        if schema is None:
            return Form(**told)
        asked = Asked(node.element, intake, place_of(aggregate.state, node))
        names = {*schema.get("properties", {}), *(verb.input.properties if verb is not None else ())}
        seen = seen_from(await self._instances.data(aggregate) or {}, asked.place)
        known = {name: seen[name] for name in seen if name in names - replaceable(properties)}
        if known:
            known = still_known(known, await self._instances.load_answers(aggregate, asked))
        own: dict[str, Any] = copied({"schema": _without(schema, known), "known": known})
        return Form(**own, **told)

    async def _told(self, aggregate: Aggregate, node: Node, properties: Mapping[str, str]) -> dict[str, Any]:
        """The body and the labels of a task, as its model has them."""
        template, labels = properties.get(BODY, ""), properties.get(LABELS, "")
        if not template and not labels:
            return {}
        data = seen_from(await self._instances.data(aggregate) or {}, place_of(aggregate.state, node))
        state = aggregate.state
        given = {"instance_id": id_text(aggregate.id), "workflow_id": state.process, **data}
        body = substitute(template, lambda name: shown(given.get(name)))
        return {"body": body, "labels": tuple(each.strip() for each in labels.split(",") if each.strip())}

    def _asked(self, properties: Mapping[str, str], element: str, verb: Verb | None) -> dict[str, Any] | None:
        if text := properties.get(SCHEMA):
            return self.schema(text, element).schema
        return verb.definition.input_schema if verb is not None else None

    def schema(self, text: str, element: str) -> CompiledSchema:
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
        if name in self._catalogue.definitions:
            found: dict[str, Any] = self._catalogue.definitions[name]
            return found
        verb = self._catalogue.find(name)
        return verb.definition.input_schema if verb is not None else None


def shown(value: Any) -> str:
    """A value as people read it in a text; a missing one shows as a gap."""
    if value is None:
        return "…"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(shown, value)) or "none"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def declared(verb: Verb, data: dict[str, Any]) -> dict[str, Any]:
    """The fields of the data that a verb's input schema names; all of them when it names none."""
    names = verb.input.properties
    if not names:
        return dict(data)
    args: dict[str, Any] = {}
    for name in names:
        if name in data:
            args[name] = data[name]
    return args


def _without(schema: dict[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """A schema that does not ask for what is known."""
    properties = {name: part for name, part in schema.get("properties", {}).items() if name not in known}
    required = [name for name in schema.get("required", ()) if name not in known]
    return {**schema, "properties": properties, "required": required} if known else schema
