"""Deploys a scenario's model: every task type is a stub, held to its verb's contract where one is declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import msgspec

from perdure.app.processes.contracts import contract_of
from perdure.app.processes.lint import verbs_beside
from perdure.bpmn.lint.contract import Contract
from perdure.bpmn.machine.deployed_process import Binding, Deployed
from perdure.bpmn.model import Definitions, Event, Model, Process, Task, nodes
from perdure.bpmn.xml import read_model_file
from perdure.errors import PerdureError
from perdure.processes.verb_bindings import spelled
from perdure.testing.scenarios.flag_writers import ANYONE
from perdure.testing.scenarios.scenario import Deploy, Flags, Message, Scenario, Signal, Start
from perdure.verb_contract import FlagContract, FlagType, flag_faults
from perdure.verbs import Catalogue, Execution, VerbDefinition
from perdure.verbs.canonical_layout_reader import VERB_NAME
from perdure.verbs.definition import VerbContract, same_verb_name


def deployed_from(
    definitions: Definitions, process: Process, scenario: Scenario, contracts: Mapping[str, Contract]
) -> Deployed:
    """One process of the model as the scenario deploys it; flags and compensation are those of its verb's contract.

    Without a contract flags are declared by their use.
    """
    contract = contracts.get(process.id)
    compensation = dict(contract.compensation) if contract is not None else {}
    types = (*task_types(process), *compensation.values())
    return Deployed(
        process=process, messages=definitions.messages, signals=definitions.signals, errors=definitions.errors,
        escalations=definitions.escalations, profile=scenario.profile, is_loose=contract is None,
        flags=used_flags(scenario) if contract is None else declared_flags(scenario, contract, types),
        compensation=compensation,
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
    promises: dict[str, VerbContract] = {}
    for model in _models(scenario):
        types |= {stub_name(type): type for type in _all_types(model, scenario)}
        promises |= promised_by(contracts_of(model, scenario))
    execution = Execution(retry=scenario.retry)
    return Catalogue(
        VerbDefinition(name=name, execution=execution, contract=promises.get(same_verb_name(type)))
        for name, type in types.items()
    ), types


def promised_by(contracts: Mapping[str, Contract]) -> dict[str, VerbContract]:
    """What the verbs around a model promise about flags and errors, by their names; those that say nothing are not."""
    return {
        same_verb_name(verb.name): VerbContract(verb.writes_flags, verb.errors or ())
        for contract in contracts.values()
        for verb in contract.verbs
        if verb.writes_flags is not None
    }


def stub_name(type: str) -> str:
    """The task type itself where it can be a verb's name; two that mean the same verb stay two here."""
    is_name = VERB_NAME.fullmatch(type) and "_" not in type
    return type if is_name else f"scenario.stub-{sha256(type.encode()).hexdigest()[:12]}"


def _models(scenario: Scenario) -> Iterator[Model]:
    paths = [scenario.model, *(step.model for step in scenario.steps if isinstance(step, Deploy))]
    for path in paths:
        try:
            yield read_model_file(path)
        except PerdureError:
            continue  # its deployment will be refused


def _all_types(model: Model, scenario: Scenario) -> Iterator[str]:
    for process in model.definitions.executable():
        yield from task_types(process)
    for contract in contracts_of(model, scenario).values():
        yield from contract.compensation.values()


def task_types(process: Process) -> tuple[str, ...]:
    """The verbs a process asks for, intakes included, each once."""
    found: dict[str, None] = {}
    for node in nodes(process.body):
        if isinstance(node, Task | Event) and node.type:
            found[node.type] = None
        if intake := node.properties.get("intake"):
            found[intake] = None
    return tuple(found)


def declared_flags(scenario: Scenario, declared: Contract, types: Iterable[str]) -> tuple[FlagContract, ...]:
    """Those of the contract, beginning with the scenario's values; what steps bring may be written by anyone's stub."""
    first = {name: value for name, value in scenario.flags.items() if not flag_faults(declared.flags, {name: value})}
    types = tuple(types)
    return tuple(
        msgspec.structs.replace(
            each, initial=first.get(each.name, each.initial), writers=(*(each.writers or types), ANYONE)
        )
        for each in spelled(declared.flags, types)
    )


def misfits(scenario: Scenario, model: Model, contracts: Mapping[str, Contract]) -> dict[str, Flags]:
    """By process, the start values that no contract of its model has a place for: starting with them is refused.

    Where one of the processes has no contract, that one has a place for everything.
    """
    processes = [process.id for process in model.definitions.executable()]
    if not all(each in contracts for each in processes):
        return {each: {} for each in processes}
    found = {
        name: value
        for name, value in scenario.flags.items()
        if all(flag_faults(contract.flags, {name: value}) for contract in contracts.values())
    }
    return dict.fromkeys(processes, found)


def coming(scenario: Scenario) -> set[str]:
    """The processes of all models that a scenario deploys, now or later: any of them may call another."""
    return {process.id for model in _models(scenario) for process in model.definitions.executable()}


def used_flags(scenario: Scenario) -> tuple[FlagContract, ...]:
    """Flags that nobody declared: each has the type of its first value."""
    contracts = {name: FlagContract(name, _type(each), initial=each) for name, each in scenario.flags.items()}
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
