"""An element of the contract profile is given twice.

One node has one binding: a second `taskDefinition`, `taskHeaders`, `ioMapping` or `updateDefinition` would be another
one, and nothing says which of them holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.lint.contract_elements import Found, all_found
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME011"
NAME = "contract-element-twice"
SEVERITIES = Severities("error", hollow="off", open="off")

_ONCE = (elements.TASK, elements.HEADERS, elements.MAPPING, elements.UPDATE)


def check(index: Index) -> Iterator[Note]:
    found: dict[tuple[str, str], list[Found]] = defaultdict(list)
    for each in all_found(index):
        if each.name in _ONCE and not each.around:
            found[each.element, each.name].append(each)
    for (element, name), several in found.items():
        if len(several) > 1:
            fact = f"it has {len(several)} elements {name.removeprefix(elements.PREFIX)}"
            yield Note(element, fact, "Keep one of them.", several[1].place)
