"""A path does not follow its grammar.

A path is identifiers joined by dots, an identifier letters, digits and underscores that do not begin with a digit.
There is no indexing.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.contract_elements import paths, templates
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME031"
NAME = "contract-path"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for found, attribute, path in paths(index):
        if path.fault:
            fact = f"the {attribute} `{path.text[:60]}` of a mapping is no path: {path.fault}"
            yield Note(found.element, fact, "Write identifiers joined by dots, e.g. state.order.id.", found.place)
    for found, attribute, template in templates(index):
        for fault in template.faults:
            if fault.is_path:
                fact = f"its {attribute} holds a wrong path: {fault.fact} (character {fault.offset + 1})"
                yield Note(found.element, fact, fault.hint, found.place)
