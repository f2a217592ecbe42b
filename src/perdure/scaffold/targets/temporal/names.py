"""What things are called in the generated project, each name once."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from perdure.bpmn.contract import Contract
from perdure.bpmn.model import Event, Node, nodes
from perdure.scaffold.flow_graph import refused
from perdure.scaffold.identifiers import pascal, snake, unique_names


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
    _refuse_twins(functions)
    return Names(
        package=snake(contract.process.id) or "process",
        workflow=pascal(contract.workflow.workflow_type) or "Process",
        methods=unique_names((node.id, snake(node.name) or snake(node.id)) for node in every),
        functions=functions,
        policies={each: snake(each).upper() for each in sorted({*contract.policies(), *policies})},
    )


def _is_named(node: Node) -> bool:
    return not isinstance(node, Event) or node.position in ("catch", "throw", "boundary")


def _refuse_twins(functions: dict[str, str]) -> None:
    owners: dict[str, str] = {}
    for type, name in functions.items():
        if not name:
            raise refused(type, "no name of a function can be made of this type", "Use letters in it.")
        if name in owners:
            raise refused(type, f"'{owners[name]}' and it have one name, {name}", "Rename one of the types.")
        owners[name] = type
