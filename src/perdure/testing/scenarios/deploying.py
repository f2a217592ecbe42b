"""Deploys a scenario's model without a verb: every task type is a stub, flags are declared by their use."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

import msgspec

from perdure.bpmn.machine.definition import Binding, Deployed
from perdure.bpmn.model import Definitions, Event, Process, Task, nodes
from perdure.contracts import FlagContract, FlagType
from perdure.testing.scenarios.values import Flags, Message, Scenario, Signal, Start


def deployed_from(definitions: Definitions, process: Process, scenario: Scenario) -> Deployed:
    """One process of the model as the scenario deploys it."""
    return Deployed(
        process=process, messages=definitions.messages, signals=definitions.signals, errors=definitions.errors,
        escalations=definitions.escalations, profile=scenario.profile, is_loose=True, flags=flag_contracts(scenario),
        bindings={type: Binding(verb=type, retry=scenario.retry) for type in task_types(process)},
    )  # fmt: skip


def definition_hash(deployed: Deployed) -> bytes:
    return sha256(msgspec.json.encode(deployed, order="sorted")).digest()


def task_types(process: Process) -> tuple[str, ...]:
    """The verbs a process asks for, intakes included, each once."""
    found: dict[str, None] = {}
    for node in nodes(process.body):
        if isinstance(node, Task | Event) and node.type:
            found[node.type] = None
        if intake := node.properties.get("intake"):
            found[intake] = None
    return tuple(found)


def flag_contracts(scenario: Scenario) -> tuple[FlagContract, ...]:
    """A contract per flag the scenario starts with or writes: its type is that of its first value."""
    contracts = {name: FlagContract(name, _type(value), initial=value) for name, value in scenario.flags.items()}
    for flags in _written(scenario):
        for name, value in flags.items():
            contracts.setdefault(name, FlagContract(name, _type(value)))
    return tuple(contracts.values())


def _written(scenario: Scenario) -> Iterator[Flags]:
    for behaviours in scenario.verbs.values():
        yield from (behaviour.flags for behaviour in behaviours)
    for step in scenario.steps:
        yield getattr(step, "flags", {})
        if isinstance(step, Start):
            yield from (each.flags for each in (step.message, step.signal) if isinstance(each, Message | Signal))


def _type(value: str | bool | int) -> FlagType:
    if isinstance(value, bool):
        return "boolean"
    return "integer" if isinstance(value, int) else "string"
