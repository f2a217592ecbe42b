"""The durable verb lists a sub-verb that its process never calls.

The list tells readers and auditors what may happen. Remove what never does, or draw the task that is missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.contract import same_name
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "HOL018"
NAME = "unused-sub-verb"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    contract = index.contract
    if contract is None or contract.process not in {process.id for process in index.processes}:
        return
    used = {same_name(verb) for _, verb in (*index.calls(), *index.intakes())}
    for verb in contract.sub_verbs:
        if same_name(verb) not in used:
            fact = f"{contract.verb} lists '{verb}', and no task calls it"
            yield Note(contract.process, fact, "Remove it from execution.sub_verbs, or draw the task.")
