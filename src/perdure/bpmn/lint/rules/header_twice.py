"""Two headers of a task have one key.

Which of them holds would depend on who reads them.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.lint.contract_elements import all_found
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME051"
NAME = "header-twice"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    seen: set[tuple[str, str]] = set()
    for each in all_found(index):
        if each.name == elements.HEADER:
            key = each.element, each.attribute("key")
            if key in seen:
                yield Note(each.element, f"the header '{key[1][:64]}' is given twice", "Keep one.", each.place)
            seen.add(key)
