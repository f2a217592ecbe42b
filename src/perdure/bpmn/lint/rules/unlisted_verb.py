"""A task calls a verb that the durable verb does not list.

A process may call the sub-verbs its durable verb declares and the verbs that compensate them, nothing else: the list
is what a reader of the verb relies on. Add the verb to `execution.sub_verbs`, or correct the type of the task.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.contract import same_name
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import nearest

CODE = "HOL004"
NAME = "unlisted-verb"
SEVERITIES = Severities("error", open="warning")


def check(index: Index) -> Iterator[Note]:
    contract = index.contract
    if contract is None:
        return
    allowed = contract.allowed()
    for node, verb in index.calls():
        if same_name(verb) not in allowed:
            hint = nearest(verb, (*contract.sub_verbs, *contract.compensation.values()))
            fact = f"it calls '{verb}', which {contract.verb} does not list"
            yield Note(node.id, fact, hint or f"Add it to execution.sub_verbs of {contract.verb}.")
