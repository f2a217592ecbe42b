"""Strictly, a task says everything itself.

In the narrower reading of the profile `taskHeaders` and `ioMapping` stand on all work, and a user task names its Update
as it would be called anyway: `Update_<id>`. The rule runs with `--strict` alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.contract.contract import default_update, is_work
from perdure.bpmn.lint.contract_elements import found_on
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME092"
NAME = "strict-extensions"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values() if index.is_strict else ():
        for name in (elements.HEADERS, elements.MAPPING) if is_work(node) else ():
            if not found_on(index, node.id, name):
                local = name.removeprefix(elements.PREFIX)
                yield Note(node.id, f"it has no {local}", f"Add {local}, empty if there is nothing to say.")
    for task in index.tasks("user") if index.is_strict else ():
        found = found_on(index, task.id, elements.UPDATE)
        wanted = default_update(task.id)
        if not found or found[0].attribute("name") != wanted:
            place = found[0].place if found else None
            yield Note(task.id, f"its Update is not named '{wanted}'", f'Write name="{wanted}".', place)
