"""What things are called in the generated project, each name once."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from perdure.bpmn.contract import Contract
from perdure.bpmn.model import Event, Node, nodes
from perdure.scaffold.flow_graph import refused
from perdure.scaffold.identifiers import pascal, snake, unique_names

_TYPE = re.compile(r"[A-Za-z0-9_.:/-]{1,200}")


class Names(msgspec.Struct, frozen=True):
    """`methods` of nodes by id, `functions` and records of task types, and the package."""

    package: str
    workflow: str
    methods: dict[str, str]
    functions: dict[str, str]
    policies: dict[str, str]


def names_of(contract: Contract, types: Iterable[str] = (), policies: Iterable[str] = ()) -> Names:
    """Names for a process; `types` and `policies` are further ones that earlier versions still use."""
    every = [node for node in nodes(contract.process.body) if _is_named(node)]
    used = sorted({work.definition.type for work in contract.work.values()} | set(types))
    functions = {each: snake(each) for each in used}
    constants = {each: snake(each).upper() for each in sorted({*contract.policies(), *policies})}
    _refuse_twins(functions, "type")
    _refuse_twins(constants, "policy")
    _refuse_odd(contract)
    return Names(
        package=snake(contract.process.id) or "process",
        workflow=pascal(contract.workflow.workflow_type) or "Process",
        methods=unique_names((node.id, snake(node.name) or snake(node.id)) for node in every),
        functions=functions,
        policies=constants,
    )


def _is_named(node: Node) -> bool:
    return not isinstance(node, Event) or node.position in ("catch", "throw", "boundary")


def _refuse_twins(names: dict[str, str], what: str) -> None:
    owners: dict[str, str] = {}
    for each, name in names.items():
        if not name:
            raise refused(each, f"no name in Python can be made of this {what}", "Use letters in it.")
        if name in owners:
            raise refused(each, f"'{owners[name]}' and it have one name in Python, {name}", f"Rename one {what}.")
        owners[name] = each


def _refuse_odd(contract: Contract) -> None:
    """What would not be one name on the server: a workflow type with odd signs, an Update of two user tasks."""
    type = contract.workflow.workflow_type
    if not _TYPE.fullmatch(type):
        hint = "Use letters, digits, '.', '_', ':', '/' and '-'."
        raise refused(contract.process.id, f"'{type[:80]}' is no workflow type", hint)
    owners: dict[str, str] = {}
    for gate in contract.gates.values():
        name = pascal(gate.update)
        if name in owners:
            fact = f"its Update '{gate.update}' is that of '{owners[name]}'"
            raise refused(gate.node.id, fact, "Give it an updateDefinition with a name of its own.")
        owners[name] = gate.node.id
