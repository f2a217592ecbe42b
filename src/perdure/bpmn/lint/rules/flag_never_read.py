"""A flag is declared and the process never reads it.

Flags exist to steer. What only carries data belongs in the payload.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.dataflow import (
    reads_of,
)
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "CON106"
NAME = "flag-never-read"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    contract = index.contract
    if contract is None or contract.process not in {process.id for process in index.processes}:
        return
    read = reads_of(index)
    for flag in contract.flags:
        if flag.name not in read:
            fact = f"the flag '{flag.name}' is never read"
            yield Note(contract.process, fact, "Remove it, or keep its value in the payload.")
