"""The compensation of the model and that of the verb differ.

A durable verb says which verb undoes which (`execution.compensation`), and the model says it again with compensation
boundary events. Both must say the same, or an audit finds one promise and the engine keeps another.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.contract import Contract, same_name
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    CompensationTrigger,
    Event,
    Node,
    Task,
)

CODE = "HOL005"
NAME = "compensation-disagrees"
SEVERITIES = Severities("error", open="warning")


def check(index: Index) -> Iterator[Note]:
    contract = index.contract
    if contract is None:
        return
    declared = {same_name(verb): undo for verb, undo in contract.compensation.items()}
    drawn: set[tuple[str, str]] = set()
    for event, _ in index.triggers(CompensationTrigger, "boundary"):
        host = index.nodes.get(event.attached_to)
        for handler in index.handlers_of(event):
            if isinstance(host, Task) and isinstance(handler, Task) and host.type and handler.type:
                drawn.add((same_name(host.type), same_name(handler.type)))
                yield from _undeclared(event, host.type, handler.type, declared, contract.verb)
    yield from _undrawn(index, declared, drawn, contract)


def _undeclared(event: Event, verb: str, undo: str, declared: dict[str, str], durable: str) -> Iterator[Note]:
    listed = declared.get(same_name(verb))
    if listed is None:
        fact = f"the model undoes '{verb}' with '{undo}', and {durable} declares no compensation for it"
        yield Note(event.id, fact, f"Add {verb}: {undo} to execution.compensation.")
    elif same_name(listed) != same_name(undo):
        fact = f"the model undoes '{verb}' with '{undo}', and {durable} says '{listed}'"
        yield Note(event.id, fact, "Correct one of the two.")


def _undrawn(index: Index, declared: dict[str, str], drawn: set[tuple[str, str]], contract: Contract) -> Iterator[Note]:
    undone = {verb for verb, _ in drawn}
    for node, verb in index.calls():
        undo = declared.get(same_name(verb))
        if undo is not None and same_name(verb) not in undone and _is_process_of(index, node, contract):
            fact = f"{contract.verb} declares that '{undo}' undoes '{verb}', and the model has no handler for it"
            yield Note(node.id, fact, f"Attach a compensation event joined to a task of type {undo}.")


def _is_process_of(index: Index, node: Node, contract: Contract) -> bool:
    return index.room_of[node.id].process.id == contract.process
