"""The contract of a process, from its verb in the catalogue: lint, proof and deployment check against it."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.bpmn.lint.contract import Contract, VerbContract
from perdure.verbs import Catalogue, Verb
from perdure.verbs.definition import VerbDefinition


def contract_of(catalogue: Catalogue, process: str) -> Contract | None:
    """The contract of the durable verb that is carried by a process; None when no verb names it."""
    verb = next((verb for verb in catalogue if verb.definition.execution.process == process), None)
    return None if verb is None else contract_of_verb(catalogue, verb)


def contract_of_verb(catalogue: Catalogue, verb: Verb) -> Contract:
    """What a durable verb declares, with every verb its process could call."""
    execution = verb.definition.execution
    processes = {each.definition.execution.process for each in catalogue}
    return Contract(
        verb=verb.name,
        process=execution.process or "",
        sub_verbs=execution.sub_verbs,
        compensation=execution.compensation,
        flags=execution.flags,
        verbs=tuple(_verb(each.definition) for each in catalogue),
        processes=tuple(sorted(filter(None, processes))),
        merged=tuple(dict.fromkeys(_field(path) for path in execution.payload_merge)),
    )


def _verb(definition: VerbDefinition) -> VerbContract:
    promised = definition.contract
    return VerbContract(
        name=definition.name,
        is_durable=definition.execution.kind == "durable",
        effects=definition.execution.effects,
        writes_flags=None if promised is None else promised.writes_flags,
        errors=None if promised is None else promised.may_raise,
        outputs=_outputs(definition),
    )


def _field(path: str) -> str:
    """The field of the data that a JSON pointer lies in."""
    return path.split("/")[1].replace("~1", "/").replace("~0", "~")


def _outputs(definition: VerbDefinition) -> tuple[str, ...] | None:
    properties = (definition.output_schema or {}).get("properties")
    return tuple(properties) if isinstance(properties, Mapping) else None
