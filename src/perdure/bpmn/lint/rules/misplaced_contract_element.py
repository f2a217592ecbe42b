"""An element of the contract profile stands where it says nothing.

`workflowDefinition` belongs to a process; `taskDefinition` and `taskHeaders` to service tasks, send tasks and message
throw events; `ioMapping` to these, to waits and to user tasks; `updateDefinition` to user tasks; parts belong into
their own element.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.contract.contract import is_work
from perdure.bpmn.lint.contract_elements import Found, all_found, is_bound
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import Task

CODE = "AME003"
NAME = "misplaced-contract-element"
SEVERITIES = Severities("error", hollow="off", open="off")

_WORK = "Put it into a service task, a send task or a message throw event."
_PARTS = {elements.HEADER: elements.HEADERS, elements.INPUT: elements.MAPPING, elements.OUTPUT: elements.MAPPING}
_WHERE = {
    elements.WORKFLOW: "Put it into the process.",
    elements.TASK: _WORK,
    elements.HEADERS: _WORK,
    elements.MAPPING: "Put it into work, a wait or a user task.",
    elements.SUBSCRIPTION: "Put it into the message that is waited for.",
    elements.UPDATE: "Put it into a user task.",
    elements.HEADER: "Put it into taskHeaders.",
    elements.INPUT: "Put it into ioMapping.",
    elements.OUTPUT: "Put it into ioMapping.",
}


def check(index: Index) -> Iterator[Note]:
    processes = {process.id for process in index.processes}
    for each in all_found(index):
        local = each.name.removeprefix(elements.PREFIX)[:80]
        if each.name in elements.ATTRIBUTES and not _belongs(index, each, processes):
            yield Note(each.element, f"its {local} says nothing where it stands", _WHERE[each.name], each.place)
    for remark in index.written.remarks:
        if remark.code == CODE:
            yield Note(remark.element, remark.fact, remark.hint, remark.place)


def _belongs(index: Index, found: Found, processes: set[str]) -> bool:
    node = index.nodes.get(found.element)
    if found.name in _PARTS:
        return found.around == _PARTS[found.name]
    if found.around:
        return False
    match found.name:
        case elements.WORKFLOW:
            return found.element in processes
        case elements.SUBSCRIPTION:
            return True  # on a node it is AME022
        case elements.UPDATE:
            return isinstance(node, Task) and node.kind == "user"
        case elements.MAPPING:
            return node is not None and is_bound(node)
        case _:
            return node is not None and is_work(node)
