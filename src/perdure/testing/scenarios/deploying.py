"""Deploys a scenario's model without a verb: every task type is a stub, flags are declared by their use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import msgspec

from perdure.app.contracts import contract_of
from perdure.app.linting import verbs_beside
from perdure.bpmn.lint import Contract
from perdure.bpmn.machine.definition import Binding, Deployed
from perdure.bpmn.model import Definitions, Event, Model, Process, Task, nodes
from perdure.bpmn.xml import read_model
from perdure.contracts import FlagContract, FlagType
from perdure.errors import PerdureError
from perdure.testing.scenarios.values import Deploy, Flags, Message, Scenario, Signal, Start
from perdure.verbs import Catalogue, Execution, VerbDefinition
from perdure.verbs.canonical import VERB_NAME


def deployed_from(
    definitions: Definitions, process: Process, scenario: Scenario, contracts: Mapping[str, Contract]
) -> Deployed:
    """One process of the model as the scenario deploys it; flags and compensation are those of its verb's contract."""
    contract = contracts.get(process.id)
    compensation = dict(contract.compensation) if contract is not None else {}
    types = (*task_types(process), *compensation.values())
    return Deployed(
        process=process, messages=definitions.messages, signals=definitions.signals, errors=definitions.errors,
        escalations=definitions.escalations, profile=scenario.profile, is_loose=True,
        flags=flag_contracts(scenario, contract), compensation=compensation,
        bindings={type: Binding(verb=stub_name(type), retry=scenario.retry) for type in types},
    )  # fmt: skip


def contracts_of(model: Model, scenario: Scenario) -> dict[str, Contract]:
    """By process, the contract of the verb it carries, where verbs are declared around the model."""
    catalogue = _verbs(scenario.model.parent, _signature(scenario.model.parent))
    found = {each.id: contract_of(catalogue, each.id) for each in model.definitions.executable()}
    return {process: contract for process, contract in found.items() if contract is not None}


@lru_cache(16)
def _verbs(folder: Path, signature: tuple[tuple[str, int], ...]) -> Catalogue:
    """Read once for a folder as it is: hundreds of scenarios may lie beside one model."""
    return verbs_beside(folder / "model.bpmn")


def _signature(folder: Path) -> tuple[tuple[str, int], ...]:
    files = [path for path in folder.iterdir() if path.suffix in (".yaml", ".yml")] if folder.is_dir() else []
    return tuple(sorted((path.name, path.stat().st_mtime_ns) for path in files))


def stub_verbs(scenario: Scenario) -> tuple[Catalogue, dict[str, str]]:
    """A catalogue with a verb for every task type of the models, and the task type each verb stands for."""
    types: dict[str, str] = {}
    for type in dict.fromkeys(each for model in _models(scenario) for each in _all_types(model, scenario)):
        types[stub_name(type)] = type
    execution = Execution(retry=scenario.retry)
    return Catalogue(VerbDefinition(name=name, execution=execution) for name in types), types


def stub_name(type: str) -> str:
    """The task type itself where it can be a verb's name; two that mean the same verb stay two here."""
    is_name = VERB_NAME.fullmatch(type) and "_" not in type
    return type if is_name else f"scenario.stub-{sha256(type.encode()).hexdigest()[:12]}"


def _models(scenario: Scenario) -> Iterator[Model]:
    paths = [scenario.model, *(step.model for step in scenario.steps if isinstance(step, Deploy))]
    for path in paths:
        try:
            yield read_model(path.read_bytes(), str(path))
        except PerdureError:
            continue  # its deployment will be refused


def _all_types(model: Model, scenario: Scenario) -> Iterator[str]:
    for process in model.definitions.executable():
        yield from task_types(process)
    for contract in contracts_of(model, scenario).values():
        yield from contract.compensation.values()


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


def flag_contracts(scenario: Scenario, declared: Contract | None = None) -> tuple[FlagContract, ...]:
    """Those declared, beginning with the scenario's values; a flag nobody declared has the type of its first value."""
    contracts = {each.name: each for each in declared.flags} if declared is not None else {}
    for name, value in scenario.flags.items():
        before = contracts.get(name, FlagContract(name, _type(value)))
        contracts[name] = msgspec.structs.replace(before, initial=value)
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
