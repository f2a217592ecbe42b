"""The contract profile has no such element or attribute.

Its namespace is closed: whatever is not known would be read by nobody. Most often a name is misspelt.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from perdure.bpmn.contract import elements
from perdure.bpmn.lint.contract_elements import all_found
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME004"
NAME = "unknown-contract-element"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for each in all_found(index):
        local = each.name.removeprefix(elements.PREFIX)[:80]
        known = elements.ATTRIBUTES.get(each.name)
        if known is None:
            names = [name.removeprefix(elements.PREFIX) for name in elements.ATTRIBUTES]
            yield Note(each.element, f"the profile has no element '{local}'", _near(local, names), each.place)
            continue
        for name in each.extension.attributes:
            is_foreign = ":" in name or name.startswith("{")
            if name not in known and not is_foreign and not (each.name == elements.TASK and name == "implementation"):
                fact = f"its {local} has an attribute '{name[:80]}', which the profile has not"
                yield Note(each.element, fact, _near(name, list(known)), each.place)
        if each.extension.text.strip():
            yield Note(each.element, f"its {local} holds text", "Remove it: everything is in attributes.", each.place)


def _near(name: str, names: list[str]) -> str:
    near = get_close_matches(name[:80], names, 1)
    return f"Did you mean '{near[0]}'?" if near else "Remove it."
