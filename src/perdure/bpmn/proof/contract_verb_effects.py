"""The environment of a proof, from the contract of a verb."""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.contract import Contract, VerbContract, same_name
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.model import Definitions, Event, Process, Task, nodes
from perdure.bpmn.proof.proof_subject import deployed_of
from perdure.bpmn.proof.verb_effects import Environment, intake_of
from perdure.verb_contract import FlagContract


def environment_of(process: Process, contract: Contract | None) -> Environment:
    """What each verb of a process may write and raise; without a contract everything is possible."""
    if contract is None:
        return Environment()
    known = {same_name(verb.name): verb for verb in contract.verbs}
    may_raise: dict[str, tuple[str, ...]] = {}
    writes: dict[str, frozenset[str]] = {}
    for type in dict.fromkeys((*_types(process), *contract.compensation.values())):
        verb = known.get(same_name(type))
        writes[type] = frozenset(each.name for each in contract.flags if _may_write(type, verb, each))
        if verb is not None and verb.errors is not None:
            may_raise[type] = verb.errors
    return Environment(may_raise, writes, is_loose=False)


def subject_of(definitions: Definitions, process: Process, contract: Contract | None) -> Deployed:
    """The process as it would be deployed for the verb."""
    return deployed_of(definitions, process, contract.compensation if contract is not None else {})


def _may_write(type: str, verb: VerbContract | None, flag: FlagContract) -> bool:
    if flag.writers:
        return same_name(type) in {same_name(each) for each in flag.writers}
    return verb is None or verb.writes_flags is None or flag.name in verb.writes_flags


def _types(process: Process) -> Iterator[str]:
    for node in nodes(process.body):
        if isinstance(node, Task | Event) and node.type:
            yield node.type
        if intake := intake_of(node):
            yield intake
