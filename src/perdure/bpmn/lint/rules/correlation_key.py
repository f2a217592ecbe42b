"""A subscription has no key, or one that is the same for all workflows.

The template is resolved once, when the wait begins, and matched with the `correlation_key` of what arrives. A key that
reads nothing of the state lets every workflow wait for the same message.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.contract.templates import parse_template
from perdure.bpmn.lint.contract_elements import all_found
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME024"
NAME = "correlation-key"
SEVERITIES = Severities("error", hollow="off", open="off")

_HINT = "Write e.g. ${state.order_id}."


def check(index: Index) -> Iterator[Note]:
    for each in all_found(index):
        if each.name != elements.SUBSCRIPTION:
            continue
        template = parse_template(each.attribute("correlationKeyTemplate"))
        if not template.text.strip():
            yield Note(each.element, "its subscription has no correlationKeyTemplate", _HINT, each.place)
        elif not template.faults and not template.paths:
            fact = f"its key `{template.text[:60]}` reads nothing of the state"
            yield Note(each.element, fact, _HINT, each.place)
