"""A condition of the contract profile reads a flag, or something that is no path.

Conditions compare `state.<path>` with literals, joined by `and`, `or` and `not(...)`. What they read is mirrored into
flags by the compiler; a model has none of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.conditions.tree import Foreign
from perdure.bpmn.contract.conditions import state_condition
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import scopes

CODE = "AME034"
NAME = "state-condition"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    chosen = {process.id for process in index.processes}
    for process in index.written.definitions.processes:
        for scope in scopes(process.body) if process.id in chosen else ():
            for flow in scope.flows:
                found = state_condition(flow.condition) if flow.condition is not None else None
                if isinstance(found, Foreign):
                    fact = f"its condition `{found.text[:60]}` is outside the grammar: {found.fact}"
                    yield Note(flow.id, fact, found.hint or 'Write e.g. =state.order.outcome = "approved".')
