"""A wait names an intake verb that the durable verb does not list.

What a message or a person brings becomes flags only through an intake verb, so it is on the allow-list like any other
sub-verb. Else whoever can publish a message could approve a case.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.contract import same_name
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import nearest

CODE = "HOL017"
NAME = "unlisted-intake"
SEVERITIES = Severities("error", open="warning")


def check(index: Index) -> Iterator[Note]:
    contract = index.contract
    if contract is None:
        return
    allowed = contract.allowed()
    for node, verb in index.intakes():
        if same_name(verb) not in allowed:
            fact = f"its intake '{verb}' is not listed by {contract.verb}"
            yield Note(node.id, fact, nearest(verb, contract.sub_verbs) or f"Add it to sub_verbs of {contract.verb}.")
